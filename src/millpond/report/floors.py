"""The learner's accuracy beside the label-only rules', as dots on one line each."""

from __future__ import annotations

from functools import partial

from millpond.report.figure import figure
from millpond.report.formats import percent, points
from millpond.report.markup import Markup, join
from millpond.report.run import Run
from millpond.report.scale import Scale
from millpond.report.svg import dot, label, line, picture
from millpond.report.table import behind, table

_KEY, _TITLE = "floors", "Beside what labels alone achieve"
_ROW, _TOP = 30, 8


def floors_figure(run: Run) -> Markup | None:
    """None where there is nothing to compare."""
    if run.accuracy is None or not run.floors:
        return None
    entries = [("this run", run.accuracy), *[(f.name, f.accuracy) for f in run.floors]]
    return figure(
        _KEY,
        _TITLE,
        "These rules see past labels and no feature; a learner is worth what it adds to them.",
        partial(_draw, entries),
        (360, 520),
        data=behind(
            "Data: label-only rules",
            table(
                "Accuracy of this run and of the label-only rules",
                ["rule", "accuracy", "this run minus rule"],
                [
                    (n, percent(a), points(entries[0][1] - a) if i else "")
                    for i, (n, a) in enumerate(entries)
                ],
            ),
        ),
    )


def _draw(entries: list[tuple[str, float]], width: int) -> Markup:
    x = Scale(0, 1, 92, width - 80)
    rows = []
    for i, (name, accuracy) in enumerate(entries):
        y = _TOP + _ROW * (i + 0.5)
        own = "own" if i == 0 else "other"
        rows += [
            label(0, y + 4, name, f"rule-name {own}"),
            line(x(0), y, x(1), y, "track"),
            line(x(0), y, x(accuracy), y, f"reach {own}"),
            dot(x(accuracy), y, 5, f"mark {own}"),
            label(width, y + 4, percent(accuracy), f"rule-value {own}", "end"),
        ]
    return picture(
        f"{_KEY}-{width}",
        width,
        2 * _TOP + _ROW * len(entries),
        _TITLE,
        "; ".join(f"{name} {percent(accuracy)}" for name, accuracy in entries) + ".",
        join(rows),
    )
