"""The reliability diagram."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest

from millpond.report.reliability import reliability_figure
from millpond.report.run import read

Parse = Callable[[str], list[ET.Element]]


def test_occupied_bins_are_dots_at_confidence_and_accuracy(
    result: dict[str, Any], drawings: Parse
) -> None:
    bins = [b for b in result["reliability"] if b["n"]]
    for svg in drawings(reliability_figure(read(result))):
        ideal = next(line for line in svg.iter("line") if line.get("class") == "ideal")
        x0, y0, x1, y1 = (float(ideal.get(k, "nan")) for k in ("x1", "y1", "x2", "y2"))
        dots = list(svg.iter("circle"))
        assert len(dots) == len(bins)
        for mark, b in zip(dots, bins, strict=True):
            x, y = float(mark.get("cx", "nan")), float(mark.get("cy", "nan"))
            assert x == pytest.approx(x0 + b["confidence"] * (x1 - x0), abs=0.1)
            assert y == pytest.approx(y0 + b["accuracy"] * (y1 - y0), abs=0.1)
            assert mark.get("class") == ("few" if b["n"] < 30 else "bin")


def test_the_histogram_has_a_bar_for_each_occupied_bin(
    result: dict[str, Any], drawings: Parse
) -> None:
    counts = [b["n"] for b in result["reliability"] if b["n"]]
    for svg in drawings(reliability_figure(read(result))):
        bars = [float(r.get("height", "nan")) for r in svg.iter("rect")]
        unit = bars[-1] / counts[-1]
        assert bars == pytest.approx([max(unit * n, 1) for n in counts], abs=0.1)


def test_no_probability_is_said(result: dict[str, Any], drawings: Parse) -> None:
    for bins in ([], [{"low": 0, "high": 1, "n": 0, "confidence": None, "accuracy": None}]):
        result["reliability"] = bins
        page = reliability_figure(read(result))
        assert "No probability was scored" in page
        assert drawings(page) == []
