"""The learner beside the label-only rules."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest

from millpond.report.floors import floors_figure
from millpond.report.run import read


def test_dots_lie_at_their_accuracy_the_run_first_then_the_best(
    result: dict[str, Any], drawings: Callable[[str], list[ET.Element]]
) -> None:
    result["accuracy"] = 0.8
    for svg in drawings(floors_figure(read(result)) or ""):
        track = next(line for line in svg.iter("line") if line.get("class") == "track")
        start, stop = float(track.get("x1", "nan")), float(track.get("x2", "nan"))
        at = [(float(c.get("cx", "nan")) - start) / (stop - start) for c in svg.iter("circle")]
        assert at == pytest.approx([0.8, 0.61, 0.6, 0.58, 0.12], abs=0.001)


def test_the_table_has_the_differences(result: dict[str, Any]) -> None:
    result["accuracy"] = 0.6
    page = floors_figure(read(result)) or ""
    assert '<th scope="row">no-change</th><td>61.00%</td><td>−1.00</td>' in page
    assert '<th scope="row">best period</th><td>12.00%</td><td>+48.00</td>' in page


def test_nothing_to_compare_is_no_figure(result: dict[str, Any]) -> None:
    assert floors_figure(read({**result, "floors": {"nochange": None}})) is None
    assert floors_figure(read({**result, "scored": 0})) is None
