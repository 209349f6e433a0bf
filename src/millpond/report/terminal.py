"""The summary that ends a run in a terminal: a panel that fits 80 columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from millpond.report.facts import PARTS, unscored_sentence
from millpond.report.formats import count, duration, milliseconds, percent, plural, points, shorten
from millpond.report.measures import MEASURES, Measure
from millpond.report.run import Run, read

# Three columns of three; the first measure, accuracy, has the line above them.
_COLUMNS = (MEASURES[1:3], MEASURES[3:6], MEASURES[6:9])


def summary(result: Mapping[str, Any]) -> RenderableType:
    """A rich renderable of a run's headline numbers, given its `result.json` as a dict."""
    run = read(result)
    parts: list[RenderableType] = [_accuracy(run), Text()]
    if run.accuracy is not None:
        parts += [_measures(run), Text()]
    return Panel(
        Group(*parts, *_foot(run)),
        # As Text: a stream's name may hold what rich would take for markup.
        title=Text(f" {_name(run.stream_name)} / {_name(run.learner_name)} ", "bold"),
        title_align="left",
        box=ROUNDED,
        border_style="dim",
        width=80,
    )


def _name(text: str) -> str:
    return plain(shorten(printable(text), 32))


def printable(text: str) -> str:
    """Without what would steer a terminal: a file's name may hold escape codes."""
    return "".join(c if c.isprintable() else "?" for c in text)


def plain(text: str) -> str:
    """Without the typographic signs that a terminal's encoding may lack."""
    return text.replace("\u2212", "-").replace("–", "-").replace("…", "...")


def _accuracy(run: Run) -> RenderableType:
    if run.accuracy is None:
        return Text("No row was scored.", "bold yellow")
    grid = Table.grid(padding=(0, 2))
    cells = [Text("accuracy"), Text(plain(percent(run.accuracy)), "bold")]
    if run.floor is not None:
        gap = run.accuracy - run.floor.accuracy
        cells += [
            Text(f"label-only floor ({run.floor.name})", "dim"),
            Text(plain(percent(run.floor.accuracy))),
            Text(f"{plain(points(gap))} points", "green" if gap > 0 else "yellow"),
        ]
    grid.add_row(*cells)
    return grid


def _measures(run: Run) -> Table:
    grid = Table.grid(padding=(0, 2))
    for _ in _COLUMNS:
        grid.add_column(style="dim", no_wrap=True, min_width=10)
        grid.add_column(justify="right", no_wrap=True, min_width=8)
    for line in range(3):
        grid.add_row(*[text for column in _COLUMNS for text in _pair(run, column, line)])
    return grid


def _pair(run: Run, column: tuple[Measure, ...], line: int) -> tuple[str, str]:
    if line >= len(column):
        return "", ""
    measure = column[line]
    return measure.name, plain(measure.show(run.cumulative.get(measure.key)))


def _foot(run: Run) -> list[RenderableType]:
    rows = f"{plural(run.scored, 'row')} scored; {unscored_sentence(run)}"
    if run.resumed_from is not None:
        rows += f"; resumed from row {count(run.resumed_from)}"
    steps = [(part, run.per_step(part)) for part in (*PARTS, "total")]
    times = "ms a step: " + ", ".join(f"{part} {milliseconds(s)}" for part, s in steps)
    lines = [rows, times]
    if run.rows_per_second is not None:
        lines.append(f"{duration(run.duration)} in all, {count(run.rows_per_second)} rows/s")
    return [Text(plain(text)) for text in lines]
