"""Paths, labels that keep apart, and pictures that can be read out."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.report import svg
from millpond.report.scale import Scale


def test_a_line_breaks_where_there_is_no_value() -> None:
    path = svg.line_path([0, 1, 2, 3, 4], [5, 6, None, 7, None], "x")
    assert ET.fromstring(path).get("d") == "M0 5h0L1 6M3 7h0"
    assert svg.line_path([0, 1], [None, None], "x") == ""


def test_an_area_goes_there_above_and_back_below() -> None:
    path = ET.fromstring(svg.area_path([0, 10], [9, 8], [3, 2], "x"))
    assert path.get("d") == "M0 3L10 2L10 8L0 9Z"


def test_a_rectangle_is_never_negative() -> None:
    box = ET.fromstring(svg.rect(0, 0, -3, 2, "x"))
    assert (box.get("width"), box.get("height")) == ("0", "2")


@given(st.lists(st.floats(0, 300), min_size=1, max_size=8))
def test_labels_keep_their_order_their_distance_and_the_plot(wanted: list[float]) -> None:
    placed = svg.spread(wanted, 15, 0, 300)
    ordered = sorted(placed)
    assert all(b - a >= 15 - 1e-9 for a, b in itertools.pairwise(ordered))
    assert ordered[0] >= 0
    assert ordered[-1] <= 300
    pairs = itertools.combinations(zip(wanted, placed, strict=True), 2)
    assert all((a[1] - b[1]) * (a[0] - b[0]) >= 0 for a, b in pairs)


def test_labels_that_do_not_collide_stay_where_they_were() -> None:
    assert svg.spread([200, 10, 100], 15, 0, 300) == [200, 10, 100]


def test_a_picture_is_one_image_with_a_name_and_a_description() -> None:
    picture = ET.fromstring(svg.picture("k", 360, 200, "A <title>", "what it shows"))
    assert picture.get("role") == "img"
    ids = {child.get("id"): child.text for child in picture}
    named = (picture.get("aria-labelledby") or "").split()
    assert [ids[i] for i in named] == ["A <title>", "what it shows"]


def test_axis_labels_stay_inside_the_picture() -> None:
    frame = svg.Frame(360, 200, Scale(0, 20000, 48, 350), Scale(0, 1, 150, 30))
    drawn = svg.axes(frame, [(0, "0"), (20000, "20,000")], [(0.5, "50%")], "row", "accuracy")
    texts = {t.text: t for t in ET.fromstring(f"<g>{drawn}</g>").iter("text")}
    last = texts["20,000"]
    assert float(last.get("x", "nan")) + svg.text_width("20,000") / 2 <= 360.1
    assert float(texts["50%"].get("y", "nan")) == pytest.approx(90 + 4)
