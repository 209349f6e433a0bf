"""The command line's progress: done of all, rate, remaining time; on stderr, for people only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)


@contextmanager
def progress_bar(errors: Console, unit: str) -> Iterator[Progress]:
    amount = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    columns = (
        BarColumn(bar_width=24),
        amount,
        _RateColumn(unit),
        TextColumn("{task.fields[status]}"),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    hidden = not errors.is_terminal  # a log would get nothing but an empty line
    with Progress(*columns, console=errors, transient=True, disable=hidden) as bar:
        yield bar


class Arrivals:
    """Shows the bytes of one download: `progress(done, total)`."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task: TaskID | None = None

    def __call__(self, done: int, total: int | None) -> None:
        if self._task is None:
            self._task = self._bar.add_task("", total=total, status="")
        self._bar.update(self._task, completed=done, total=total)


class _RateColumn(TextColumn):
    def __init__(self, unit: str) -> None:
        super().__init__("")
        self._unit = unit

    def render(self, task: Any) -> Any:
        speed = task.speed or 0.0
        if self._unit == "bytes":
            return f"{speed / 1e6:.1f} MB/s"
        return f"{speed:,.0f} {self._unit}/s"
