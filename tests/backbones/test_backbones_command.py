"""`millpond backbones`: what is listed, what `get` says, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from millpond.backbones import BACKBONES
from millpond.backbones.published import fetch, weights
from millpond.backbones.published.catalogue import NAMES, Entry, entry
from millpond.cli import main
from millpond.errors import DataMissing


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder; every package is there."""
    for name in NAMES:
        monkeypatch.delenv(entry(name).variable, raising=False)
    monkeypatch.setenv("MILLPOND_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(weights, "lacking", lambda _: [])
    monkeypatch.setenv("MILLPOND_LIMIX_CODE", str(tmp_path))
    return tmp_path


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """`get` without a network: the file is written as it would be."""
    got: list[str] = []

    def get(wanted: Entry, data_dir: str | None, progress: Any) -> Path:
        got.append(wanted.name)
        progress(5, 10)
        path = weights.own_path(wanted, data_dir)
        path.parent.mkdir(parents=True)
        path.write_bytes(b"weights")
        return path

    monkeypatch.setattr(fetch, "get", get)
    return got


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, Any]]:
    assert main(["backbones", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return {facts["name"]: facts for facts in (found if isinstance(found, list) else [found])}


def test_the_list(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    found = listed(capsys, "list")
    assert set(found) == set(BACKBONES)
    assert found["knn"] == {"name": "knn", "state": "ready"}
    for name in NAMES:
        facts, wanted = found[name], entry(name)
        assert facts["state"] == "no weights"
        assert facts["path"] == str(folder / "backbones" / name / wanted.file)
        assert (facts["licence"], facts["page"]) == (wanted.licence, wanted.page)
        assert f"pip install 'millpond[{name}]'" in facts["needs"]
    assert main(["backbones"]) == 0
    text = capsys.readouterr().out
    for name in NAMES:
        (line,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
        assert "no weights" in line
        assert entry(name).licence in line


@pytest.mark.parametrize("name", NAMES)
def test_get_says_the_licence_first(
    capsys: pytest.CaptureFixture[str], folder: Path, fetched: list[str], name: str
) -> None:
    assert main(["backbones", "get", name]) == 0
    said = capsys.readouterr()
    path = folder / "backbones" / name / entry(name).file
    assert fetched == [name]
    assert said.out.splitlines()[0] == f"{name}: {path}"
    assert f"weights under {entry(name).licence}; from {entry(name).page}" in said.err
    assert listed(capsys, "list")[name]["state"] == "ready"


def test_get_into_another_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, fetched: list[str]
) -> None:
    name, other = NAMES[-1], str(tmp_path / "other")
    (facts,) = listed(capsys, "get", name, "--data-dir", other).values()
    assert facts["state"] == "ready"
    assert facts["path"].startswith(other)
    assert listed(capsys, "list")[name]["state"] == "no weights"
    assert listed(capsys, "list", "--data-dir", other)[name]["state"] == "ready"


def test_weights_without_the_package(
    capsys: pytest.CaptureFixture[str], fetched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "lacking", lambda _: ["torch"])
    assert main(["backbones", "get", "tabpfn_v1"]) == 0
    assert "pip install 'millpond[tabpfn_v1]'" in capsys.readouterr().out
    assert main(["backbones", "list"]) == 0
    (line,) = [
        line for line in capsys.readouterr().out.splitlines() if line.startswith("tabpfn_v1 ")
    ]
    assert "no package" in line
    assert "pip install 'millpond[tabpfn_v1]'" in line


def test_a_model_without_a_package_needs_its_code(
    capsys: pytest.CaptureFixture[str], fetched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MILLPOND_LIMIX_CODE")
    (facts,) = listed(capsys, "get", "limix").values()
    assert facts["state"] == "no package"
    assert "MILLPOND_LIMIX_CODE: a checkout of github.com/limix-ldm/LimiX" in facts["needs"]


def test_what_cannot_be_got(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def get(*_: object) -> Path:
        raise DataMissing("it could not be fetched")

    monkeypatch.setattr(fetch, "get", get)
    assert main(["backbones", "get", "tabpfn_v1", "--json"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "it could not be fetched" in said.err


@pytest.mark.parametrize(
    ("words", "part"), [(["get"], "needs a name"), (["get", "tabpfn_v"], "did you mean tabpfn_v1")]
)
def test_wrong_use(capsys: pytest.CaptureFixture[str], words: list[str], part: str) -> None:
    assert main(["backbones", *words]) == 2
    assert part in capsys.readouterr().err


def test_a_run_without_weights(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "agr_a", "--backbone", "tabpfn_v1", "--limit", "150"]) == 1
    assert "millpond backbones get tabpfn_v1" in capsys.readouterr().err
