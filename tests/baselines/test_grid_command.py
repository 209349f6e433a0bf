"""`millpond grid` from the words to the report, on a small file, with River where it is installed."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millpond.baselines import grid_command
from millpond.baselines.grid import Configuration, Done
from millpond.cli import main


@pytest.fixture
def ran(monkeypatch: Any, tmp_path: Path) -> list[Any]:
    """Grids that end at once: every configuration right in a share of the rows, one of them failed."""
    seen: list[Any] = []

    def run(grid: Any, tell: Any) -> list[Done]:
        seen.append(grid)
        found = []
        for i, each in enumerate(grid.configurations()):
            own = grid.out / each.name
            own.mkdir(parents=True)
            label = (np.arange(200) % 100 < 50 + i).astype(np.int32)
            np.savez(own / "steps.npz", prediction=np.ones(200, np.int32), label=label)
            (own / "result.json").write_text(json.dumps({"accuracy": float(label.mean())}))
            failed = "killed by SIGKILL" if each == Configuration(1000, 0.1, 1) else None
            found.append(Done(each, own, failed))
            tell(found[-1])
        return found

    monkeypatch.setattr(grid_command.Grid, "run", run)
    monkeypatch.setattr(grid_command, "require", lambda learner: None)
    return seen


def test_reports_both_choices_as_one_document(ran: list[Any], tmp_path: Path, capsys: Any) -> None:
    words = ["grid", "agr_a", "--learner", "moa:efdt", "--limit", "300", "--data-dir", "somewhere"]
    code = main([*words, "--workers", "2", "--out", str(tmp_path / "out"), "--json"])
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert code == 1  # one configuration has no result
    assert found == json.loads((tmp_path / "out" / "grid.json").read_text())
    assert (found["stream"], found["learner"]) == ("agr_a", "moa:efdt")
    assert found["failed"] == [{"configuration": "g1000-t0.1-seed1", "reason": "killed by SIGKILL"}]
    assert len(found["configurations"]) == 8
    assert found["selections"]["oracle"]["accuracy"] == pytest.approx(0.57)
    assert "g1000-t0.1-seed1: failed: killed by SIGKILL" in err
    (grid,) = ran
    assert grid.stream_words == ["agr_a", "--data-dir", "somewhere", "--limit", "300"]
    assert (grid.workers, grid.resume, grid.seeds) == (2, False, None)


def test_a_table_for_people_says_that_the_papers_choice_is_an_oracle(
    ran: list[Any], tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["grid", "agr_a", "--learner", "moa:vfdt", "--out", str(tmp_path / "out")]) == 1
    out = capsys.readouterr().out
    assert "57.00" in out
    assert "oracle: g 1000, t 0.05" in out
    assert "an oracle, as in the paper" in out
    assert "best on the first 10% of the stream" in out
    assert "failed: g1000-t0.1-seed1: killed by SIGKILL" in out


def test_wrong_use_is_exit_code_2(tmp_path: Path, capsys: Any) -> None:
    out = str(tmp_path / "out")
    assert main(["grid", "noaa", "--learner", "majority", "--out", out]) == 2
    assert main(["grid", "noaa", "--learner", "moa:arf", "--seeds", "0", "--out", out]) == 2
    assert "the grid is for" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("stream", "code", "said"),
    [
        ("agr_a", 1, r"CapyMOA is not installed.*pip install 'millpond\[moa\]'"),
        ("agr_b", 2, "agr_a"),
    ],
)
def test_what_is_missing_is_said_once(
    tmp_path: Path, capsys: Any, monkeypatch: Any, stream: str, code: int, said: str
) -> None:
    if stream == "agr_a":
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    else:
        monkeypatch.setattr(grid_command, "require", lambda learner: None)
    out = str(tmp_path / "out")
    assert main(["grid", stream, "--learner", "moa:vfdt", "--out", out]) == code
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert re.search(said, line)
    assert not (tmp_path / "out").exists()


@pytest.mark.long  # eighteen processes
def test_the_whole_way_with_river(tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("river", reason="River is not installed")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 260)
    rows = np.column_stack([y + rng.normal(size=260), rng.normal(size=260), y])
    file = tmp_path / "made.csv"
    file.write_text("\n".join("{:.3f},{:.3f},{:.0f}".format(*row) for row in rows) + "\n")
    out = tmp_path / "out"
    words = ["grid", str(file), "--learner", "river:vfdt", "--out", str(out), "--json"]
    assert main([*words, "--workers", "2"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert [row["seeds"] for row in first["configurations"]] == [1] * 9
    assert first["selections"]["oracle"]["accuracy"] > 0.6
    times = {path: path.stat().st_mtime_ns for path in out.glob("*/result.json")}
    assert len(times) == 9
    assert main([*words, "--resume", "--workers", "2"]) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert {path: path.stat().st_mtime_ns for path in times} == times  # kept, not run again
