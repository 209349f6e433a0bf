"""Baselines that were run before take their places in the main table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from millpond.errors import CheckpointError
from millpond.paper import lines, main
from millpond.paper.book import Book, Setup
from millpond.paper.published import METHODS
from millpond.paper.stored import read_baselines
from millpond.paper.totals import totals

RUNS = Path(__file__).parents[2] / "benchmarks" / "results" / "baselines" / "runs.jsonl"
SETUP = Setup(("noaa",), ("rill",))


def test_the_committed_runs_are_units_of_the_main_table() -> None:
    found = read_baselines(RUNS)
    ours = [json.loads(line) for line in RUNS.read_text().splitlines()]
    expected = next(
        o for o in ours if (o["stream"], o["method"], o["limit"]) == ("noaa", "vfdt", None)
    )
    (sheet,) = main.sheets(SETUP, Book(found))
    cell = dict(zip(sheet.head[1:], sheet.rows[0].cells, strict=True))["VFDT"]
    assert cell.value == pytest.approx(100 * expected["accuracy"])
    assert not cell.prefix
    assert sheet.rows[0].cells[1].missing == "not run yet", "CURE was not run by it"
    assert sheet.rows[0].cells[0].value == pytest.approx(100 * max(expected["floors"].values()))


def test_prefixes_are_prefixes() -> None:
    found = read_baselines(RUNS)
    assert all(record.prefix == (unit.limit is not None) for unit, record in found.items())


def test_they_have_no_trajectory_and_took_no_time_here() -> None:
    found = read_baselines(RUNS)
    assert lines.lines(SETUP, Book(found), "noaa") == []
    assert totals(found.values()).units == 0


@pytest.mark.parametrize("text", ["nonsense", "{}", '{"stream": "noaa"}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "runs.jsonl").write_text(text + "\n")
    with pytest.raises(CheckpointError, match="cannot be read as results of baselines"):
        read_baselines(tmp_path / "runs.jsonl")


def test_every_method_has_a_column() -> None:
    (sheet,) = main.sheets(SETUP, Book({}))
    assert [*sheet.head[3:]] == [*METHODS.values()][1:]
