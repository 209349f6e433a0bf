"""The accuracy chart."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest

from millpond.report.run import read
from millpond.report.trajectory import trajectory_figure

Parse = Callable[[str], list[ET.Element]]


def _path(svg: ET.Element, class_: str) -> list[tuple[float, float]]:
    """The points of a line, (x, y) in the picture's units."""
    (path,) = [p for p in svg.iter("path") if p.get("class") == class_]
    return [
        (float(x), float(y)) for x, y in re.findall(r"[ML](\S+) ([\d.-]+)", path.get("d") or "")
    ]


def _y_axis(svg: ET.Element) -> Callable[[float], float]:
    """From percent to y, read off the tick labels."""
    labels = [
        (float((t.text or "")[:-1]), float(t.get("y", "nan")) - 4)
        for t in svg.iter("text")
        if t.get("text-anchor") == "end" and (t.text or "").endswith("%")
    ]
    (v0, y0), (v1, y1) = labels[0], labels[-1]
    return lambda v: y0 + (v - v0) / (v1 - v0) * (y1 - y0)


def test_the_lines_are_the_trajectory(result: dict[str, Any], drawings: Parse) -> None:
    svgs = drawings(trajectory_figure(read(result)))
    assert len(svgs) == 3
    for svg in svgs:
        y_of = _y_axis(svg)
        for class_, key in (("cumulative", "accuracy"), ("windowed", "window_accuracy")):
            points = _path(svg, class_)
            expected = [y_of(100 * a) for a in result["trajectory"][key]]
            assert [y for _, y in points] == pytest.approx(expected, abs=0.2)
        xs = [x for x, _ in points]
        rule = next(g for g in svg.iter("g") if g.get("class") == "cursor")
        left, right = float(rule.get("data-left", "")), float(rule.get("data-right", ""))
        rows = result["trajectory"]["row"]
        assert xs == pytest.approx([left + (right - left) * r / 2000 for r in rows], abs=0.1)


def test_floors_on_the_axis_are_lines_and_the_others_are_named(
    result: dict[str, Any], drawings: Parse
) -> None:
    page = trajectory_figure(read(result))
    wide = drawings(page)[-1]
    y_of = _y_axis(wide)
    floors = [line for line in wide.iter("line") if "floor" in (line.get("class") or "")]
    drawn = {round(float(line.get("y1", "nan"))) for line in floors}
    assert {round(y_of(61)), round(y_of(60))} <= drawn
    assert "Outside the axis: best period 12.00%." in page
    # Each has its own dashes.
    assert len({line.get("class") for line in floors}) == 4


def test_the_first_noisy_points_do_not_stretch_the_axis(
    result: dict[str, Any], drawings: Parse
) -> None:
    result["trajectory"]["accuracy"][0] = 0.0
    wide = drawings(trajectory_figure(read(result)))[-1]
    lowest = min(float((t.text or "0%")[:-1]) for t in wide.iter("text") if "%" in (t.text or ""))
    assert lowest > 40


def test_warm_up_is_shaded_and_named(result: dict[str, Any], drawings: Parse) -> None:
    page = trajectory_figure(read(result))
    assert "warm-up (100 rows)" in page
    (shade,) = [r for r in drawings(page)[0].iter("rect") if r.get("class") == "warmup"]
    assert float(shade.get("width", "nan")) == pytest.approx((360 - 48 - 12) * 100 / 2000, abs=0.1)
    result["protocol"]["warmup"] = 0
    assert "warm-up" not in trajectory_figure(read(result))


def test_one_point_is_a_dot(make: Callable[..., dict[str, Any]], drawings: Parse) -> None:
    for svg in drawings(trajectory_figure(read(make(points=1)))):
        assert sorted(c.get("class") or "" for c in svg.iter("circle")) == [
            "dot cumulative",
            "dot windowed",
        ]


def test_gaps_are_gaps(result: dict[str, Any], drawings: Parse) -> None:
    result["trajectory"]["window_accuracy"][10:12] = [None, float("nan")]
    svg = drawings(trajectory_figure(read(result)))[0]
    (path,) = [p for p in svg.iter("path") if p.get("class") == "windowed"]
    assert (path.get("d") or "").count("M") == 2


def test_nothing_scored_is_said(result: dict[str, Any], drawings: Parse) -> None:
    result["trajectory"]["accuracy"] = result["trajectory"]["window_accuracy"] = [None] * 40
    page = trajectory_figure(read(result))
    assert "No row was scored" in page
    assert drawings(page) == []
