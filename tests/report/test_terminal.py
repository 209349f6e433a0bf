"""The summary at the end of a run."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from millpond.report import summary

Make = Callable[..., dict[str, Any]]


def _render(result: dict[str, Any], width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(summary(result))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(len(line) <= width for line in text.splitlines())
    return str(text)


def test_every_number_is_there(result: dict[str, Any]) -> None:
    result["accuracy"] = 0.8125
    result["resumed_from"] = 1200
    text = " ".join(_render(result).replace("│", " ").split())
    for part in (
        "AGR(A) / knn + cure",
        "accuracy 81.25%",
        "label-only floor (no-change) 61.00% +20.25 points",
        "balanced accuracy 79.12%",
        "macro-F1 78.34%",
        "kappa 55.12%",
        "kappa-M 44.23%",
        "kappa-T -12.34%",
        "log loss 0.3812",
        "Brier 0.2411",
        "ECE 2.13%",
        "1,900 rows scored; 100 not scored: 100 warm-up",
        "resumed from row 1,200",
        "ms a step: fit 0.100, predict 1.00, evict 0.479, total 1.58",
        "4.0 s in all, 500 rows/s",
    ):
        assert part in text


@pytest.mark.parametrize("width", [80, 60, 200])
def test_it_fits(make: Make, width: int) -> None:
    result = make()
    result["stream"]["label"] = "a stream with a name that is far too long for one line" * 3
    result["learner"]["name"] = "learner " * 20
    result["floors"]["successor"] = 0.999
    result["accuracy"] = 0.0
    result["unscored_why"] = {f"reason_number_{k}": 1000 + k for k in range(9)}
    result["seconds"] = dict.fromkeys(("fit", "predict", "evict", "total"), 1e6)
    lines = _render(result, width).splitlines()
    assert max(map(len, lines)) == min(width, 80)


def test_a_loss_against_the_floor_is_shown_as_one(result: dict[str, Any]) -> None:
    result["accuracy"] = 0.5
    assert "-11.00 points" in _render(result)


def test_undefined_numbers_are_dashes(result: dict[str, Any]) -> None:
    result["metrics"]["cumulative"] |= {"kappa": None, "log_loss": float("nan")}
    result["floors"] = {}
    text = _render(result)
    assert "kappa              -" in text
    assert "floor" not in text
    assert "nan" not in text.lower()


def test_no_scored_row_is_said() -> None:
    result = {"rows": 50, "scored": 0, "unscored": 50, "unscored_why": {"warmup": 50}}
    text = _render(result)
    assert "No row was scored." in text
    assert "50 not scored: 50 warm-up" in text


def test_names_are_no_markup_and_steer_no_terminal(result: dict[str, Any]) -> None:
    result["stream"]["label"] = "[red]a[/red]\x1b[2J"
    text = _render(result)
    assert "[red]a[/red]?[2J" in text
    assert "\x1b" not in text


def test_it_can_be_written_where_only_ascii_can(result: dict[str, Any]) -> None:
    """Apart from the frame, for which rich has a substitute."""
    result["metrics"]["cumulative"]["kappa"] = None
    text = _render(result)
    assert {c for c in text if ord(c) > 127} <= set("╭─╮│╰╯")
