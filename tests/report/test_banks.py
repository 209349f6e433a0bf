"""The charts of the context."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from millpond.report.banks import banks_figure, classes_figure, largest
from millpond.report.run import read

Parse = Callable[[str], list[ET.Element]]
Make = Callable[..., dict[str, Any]]


def _areas(svg: ET.Element) -> list[ET.Element]:
    return [p for p in svg.iter("path") if "area" in (p.get("class") or "").split()]


def _heights(area: ET.Element, points: int) -> list[float]:
    """The band's thickness at each point, in the picture's units."""
    ys = [float(y) for y in re.findall(r"[ML]\S+ ([\d.-]+)", area.get("d") or "")]
    return [b - a for a, b in zip(ys[:points], reversed(ys[points:]), strict=True)]


@given(
    hnp.arrays(
        np.int64, st.tuples(st.integers(1, 6), st.integers(1, 30)), elements=st.integers(0, 9)
    )
)
def test_largest_loses_no_row_and_never_draws_more_than_ten(counts: np.ndarray[Any, Any]) -> None:
    bands = largest([f"c{k}" for k in range(counts.shape[1])], counts.tolist())
    assert len(bands) <= 10
    held = int((counts.sum(axis=0) > 0).sum())
    totals = np.sum([values for _, values in bands], axis=0) if bands else 0
    assert np.array_equal(totals * np.ones(len(counts)), counts.sum(axis=1))
    if held > 10:
        assert bands[-1][0] == f"other ({held - 9})"
        smallest = min(sum(values) for _, values in bands[:-1])
        left_out = np.sort(counts.sum(axis=0))[: counts.shape[1] - 9]
        assert left_out.max() <= smallest
    else:
        assert len(bands) == held


def test_the_two_banks_are_stacked_in_proportion(result: dict[str, Any], drawings: Parse) -> None:
    svgs = drawings(banks_figure(read(result)))
    assert len(svgs) == 2
    along = result["trajectory"]
    for svg in svgs:
        short, long = (_heights(area, 40) for area in _areas(svg))
        unit = short[-1] / along["short"][-1]
        assert short == pytest.approx([unit * n for n in along["short"]], abs=0.3)
        assert long == pytest.approx([unit * n for n in along["long"]], abs=0.3)
        (budget,) = [line for line in svg.iter("line") if line.get("class") == "budget"]
        base = next(line for line in svg.iter("line") if line.get("class") == "base")
        height = float(base.get("y1", "")) - float(budget.get("y1", ""))
        assert height == pytest.approx(unit * 400, abs=0.3)


def test_classes_past_six_are_hatched_and_the_tenth_is_grey(make: Make, drawings: Parse) -> None:
    figure = classes_figure(read(make(classes=12)))
    assert figure is not None
    assert "The 9 largest of the 12 classes it ever held, and the others." in figure
    for svg in drawings(figure):
        areas = _areas(svg)
        assert len(areas) == 10
        hatched = [area.get("fill") for area in areas if area.get("fill")]
        patterns = [f"url(#{p.get('id')})" for p in svg.iter("pattern")]
        assert hatched == patterns
        assert len(hatched) == 3
        assert areas[-1].get("class") == "area rest"


def test_two_classes_are_two_bands_with_their_names_inside(make: Make, drawings: Parse) -> None:
    figure = classes_figure(read(make(names=["yes", "no"])))
    assert figure is not None
    for svg in drawings(figure):
        inside = {t.text for t in svg.iter("text") if "inside" in (t.get("class") or "")}
        assert inside == {"yes", "no"}


def test_one_point_still_has_an_area(make: Make, drawings: Parse) -> None:
    for svg in drawings(banks_figure(read(make(points=1)))):
        short = _areas(svg)[0]
        xs = {float(x) for x in re.findall(r"[ML](\S+) ", short.get("d") or "")}
        assert max(xs) - min(xs) > 4


def test_learners_without_a_context_say_so(make: Make) -> None:
    run = read(make(context=False))
    assert "No context is kept." in banks_figure(run)
    assert classes_figure(run) is None


def test_an_empty_long_bank_says_so(result: dict[str, Any]) -> None:
    result["trajectory"]["long_by_class"] = [[0, 0]] * 40
    assert "The long bank stayed empty." in (classes_figure(read(result)) or "")
