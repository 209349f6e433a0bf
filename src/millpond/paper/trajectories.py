"""Prequential trajectories (the paper's appendix): quarters in the terminal, figures in the report."""

from __future__ import annotations

from millpond.paper import main
from millpond.paper.book import Book, Setup
from millpond.paper.lines import lines, method_names
from millpond.paper.published import STREAMS
from millpond.paper.sheet import Row, Sheet, absent, percent
from millpond.paper.units import Unit

PARTS = 4


def units(setup: Setup) -> list[Unit]:
    return main.units(setup)


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    """Cumulative accuracy after each quarter of the rows."""
    rows = []
    for stream in setup.streams:
        drawn = {each.name: each for each in lines(setup, book, stream)}
        for name in method_names(setup):
            each = drawn.get(name)
            if each is None:
                why = book.why_not(main.unit_of(setup, stream, name))
                rows.append(Row(f"{STREAMS[stream]} {name}", (absent(why),) * PARTS))
                continue
            last = each.rows[-1]
            at = [
                max(i for i, r in enumerate(each.rows) if r <= last * (q + 1) / PARTS)
                for q in range(PARTS)
            ]
            cells = [percent(each.accuracy[i], prefix=setup.quick) for i in at]
            rows.append(Row(f"{STREAMS[stream]} {name}", tuple(cells)))
    return [
        Sheet(
            "trajectories",
            "Cumulative accuracy along the streams",
            ("Dataset and method", *(f"{q + 1}/{PARTS} of rows" for q in range(PARTS))),
            tuple(rows),
            ("The figures are in report.html.",),
        )
    ]
