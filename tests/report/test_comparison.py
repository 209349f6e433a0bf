"""Runs beside each other."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from millpond.cli import main
from millpond.report.comparison import comparison

Make = Callable[..., dict[str, Any]]


def render(results: list[dict[str, Any]], width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(comparison(results))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert all(len(line) <= width for line in lines)
    return [" ".join(line.split()) for line in lines]


def test_the_most_accurate_is_first_and_label_rules_stand_among_them(make: Make) -> None:
    good, bad = make(), make()
    good["accuracy"], bad["accuracy"] = 0.9, 0.605
    bad["learner"]["name"] = "rill + fifo"
    assert render([bad, good]) == [
        "AGR(A), 1,900 rows scored",
        "learner accuracy kappa ECE ms a step",
        "knn + cure, tau 0.4 90.00% 55.12% 2.13% 1.58",
        "no-change (labels only) 61.00%",
        "rill + fifo, tau 0.4 60.50% 55.12% 2.13% 1.58",
        "majority (labels only) 60.00%",
        "successor (labels only) 58.00%",
        "best period (labels only) 12.00%",
    ]


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [("stream", "label", "NOAA"), ("protocol", "shuffle_within", 100), (None, "scored", 5)],
)
def test_what_was_scored_on_other_rows_is_in_another_table(
    make: Make, part: str | None, key: str, value: Any
) -> None:
    one, other = make(), make()
    (other if part is None else other[part])[key] = value
    assert sum("rows scored" in line for line in render([one, other])) == 2


def test_names_that_are_too_long_or_steer_a_terminal(make: Make) -> None:
    result = make(context=False)
    result["learner"]["name"] = "\x1b[31m" + "learner " * 20
    assert not any("\x1b" in line for line in render([result]))


def test_a_run_that_scored_nothing(make: Make) -> None:
    result = make(context=False)
    result["scored"], result["accuracy"] = 0, None
    assert any(line.startswith("nochange -") for line in render([result]))


def test_the_command(
    make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    text = json.dumps(make(), allow_nan=True).replace("NaN", "null")
    (tmp_path / "a" / "result.json").write_text(text)
    folder = str(tmp_path / "a")
    assert main(["compare", folder]) == 0
    assert "knn + cure, tau 0.4" in capsys.readouterr().out
    assert main(["compare", folder, str(tmp_path / "a" / "result.json"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [entry["run"] for entry in found] == [folder, f"{folder}/result.json"]
    assert found[0]["scored"] == 1900
    assert main(["compare", str(tmp_path / "b")]) == 1
    assert "cannot be read as a result" in capsys.readouterr().err
