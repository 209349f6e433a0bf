"""`millpond paper`: no number that was not computed, prefixes marked, what is missing named."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from millpond.cli import main
from millpond.paper import book, floors, recovery, runtime
from millpond.paper.experiments import EXPERIMENTS
from millpond.paper.published import published
from millpond.paper.record import Record
from millpond.paper.store import Store

ROWS = 300


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A quick run that is quicker still, in a folder without data."""
    monkeypatch.setattr(book, "QUICK", ROWS)
    monkeypatch.setattr(runtime, "QUICK", 200)
    monkeypatch.setattr(recovery, "QUICK", 400)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("MILLPOND_DATA", str(tmp_path / "no data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    found = main(["paper", *words])
    out, err = capsys.readouterr()
    assert found == code, err
    assert "Traceback" not in err
    return out, err


def document(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    out, _ = said(capsys, *words, "--json")
    found: dict[str, Any] = json.loads(out, parse_constant=pytest.fail)
    return found


def test_the_words_of_the_contract_are_known() -> None:
    names = (
        "main robustness ablation tau runtime trajectories datasets hyperparameters policies claims "
        "floors budget delay significance theory"
    )
    assert {*names.split()} <= {*EXPERIMENTS}


def test_quick_numbers_are_those_of_the_units_and_marked(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(
        capsys, "ablation", "--quick", "--streams", "agr_a", "--backbone", "knn", "--out", "o"
    )
    records = {r.unit.policy: r for r in Store(small / "o").read().values()}
    assert {r.facts["rows"] for r in records.values()} == {ROWS}
    ours = found["ablation"]["rows"][0]
    assert ours["head"] == "AGR(A)"
    for cell, policy in zip(
        ours["cells"],
        ("cure", "dual_fifo", "entropy_only", "redundancy_only", "cure_margin", "cure_global_nn"),
        strict=False,
    ):
        assert cell["prefix"] is True
        assert cell["value"] == pytest.approx(100 * records[policy].facts["accuracy"])
    paper = found["ablation"]["rows"][1]
    stated = published()["ablation"]["accuracy"]["agr_a"]
    assert [c["value"] for c in paper["cells"][:6]] == [*stated.values()]
    assert not any(cell.get("prefix") for cell in paper["cells"])


def test_what_is_there_is_not_computed_again(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["tau", "--quick", "--streams", "agr_a", "--backbone", "knn", "--out", "o"]
    first, told = said(capsys, *words)
    assert "7 results to compute in 1 runs; 0 are there" in told
    before = (small / "o" / "units" / "agr_a.jsonl").read_bytes()
    second, told = said(capsys, *words)
    assert "to compute" not in told
    assert second == first
    assert (small / "o" / "units" / "agr_a.jsonl").read_bytes() == before


def test_show_runs_nothing_and_prints_no_number_of_ours(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(capsys, "--show", "--out", "o")
    assert not (small / "o").exists()
    for key in ("main", "floors", "ablation", "tau", "budget", "short_ratio", "delay", "recovery"):
        for row in found[key]["rows"]:
            if row["kind"] == "ours":
                numbers = [c for c in row["cells"] if isinstance(c.get("value"), float)]
                # The paper's own numbers, where they stand in a line of ours.
                assert all(re.search("paper", found[key]["head"][-1]) for _ in numbers), (key, row)


def test_streams_and_backbones_that_are_not_here_say_so(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "robustness",
        "--quick",
        "--streams",
        "noaa",
        "agr_a",
        "--backbone",
        "knn",
        "--out",
        "o",
    ]
    out, _ = said(capsys, *words)
    flat = " ".join(out.split())
    assert "NOAA: the stream is not on this machine: millpond streams get noaa" in flat
    assert "TabICL-v2: not asked for: --backbone tabicl" in flat
    assert str(small) not in out
    assert "1 of 1*" in out or "0 of 1*" in out


@pytest.mark.parametrize("width", ["80", "100", "160"])
def test_every_table_fits_the_terminal(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    out, _ = said(capsys, "--show", "--out", "o")
    assert max(map(len, out.splitlines())) <= min(int(width), 100)


def test_floors_of_a_periodic_stream_are_seen(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(
        capsys, "floors", "--quick", "--streams", "agr_a", "--backbone", "knn", "--out", "o"
    )
    (row,) = found["floors"]["rows"]
    record: Record = next(
        r for u, r in Store(small / "o").read().items() if u.policy == "cure" and u.shuffle is None
    )
    floor = [c["value"] for c in row["cells"][:4]]
    assert floor == pytest.approx([100 * record.facts["floors"][rule] for rule in floors.RULES])


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["nonsense"], "unknown experiment 'nonsense'"),
        (["main", "--streams", "noa"], "did you mean noaa"),
        (["main", "--backbone", "tabnet"], "unknown backbone 'tabnet'"),
        (["main", "--workers", "0"], "--workers must be at least 1"),
        (
            ["tau", "--quick", "--streams", "agr_a", "--backbone", "rill", "--device", "warp"],
            "warp",
        ),
    ],
)
def test_wrong_use(
    small: Path, capsys: pytest.CaptureFixture[str], words: list[str], named: str
) -> None:
    if "--device" in words:
        pytest.importorskip("torch")
    out, err = said(capsys, *words, code=2)
    assert out == ""
    assert named in err
    assert len(err.strip().splitlines()) == 1


def test_recovery_is_counted_from_the_drift() -> None:
    import numpy as np

    right = np.r_[np.zeros(700, bool), np.ones(2000, bool)]
    # 490 of 500 are right for the first time 700 - 10 + 500 rows behind the drift.
    assert recovery.recovered(right, 0.98) == 1190
    assert recovery.recovered(np.zeros(900, bool), 0.5) is None
    assert recovery.drifts(None) == [(7500, 15000), (15000, 22500), (22500, 30000)]
    assert recovery.drifts(10_000) == [(7500, 10000)]
    assert recovery.drifts(7_900) == []


def test_results_of_other_weights_are_computed_anew(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from millpond.paper import command

    words = ["tau", "--quick", "--streams", "agr_a", "--backbone", "knn", "--out", "o"]
    said(capsys, *words)
    monkeypatch.setattr(command, "weights_of", lambda name: "others")
    _, told = said(capsys, *words)
    assert "7 results to compute in 1 runs; 0 are there" in told


def test_the_weights_of_a_backbone_are_known_by_their_file() -> None:
    import hashlib

    from millpond.backbones.rill.weights import PACKAGED
    from millpond.paper.runner import weights_of

    assert weights_of("rill") == hashlib.sha256(PACKAGED.read_bytes()).hexdigest()
    assert weights_of("knn") == ""
