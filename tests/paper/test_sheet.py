"""A table's cells: what is marked, what is missing and why, and how it is written."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from millpond.paper.sheet import Cell, Row, Sheet, absent, number, percent, ranked, words
from millpond.paper.terminal import show


def made() -> Sheet:
    return Sheet(
        "made",
        "A made table",
        ("Dataset", "one", "two", "three"),
        (
            Row("A", (*ranked([percent(0.5), percent(0.75, prefix=True)]), absent("no Java here"))),
            Row("paper", (number(50.0), number(75.0), number(None)), "paper"),
            Row("B", (absent("not here"),) * 3),
        ),
        ("A note.",),
    )


def test_numbers_of_a_prefix_are_marked() -> None:
    assert percent(0.5).shown == "50.00"
    assert percent(0.5, prefix=True).shown == "50.00*"
    assert number(None, prefix=True).shown == ""
    assert made().prefix
    assert any(said.startswith("* on a prefix") for said in made().sentences())
    whole = Sheet("k", "t", ("h", "c"), (Row("A", (percent(0.5),)),))
    assert not any("prefix" in said for said in whole.sentences())


def test_what_is_missing_says_why_and_shows_no_number() -> None:
    sheet = made()
    assert absent("why").shown == "–"
    assert sheet.lacking() == {"no Java here": ["A three"], "not here": ["B"]}
    assert sheet.sentences()[-2:] == ["– A three: no Java here", "– B: not here"]


def test_best_and_second_with_ties() -> None:
    marks = [c.mark for c in ranked(map(number, [3.0, 7.0, 7.0, 5.0]))]
    assert marks == ["", "best", "best", "second"]


def test_nothing_is_best_where_something_is_missing() -> None:
    assert [c.mark for c in ranked([absent("x"), number(2.0), number(1.0)])] == ["", "", ""]


def test_as_markdown() -> None:
    text = made().markdown()
    assert "| A | 50.00 | **75.00\\*** | – |" in text
    assert "| *paper* | *50.00* | *75.00* |  |" in text


def test_as_a_document() -> None:
    document = made().document()
    assert document["rows"][0]["cells"][1] == {
        "text": "75.00",
        "value": 75.0,
        "prefix": True,
        "mark": "best",
    }
    assert document["rows"][2]["cells"][0] == {"missing": "not here"}


@pytest.mark.parametrize("width", [80, 100, 200])
def test_it_fits_the_terminal(width: int) -> None:
    wide = Sheet(
        "wide",
        "A wide table",
        ("Dataset", *(f"column {i}" for i in range(7))),
        (Row("POSTURE-No8", (number(12.34, prefix=True),) * 6 + (words("a longer text " * 4),)),),
        (
            "A note that is a good deal longer than the line that it has to be fitted into, of words.",
        ),
    )
    out = io.StringIO()
    show([wide, made()], Console(file=out, width=width))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= min(width, 100)
    assert out.getvalue().count("12.34*") == 6


def test_a_cell_without_text_is_blank() -> None:
    assert Cell("").shown == ""
