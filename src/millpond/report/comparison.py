"""Finished runs beside each other, a table for each stream, with the label-only rules among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from millpond.report.formats import count, milliseconds, percent, shorten
from millpond.report.run import Run, read
from millpond.report.terminal import plain, printable

COLUMNS = ("learner", "accuracy", "kappa", "ECE", "ms a step")


def comparison(results: Sequence[Mapping[str, Any]]) -> Group:
    """A rich renderable of runs given as their `result.json`; the most accurate first."""
    runs = sorted((read(result) for result in results), key=_place)
    return Group(*[_table(list(own)) for _, own in groupby(runs, key=_rows_of)])


def _rows_of(run: Run) -> tuple[str, int, int, str]:
    """Runs are comparable where the scored rows are the same ones."""
    protocol = {k: v for k, v in run.protocol.items() if k != "window"}
    return run.stream_name, run.rows, run.scored, str(sorted(protocol.items()))


def _place(run: Run) -> tuple[Any, ...]:
    return *_rows_of(run), -(run.accuracy or 0.0)


def _table(runs: list[Run]) -> Table:
    first = runs[0]
    table = Table(
        box=None,
        pad_edge=False,
        header_style="bold",
        title=Text(f"{printable(first.stream_name)}, {count(first.scored)} rows scored", "bold"),
        title_justify="left",
    )
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == "learner" else "right")
    lines = [(run.accuracy or 0.0, _cells(run), "") for run in runs]
    lines += [
        (floor.accuracy, [f"{floor.name} (labels only)", percent(floor.accuracy)], "dim")
        for floor in first.floors
    ]
    for _, cells, style in sorted(lines, key=lambda line: -line[0]):
        table.add_row(*(Text(plain(cell)) for cell in cells), style=style)
    return table


def _cells(run: Run) -> list[str]:
    kappa = run.cumulative.get("kappa")
    return [
        shorten(printable(_learner(run)), 40),
        percent(run.accuracy),
        percent(kappa),
        percent(run.cumulative.get("ece")),
        milliseconds(run.per_step("total")),
    ]


def _learner(run: Run) -> str:
    """The name, and the threshold where there is one: what runs of one learner mostly differ in."""
    tau = run.learner.get("tau")
    return run.learner_name + ("" if tau is None else f", tau {tau}")
