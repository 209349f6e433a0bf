"""CSV, TSV and their relations: with or without a header, any of the usual delimiters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from millpond.errors import StreamError
from millpond.streams.cells import guessed_column, number
from millpond.streams.rows import SPACES, Rows, read_rows
from millpond.streams.table import (
    BadRow,
    Table,
    assemble,
    coded_note,
    target_column,
    unique_names,
)

# Rows looked at before the delimiter and the header are decided.
_SAMPLE = 100


def read_delimited(
    text: str,
    target: str | int | None = None,
    *,
    delimiter: str | None = None,
    headerless: bool = False,
) -> Table:
    """The table in `text`; what is not told about its form is found out."""
    delimiter = delimiter or sniff_delimiter(text)
    rows = read_rows(text, delimiter)
    # Where ";" parts the cells, "," is the decimal sign.
    decimal = "," if delimiter == ";" else "."
    names = None if headerless else _header_names(rows, target, decimal)
    words = all(number(cell, decimal) is None for cell in rows.cells(0))
    if names is None and len(rows) == 1 and words:
        raise StreamError("the file holds one line, of names as it seems, and no rows")
    label = target_column(target, names, rows.width)
    features = [k for k in range(rows.width) if k != label]
    body = rows.since(1) if names else rows
    X, coded, misfits = _features(body, features, decimal)
    feature_names = unique_names([names[k] if names else f"f{k}" for k in features])
    notes = coded_note([feature_names[j] for j in coded])
    labels = body.column(label)
    table = Table(X, labels, feature_names, body.numbers, rows.bad_rows, tuple(notes))
    return table.without(misfits)


def sniff_delimiter(text: str) -> str:
    """The character that parts the first lines into the same number (> 1) of cells.

    ";" and tab before ",", since "," is also a decimal sign.
    """
    lines = [line for line in text[: 1 << 16].split("\n") if line.strip()][:_SAMPLE]
    best, score = SPACES, 0.0
    for candidate in (";", "\t", ","):
        counts = Counter(line.count(candidate) for line in lines)
        del counts[0]
        agree = max(counts.values(), default=0) / len(lines)
        if agree > score:
            best, score = candidate, agree
    # Blanks part cells only where nothing else does: labels may be of several words.
    words = Counter(len(line.split()) for line in lines)
    return best if score >= 0.5 or max(words.values()) / len(lines) < score else SPACES


def _header_names(rows: Rows, target: str | int | None, decimal: str) -> list[str] | None:
    """The first line's cells where that line is a header."""
    if rows.bad_rows and min(row.line for row in rows.bad_rows) < rows.numbers[0]:
        return None  # the file's first line has another width: it is a malformed row
    names = [cell.strip() for cell in rows.cells(0)]
    # A target such as "3" is a column's number, not a cell of the first row that happens to be 3.
    named = isinstance(target, str) and number(target) is None and target in names
    return names if named or _heads_numbers(rows, names, decimal) else None


def _heads_numbers(rows: Rows, first: Sequence[str], decimal: str) -> bool:
    """Whether a column has text in the first row and nothing but numbers below it."""
    below = [rows.cells(row) for row in range(1, min(len(rows), 1 + _SAMPLE))]
    for k, cell in enumerate(first):
        if number(cell, decimal) is not None:
            continue
        values = [number(row[k], decimal) for row in below]
        if None not in values and not all(value != value for value in values):
            return True
    return False


def _features(
    rows: Rows, features: Sequence[int], decimal: str
) -> tuple[NDArray[np.float32], list[int], list[BadRow]]:
    """Feature matrix (n, d), the positions of coded columns, and rows with a misfit cell."""
    if decimal == ".":
        X = rows.as_numbers(features)
        if X is not None:
            return X, [], []
    cells = rows.columns(features)
    return assemble([guessed_column(column, decimal) for column in cells], cells, rows.numbers)
