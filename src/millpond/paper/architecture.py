"""The paper's architecture picture, with what the banks of a finished run hold."""

from __future__ import annotations

from functools import partial
from typing import Any

from millpond.paper.book import Book, Setup
from millpond.paper.published import BACKBONES, STREAMS
from millpond.paper.record import Record
from millpond.report.figure import figure, plain
from millpond.report.formats import count, shorten
from millpond.report.markup import Markup, join
from millpond.report.svg import label, line, picture, rect

KEY, TITLE = "architecture", "The context and its two banks"


def architecture(setup: Setup, book: Book) -> Markup:
    """Of the first stream whose CURE run is there."""
    for stream in setup.streams:
        record = book.get(setup.unit(stream, "cure"))
        if record is not None and record.facts["banks"]:
            backbone = BACKBONES.get(setup.backbone, setup.backbone)
            rows = count(record.facts["rows"])
            said = f"CURE with {backbone} on {STREAMS[stream]}, as it stood at row {rows}."
            return figure(KEY, TITLE, said, partial(_draw, record), (360, 640))
    return plain(KEY, TITLE, "No run of CURE is finished, so there is nothing to show.")


def _draw(record: Record, width: int) -> Markup:
    banks, learner = record.facts["banks"], record.facts["learner"]
    steps = _steps(record, banks, learner)
    narrow = width < 640
    high, gap = 74, 26
    parts: list[Markup] = []
    box = width if narrow else (width - 3 * gap) / 4
    for i, (name, lines_, class_) in enumerate(steps):
        x = 0.0 if narrow else i * (box + gap)
        y = float(i * (high + gap)) if narrow else 0.0
        parts.append(rect(x + 1, y + 1, box - 2, high - 2, f"box {class_}", rx=6))
        parts.append(label(x + 12, y + 22, name, "rule-name own"))
        parts += [label(x + 12, y + 42 + 17 * j, text, "tick") for j, text in enumerate(lines_)]
        if i:
            parts.append(
                line(x + 24, y - gap, x + 24, y, "flow")
                if narrow
                else line(x - gap, high / 2, x, high / 2, "flow")
            )
    top = (len(steps) * (high + gap) if narrow else high + gap) + 8
    parts.append(label(0, top + 4, "the long bank by class", "axis"))
    parts += _classes(record, banks["long_by_class"], width, top + 14)
    about = "; ".join(f"{name}: {', '.join(lines_)}" for name, lines_, _ in steps) + "."
    return picture(f"{KEY}-{width}", width, top + 62, TITLE, about, join(parts))


def _steps(record: Record, banks: Any, learner: Any) -> list[tuple[str, list[str], str]]:
    short = round(learner["budget"] * learner["short_ratio"])
    return [
        ("new row", ["predicted first, then", "kept with its entropy"], "plain"),
        (
            "short bank",
            [f"{count(banks['short'])} of {count(short)} rows", "first in, first out"],
            "hold",
        ),
        ("gate", [f"entropy ≥ {learner['tau']}", f"{count(banks['admitted'])} admitted"], "plain"),
        (
            "long bank",
            [
                f"{count(banks['long'])} of {count(learner['budget'] - short)} rows",
                "closest pairs thinned",
            ],
            "hold",
        ),
    ]


def _classes(record: Record, held: list[int], width: int, top: float) -> list[Markup]:
    """One bar cut by class, in the classes' order."""
    total, x, parts = max(sum(held), 1), 0.0, []
    names = record.facts["stream"]["classes"]
    for code, rows in enumerate(held):
        wide = width * rows / total
        if rows:
            parts.append(rect(x, top, wide, 24, f"area hue{code % 6}"))
            if wide > 44:
                parts.append(label(x + 6, top + 40, f"{shorten(names[code], 8)}: {rows}", "tick"))
        x += wide
    return parts
