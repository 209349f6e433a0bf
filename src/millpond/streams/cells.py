"""What one cell means: a number, a missing value, or text that is coded as it first appears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset({"", "?", "na", "nan", "null"})

# A column in which at most this share of the known cells is no number is a numeric column, and the
# rows with such a cell are malformed. With more, it is a column of text.
STRAY_SHARE = 0.01


@dataclass(frozen=True)
class Column:
    """One column as numbers (n,), and which of its cells (n,) do not belong in it."""

    values: NDArray[np.float64]
    misfit: NDArray[np.bool_]
    coded: bool


def is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING


def number(cell: str, decimal: str = ".") -> float | None:
    """The number in a cell, NaN for a missing one, None for text."""
    if decimal != ".":
        cell = cell.replace(decimal, ".", 1)
    try:
        value = float(cell)
    except ValueError:
        return float("nan") if is_missing(cell) else None
    return None if "_" in cell else value  # float() takes 1_000; as a cell it is an identifier


def numeric_column(cells: Sequence[str], decimal: str = ".") -> Column:
    """A column that is declared to hold numbers; text in it is a misfit."""
    values = _all_numbers(cells)
    if values is not None:
        return Column(values, np.zeros(len(cells), np.bool_), coded=False)
    parsed = [number(cell, decimal) for cell in cells]
    misfit = np.fromiter((value is None for value in parsed), np.bool_, len(parsed))
    values = np.array([float("nan") if value is None else value for value in parsed])
    return Column(values, misfit, coded=False)


def _all_numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """What `number` makes of the cells, at a fraction of the time, where every cell is one."""
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    return None if "_" in "".join(cells) else values


def coded_column(cells: Sequence[str], codes: dict[str, int] | None = None) -> Column:
    """Codes of nominal or text cells: those declared, or 0, 1, 2 ... in order of first appearance.

    First appearance never looks ahead: a prefix of a stream is coded as the whole stream is.
    """
    fixed = codes is not None
    code = dict(codes or {})
    values = np.full(len(cells), np.nan)
    misfit = np.zeros(len(cells), np.bool_)
    for row, cell in enumerate(map(str.strip, cells)):
        if cell in code:
            values[row] = code[cell]
        elif is_missing(cell):
            continue
        elif fixed:
            misfit[row] = True
        else:
            values[row] = code[cell] = len(code)
    return Column(values, misfit, coded=True)


def guessed_column(cells: Sequence[str], decimal: str = ".") -> Column:
    """A column without a declaration: numbers when nearly all of its known cells are."""
    column = numeric_column(cells, decimal)
    strays = int(column.misfit.sum())
    if strays == 0:
        return column
    known = len(cells) - int((np.isnan(column.values) & ~column.misfit).sum())
    return column if strays <= STRAY_SHARE * known else coded_column(cells)
