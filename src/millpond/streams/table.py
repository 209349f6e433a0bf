"""`Table`: what every reader returns, and the one way from it to a `Stream`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.errors import BadOption, StreamError
from millpond.streams.cells import Column, is_missing, number
from millpond.streams.stream import SINGLE_CLASS_NOTE, Stream, encode, refuse_infinity

# A stream may have a bad row or two; a file with more than this share (and this many) of them is
# another format than it was taken for.
BAD_SHARE = 0.01
BAD_ROWS = 10

REGRESSION_LABELS = 1000


@dataclass(frozen=True)
class BadRow:
    """A row that is left out, by its line in the file."""

    line: int
    why: str


@dataclass(frozen=True)
class Table:
    """Columns of numbers (n, d), a label string a row, and the line that each row is from."""

    X: NDArray[np.float32]
    labels: Sequence[str]
    feature_names: tuple[str, ...]
    lines: NDArray[np.int64] | None = None
    bad_rows: tuple[BadRow, ...] = ()
    notes: tuple[str, ...] = ()

    def without(self, bad: Sequence[BadRow]) -> Table:
        """The table less `bad` rows that it still holds; refused if bad rows are too many."""
        _refuse_too_many((*self.bad_rows, *bad), len(self.labels) + len(self.bad_rows))
        if not bad or self.lines is None:
            return self
        keep = ~np.isin(self.lines, [row.line for row in bad])
        labels = [label for label, stays in zip(self.labels, keep, strict=True) if stays]
        first = {row.line: row for row in reversed((*self.bad_rows, *bad))}
        return replace(
            self,
            X=self.X[keep],
            labels=labels,
            lines=self.lines[keep],
            bad_rows=tuple(first[line] for line in sorted(first)),
        )


def assemble(
    columns: Sequence[Column], cells: Sequence[Sequence[str]], lines: NDArray[np.int64]
) -> tuple[NDArray[np.float32], list[int], list[BadRow]]:
    """Columns side by side; a row counts once as bad, for its first misfit."""
    with np.errstate(over="ignore"):  # too large for float32: refused later, with its place
        X = np.array([column.values for column in columns], np.float32).T
    bad: dict[int, BadRow] = {}
    for j, column in enumerate(columns):
        for row in np.flatnonzero(column.misfit).tolist():
            why = f"{cells[j][row].strip()[:40]!r} where a number or a declared value belongs"
            bad.setdefault(row, BadRow(int(lines[row]), why))
    coded = [j for j, column in enumerate(columns) if column.coded]
    return np.ascontiguousarray(X), coded, list(bad.values())


def target_column(target: str | int | None, names: Sequence[str] | None, width: int) -> int:
    """The label's column: the last one, a (negative) position, or a name of the header."""
    if width < 2:
        raise StreamError("one column only: a stream needs a label and at least one feature")
    if target is None:
        return width - 1
    if isinstance(target, str):
        found = [k for k, name in enumerate(names or ()) if name == target]
        if len(found) == 1:
            return found[0]
        if found:
            raise BadOption(f"{len(found)} columns are called {target!r}; give the label's number")
        if not re.fullmatch(r"-?[0-9]{1,9}", target):
            raise BadOption(_no_such_column(target, names, width))
        target = int(target)
    if isinstance(target, bool) or not isinstance(target, Integral):
        raise BadOption(f"target is a column's name or number, not {target!r}")
    if not -width <= target < width:
        raise BadOption(f"no column {target}: the file has {width}, numbered 0 to {width - 1}")
    return int(target) % width


def _no_such_column(target: str, names: Sequence[str] | None, width: int) -> str:
    if not names:
        return (
            f"no column {target!r}: the file has no header line; "
            f"give the label's number, 0 to {width - 1} (or -1 for the last)"
        )
    near = difflib.get_close_matches(target, names, n=3, cutoff=0.5)
    if near:
        return f"no column {target!r}: did you mean {' or '.join(map(repr, near))}?"
    shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    return f"no column {target!r}: the file has {shown}"


def _refuse_too_many(bad: Sequence[BadRow], total: int) -> None:
    if len(bad) > BAD_ROWS and len(bad) > BAD_SHARE * total:
        first = min(bad, key=lambda row: row.line)
        raise StreamError(
            f"{len(bad)} of {total} rows are malformed, first at line {first.line}: {first.why}"
        )


def to_stream(table: Table, name: str) -> Stream:
    """The stream of a user's file: rows without a label left out, labels by sorted strings."""
    notes = [*table.notes, *bad_row_notes(table.bad_rows)]
    X, labels, lines = table.X, table.labels, table.lines
    missing = {label for label in set(labels) if is_missing(label)}
    if missing:
        keep = np.fromiter((label not in missing for label in labels), np.bool_, len(labels))
        notes.append(f"{len(keep) - int(keep.sum())} rows without a label left out")
        X, lines = X[keep], None if lines is None else lines[keep]
        labels = [label for label in labels if label not in missing]
    if not len(labels):
        raise StreamError("; ".join(["no row that can be used", *notes]))
    y, classes = encode(labels)
    _refuse_regression(classes)
    refuse_infinity(X, table.feature_names, lines)
    if len(classes) == 1:
        notes.append(SINGLE_CLASS_NOTE)
    return Stream(
        name, X, y, table.feature_names, classes, dropped=len(table.bad_rows), notes=tuple(notes)
    )


def bad_row_notes(bad: Sequence[BadRow]) -> list[str]:
    if not bad:
        return []
    ordered = sorted(bad, key=lambda row: row.line)
    shown = "; ".join(f"line {row.line}: {row.why}" for row in ordered[:5])
    more = f"; and {len(bad) - 5} more" if len(bad) > 5 else ""
    return [f"{len(bad)} malformed row{'s' * (len(bad) > 1)} dropped ({shown}{more})"]


def coded_note(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return [f"text coded by order of first appearance in {len(names)} feature column(s): {shown}"]


def unique_names(names: Sequence[Any]) -> tuple[str, ...]:
    """Column names with empty ones filled in and repeated ones told apart."""
    taken: set[str] = set()
    result = []
    for k, raw in enumerate(names):
        base = str(raw).strip() or f"f{k}"
        name, n = base, 1
        while name in taken:
            n += 1
            name = f"{base}_{n}"
        taken.add(name)
        result.append(name)
    return tuple(result)


def _refuse_regression(classes: Sequence[str]) -> None:
    if len(classes) <= REGRESSION_LABELS:
        return
    values = [number(label) for label in classes]
    fractions = sum(value is not None and not value.is_integer() for value in values)
    if None not in values and fractions > len(values) / 2:
        raise StreamError(
            f"the label column looks like a regression target: {len(classes)} different numbers; "
            "name the label with target=..."
        )
