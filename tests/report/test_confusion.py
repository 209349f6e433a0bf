"""The confusion matrix."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from millpond.report.confusion import confusion_figure, most_frequent
from millpond.report.run import read

Parse = Callable[[str], list[ET.Element]]
Make = Callable[..., dict[str, Any]]


def test_two_classes_show_counts_and_shares_of_the_row(
    result: dict[str, Any], drawings: Parse
) -> None:
    result["confusion"] = [[900, 100], [250, 750]]
    for svg in drawings(confusion_figure(read(result))):
        texts = [t.text for t in svg.iter("text")]
        assert {"900", "100", "250", "750"} <= set(texts)
        assert {"90.0%", "10.0%", "25.0%", "75.0%"} <= set(texts)
        boxes = [r.get("class") for r in svg.iter("rect")]
        # Row by row, the diagonal marked.
        assert boxes == ["heat9 hit", "heat1", "heat2", "heat8 hit"]


def test_twenty_classes_of_two_hundred_and_the_rest_accounted_for(
    make: Make, drawings: Parse
) -> None:
    result = make(classes=200, rows=6000)
    counts = np.array(result["confusion"])
    totals = counts.sum(axis=1)
    shown = most_frequent(result["confusion"])
    assert len(shown) == 20
    assert totals[shown].min() >= np.delete(totals, shown).max()
    page = confusion_figure(read(result))
    left = 100 * (1 - totals[shown].sum() / totals.sum())
    assert f"The 20 most frequent of 200 classes; the others hold {left:.2f}%" in page
    for svg in drawings(page):
        assert len(list(svg.iter("rect"))) == 400
    # Every class has its line in the table, though.
    assert page.count('scope="row"') == 20 + 200


def test_recall_and_precision(result: dict[str, Any]) -> None:
    result["confusion"] = [[900, 100], [0, 0]]
    page = confusion_figure(read(result))
    assert '<th scope="row">c0</th><td>1,000</td><td>90.00%</td><td>100.00%</td>' in page
    assert '<th scope="row">c1</th><td>0</td><td>–</td><td>0.00%</td>' in page


@pytest.mark.parametrize("classes", [1, 2, 5, 10, 20])
def test_texts_stay_inside_the_picture(make: Make, drawings: Parse, classes: int) -> None:
    names = [f"a class with a rather long name, number {k}" for k in range(classes)]
    for svg in drawings(confusion_figure(read(make(classes=classes, names=names)))):
        *_, width, height = map(float, (svg.get("viewBox") or "").split())
        for box in svg.iter("rect"):
            x, y, w, h = (float(box.get(k, "nan")) for k in ("x", "y", "width", "height"))
            assert x >= 0
            assert y >= 0
            assert x + w <= width + 0.1
            assert y + h <= height + 0.1


@pytest.mark.parametrize("confusion", [[], [[0]], [[0, 0], [0, 0]]])
def test_nothing_scored_is_said(
    result: dict[str, Any], drawings: Parse, confusion: list[list[int]]
) -> None:
    result["confusion"] = confusion
    page = confusion_figure(read(result))
    assert "No row was scored" in page
    assert drawings(page) == []
