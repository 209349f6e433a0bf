"""A table of the paper: cells that hold a number and where it comes from, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

DASH = "–"
PREFIX = "*"
"""Stands behind each number that a prefix of a stream gave."""

Mark = Literal["", "best", "second"]
Kind = Literal["ours", "paper", "sum"]


@dataclass(frozen=True)
class Cell:
    """What one place of a table shows."""

    text: str
    value: float | str | None = None
    missing: str = ""
    """why there is no number; such a cell shows a dash"""
    prefix: bool = False
    """computed on a prefix of the stream only"""
    mark: Mark = ""

    @property
    def shown(self) -> str:
        if self.missing:
            return DASH
        return self.text + PREFIX if self.prefix and self.text else self.text


def absent(why: str) -> Cell:
    return Cell("", missing=why)


def words(text: str) -> Cell:
    return Cell(text, text or None)


def number(
    value: float | None, decimals: int = 2, *, prefix: bool = False, signed: bool = False
) -> Cell:
    """A number with so many decimals; blank where there is none and none was to be."""
    if value is None:
        return Cell("")
    form = f"{'+' if signed else ''},.{decimals}f"
    return Cell(format(value, form), float(value), prefix=prefix)


def percent(fraction: float | None, *, prefix: bool = False) -> Cell:
    return number(None if fraction is None else 100 * fraction, prefix=prefix)


@dataclass(frozen=True)
class Row:
    """A row header and its cells; ``paper`` rows hold the paper's numbers, ``sum`` rows means."""

    head: str
    cells: tuple[Cell, ...]
    kind: Kind = "ours"


@dataclass(frozen=True)
class Sheet:
    """A table with a title, and the sentences under it."""

    key: str
    title: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def prefix(self) -> bool:
        return any(cell.prefix for row in self.rows for cell in row.cells)

    def lacking(self) -> dict[str, list[str]]:
        """Each reason for which cells are empty, with the places where."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            reasons = {cell.missing for cell in row.cells if cell.missing}
            if len(reasons) == 1 and row.cells[0].missing:  # the row as a whole
                found.setdefault(reasons.pop(), []).append(row.head)
                continue
            for column, cell in zip(self.head[1:], row.cells, strict=True):
                if cell.missing:
                    found.setdefault(cell.missing, []).append(f"{row.head} {column}".strip())
        return found

    def sentences(self) -> list[str]:
        """The notes, what the mark means if it is used, and what could not be run."""
        said = list(self.notes)
        if self.prefix:
            said.append(f"{PREFIX} on a prefix of the stream only: says little about the whole.")
        for why, places in self.lacking().items():
            said.append(f"{DASH} {_listed(places)}: {why}")
        return said

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "key": self.key,
            "title": self.title,
            "head": list(self.head),
            "rows": [_row_document(row) for row in self.rows],
            "notes": self.sentences(),
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Sheet:
        """What `document` gave; its sentences are all notes now."""
        rows = tuple(
            Row(row["head"], tuple(Cell(**{"text": "", **c}) for c in row["cells"]), row["kind"])
            for row in document["rows"]
        )
        said = tuple(document["notes"])
        return cls(document["key"], document["title"], tuple(document["head"]), rows, said)

    def markdown(self) -> str:
        """For the documentation: a pipe table, with the paper's rows in italics."""
        lines = [
            f"| {' | '.join(self.head)} |",
            f"|---|{'---:|' * (len(self.head) - 1)}",
        ]
        for row in self.rows:
            cells = [_dressed(cell, row.kind) for cell in row.cells]
            head = f"*{row.head.strip()}*" if row.kind == "paper" else row.head
            lines.append(f"| {head} | {' | '.join(cells)} |")
        return "\n".join([*lines, "", *(f"{said}\n" for said in self.sentences())]).rstrip() + "\n"


def ranked(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """The same cells, the highest value marked best and the next second; ties share a mark.

    Where one is missing nothing is marked: it might be the best.
    """
    there = list(cells)
    if any(cell.missing for cell in there):
        return tuple(there)
    values = sorted(
        {c.text: c.value for c in there if isinstance(c.value, float)}.items(),
        key=lambda item: -float(item[1]),
    )
    marks: dict[str, Mark] = {}
    for (text, _), mark in zip(values, get_args(Mark)[1:], strict=False):
        marks[text] = mark
    return tuple(
        Cell(c.text, c.value, c.missing, c.prefix, marks.get(c.text, "") if c.text else "")
        for c in there
    )


def _row_document(row: Row) -> dict[str, Any]:
    cells = [
        {k: v for k, v in asdict(cell).items() if v not in (None, "", False)} for cell in row.cells
    ]
    return {"head": row.head, "kind": row.kind, "cells": cells}


def _dressed(cell: Cell, kind: Kind) -> str:
    text = cell.shown.replace("|", "\\|").replace("*", "\\*")
    if not text:
        return ""
    if kind == "paper":
        return f"*{text}*"
    return f"**{text}**" if cell.mark == "best" else text


def _listed(places: list[str]) -> str:
    """At most six of them by name, each once: columns may share one."""
    places = list(dict.fromkeys(places))
    shown = ", ".join(places[:6])
    return f"{shown} and {len(places) - 6} more" if len(places) > 6 else shown
