"""Where weights are looked for, and what is said where they are not or are not what they should be."""

from __future__ import annotations

import dataclasses
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from millpond.backbones import BACKBONES, get_backbone
from millpond.backbones.published import own_weights, weights
from millpond.backbones.published.catalogue import NAMES, entry
from millpond.errors import BadOption, DataMissing, MissingExtra, UnknownName

V1, TABICL, TABPFN = entry("tabpfn_v1"), entry("tabicl"), entry("tabpfn")


def put(path: Path, content: bytes = b"weights") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_every_published_backbone_has_an_entry() -> None:
    assert set(NAMES) < set(BACKBONES)
    with pytest.raises(UnknownName, match="did you mean tabpfn"):
        entry("tabpfm")


def test_the_order_of_places(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert weights.find(TABPFN) is None
    hub = tmp_path / "cache" / "huggingface" / "hub" / "models--Prior-Labs--tabpfn_2_5"
    put(hub / "refs" / "main", b"abc")
    in_hub = put(hub / "snapshots" / "abc" / TABPFN.file)
    put(hub / "snapshots" / "older" / TABPFN.file)
    assert weights.find(TABPFN) == weights.Found(in_hub, released=True)
    in_cache = put(tmp_path / "cache" / "tabpfn" / TABPFN.file)
    assert weights.find(TABPFN) == weights.Found(in_cache, released=True)
    monkeypatch.setenv("TABPFN_MODEL_CACHE_DIR", str(tmp_path / "own"))
    in_own = put(tmp_path / "own" / TABPFN.file)
    assert weights.find(TABPFN) == weights.Found(in_own, released=True)
    in_data = put(nowhere / "backbones" / "tabpfn" / TABPFN.file)
    assert weights.find(TABPFN) == weights.Found(in_data, released=True)
    named = put(tmp_path / "named.ckpt")
    monkeypatch.setenv("MILLPOND_TABPFN", str(named))
    assert weights.find(TABPFN) == weights.Found(named, released=False)
    argument = put(tmp_path / "argument.ckpt")
    assert weights.find(TABPFN, argument) == weights.Found(argument, released=False)


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HF_HOME"])
def test_the_hubs_own_settings(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "hf"))
    hub = tmp_path / "hf" / ("hub" if variable == "HF_HOME" else "") / "models--jingang--TabICL"
    put(hub / "refs" / "main", b"abc\n")
    path = put(hub / "snapshots" / "abc" / TABICL.file)
    assert weights.find(TABICL) == weights.Found(path, released=True)


def test_a_named_place_that_is_empty_is_an_error(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(nowhere / "backbones" / "tabicl" / TABICL.file)
    with pytest.raises(DataMissing, match="weights names 'no/such', which is no file"):
        weights.find(TABICL, "no/such")
    monkeypatch.setenv("MILLPOND_TABICL", "nor/this")
    with pytest.raises(DataMissing, match="MILLPOND_TABICL names 'nor/this', which is no file"):
        weights.find(TABICL)
    assert weights.state(TABICL)[1] == Path("nor/this")


@pytest.mark.parametrize("name", NAMES)
def test_without_weights_the_error_says_how_to_get_them(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(weights, "lacking", lambda _: [])
    wanted = entry(name)
    with pytest.raises(DataMissing) as caught:
        get_backbone(name)
    said = str(caught.value)
    place = str(nowhere / "backbones" / name)
    for part in (wanted.label, wanted.file, wanted.page, place, f"get {name}", wanted.variable):
        assert part in said
    assert ("NON-COMMERCIAL" in said) == (name == "tabpfn")
    assert weights.state(wanted)[0] == "no weights"


@pytest.mark.parametrize("name", NAMES)
def test_without_the_package_the_error_names_the_extra(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(weights, "lacking", lambda _: ["torch"])
    with pytest.raises(MissingExtra, match=rf"pip install 'millpond\[{name}\]'"):
        get_backbone(name)


def test_the_error_costs_no_import_of_torch_and_no_network(nowhere: Path) -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*_, **__): raise AssertionError('the network was asked')\n"
        "socket.socket.connect = socket.create_connection = refuse\n"
        "from millpond.backbones import get_backbone\n"
        "from millpond.errors import DataMissing, MissingExtra\n"
        f"for name in {NAMES!r}:\n"
        "    try: get_backbone(name)\n"
        "    except (DataMissing, MissingExtra): pass\n"
        "    else: raise AssertionError(name)\n"
        "assert not {'torch', 'tabicl', 'tabpfn', 'tabdpt'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_another_file_in_the_released_ones_place(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "lacking", lambda _: [])
    put(nowhere / "backbones" / "tabpfn_v1" / V1.file, b"not it")
    with pytest.raises(
        BadOption, match=r"is not a weights file of TabPFN-v1: its SHA-256 is \w+, not"
    ):
        get_backbone("tabpfn_v1")


def test_a_file_of_ones_own_may_be_another(nowhere: Path, tmp_path: Path) -> None:
    path = put(tmp_path / "own", b"own")
    assert (
        weights.checked(V1, weights.Found(path, released=False))
        == hashlib.sha256(b"own").hexdigest()
    )
    other = dataclasses.replace(V1, sha256=hashlib.sha256(b"own").hexdigest())
    assert weights.checked(other, weights.Found(path, released=True)) == other.sha256


def garbage(path: Path) -> Path:
    return put(path, b"\x80garbage")


def html(path: Path) -> Path:
    return put(path, b"<html>sign in to download</html>")


def nothing(path: Path) -> Path:
    return put(path, b"")


def truncated(path: Path) -> Path:
    torch = pytest.importorskip("torch")
    torch.save(({"a": torch.zeros(1000)}, None, {}), path)
    return put(path, path.read_bytes()[:2000])


def code(path: Path) -> Path:
    torch = pytest.importorskip("torch")
    torch.save({"model": Path("/")}, path)  # an object, not a tensor: loading it would run its code
    return path


def tensors_of_something_else(path: Path) -> Path:
    torch = pytest.importorskip("torch")
    torch.save(({"a": torch.zeros(3)}, None, {"emsize": 8}), path)
    return path


@pytest.mark.parametrize(
    "make", [garbage, html, nothing, truncated, code, tensors_of_something_else]
)
def test_a_file_that_is_no_weights_file(nowhere: Path, tmp_path: Path, make: object) -> None:
    pytest.importorskip("torch")
    path = make(tmp_path / "given.ckpt")  # type: ignore[operator]
    with pytest.raises(BadOption) as caught:
        get_backbone("tabpfn_v1", weights=path)
    said = str(caught.value)
    assert said.startswith(f"{path} is not a weights file of TabPFN-v1: it ")
    assert "millpond backbones get tabpfn_v1" in said
    assert "\n" not in said


def test_options(nowhere: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tabpfn_v1_cases import save_tiny

    path = save_tiny(tmp_path / "tiny.cpkt")
    with pytest.raises(BadOption, match="there is no device 'abacus' here"):
        get_backbone("tabpfn_v1", weights=path, device="abacus")
    with pytest.raises(BadOption, match="dtype must be one of float32, bfloat16, not 'float8'"):
        get_backbone("tabpfn_v1", weights=path, dtype="float8")
    with pytest.raises(BadOption, match="takes no option 'depth'; it takes weights, device, dtype"):
        get_backbone("tabpfn_v1", weights=path, depth=3)


def test_the_weights_of_a_folder_that_is_named(tmp_path: Path) -> None:
    assert own_weights("tabpfn_v1", str(tmp_path)) == {}
    path = put(tmp_path / "backbones" / "tabpfn_v1" / V1.file)
    assert own_weights("tabpfn_v1", str(tmp_path)) == {"weights": str(path)}
    assert own_weights("tabpfn_v1", None) == own_weights("knn", str(tmp_path)) == {}
