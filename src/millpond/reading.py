"""Rows of any kind -> cells: dicts, sequences, arrays, and the frames and rows of pandas and Polars.

A cell is a float (as float32 holds it), None where the value is missing, or a category: text, or anything
else that is hashable and not a number. A row comes out as

    a dict of cells by feature name,
    an array (d,) of float32, NaN where missing, if it has no names and holds numbers alone, or
    a tuple of cells, if it has no names and holds a category.

Nothing here depends on what was read before but ``by_name``: whether earlier rows had names. Frames are
known by what they can do, so that neither library is imported.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.errors import BadInput

Cell = float | Hashable | None
Cells = dict[Hashable, Cell] | NDArray[np.float32] | tuple[Cell, ...]

_NUMBERS = frozenset({float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_})
"""The types of most numbers; what else can be turned into one is found cell by cell."""
_BEYOND = (2 - 2.0**-24) * 2.0**127
"""The smallest number that float32 rounds to infinity."""
_NO_NUMBERS = (date, time, timedelta, np.datetime64, np.timedelta64, complex)


def read_row(x: Any, by_name: bool | None = None) -> Cells:
    """One row; with ``by_name`` False, a row that could have names is read by position."""
    if isinstance(x, Mapping):
        return _named(list(x), list(x.values()))
    if isinstance(x, np.ndarray):
        return _array(x)
    if _is_table(x):
        raise BadInput(
            "a table where one row is expected: use partial_fit, predict or predict_proba"
        )
    if hasattr(x, "iloc"):  # a row of a pandas frame
        return _cells(x.index.tolist(), x.tolist(), by_name)
    if isinstance(x, str | bytes | Set) or not hasattr(x, "__len__") or not hasattr(x, "__iter__"):
        raise BadInput(f"a row must be a dict or a sequence, not {type(x).__name__}")
    names = getattr(x, "_fields", None)  # a named tuple
    return _unnamed(list(x)) if names is None else _cells(list(names), list(x), by_name)


def read_rows(X: Any, by_name: bool | None = None) -> list[Cells]:
    """The rows of a 2-D array, of a pandas or Polars frame, or of a list of rows of any kind."""
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise BadInput(f"rows must come as a 2-D array, not shape {X.shape}")
        return _matrix(X) if X.dtype.kind in "biuf" else [_array(row) for row in X]
    if _is_table(X):
        return _frame(X, by_name)
    if isinstance(X, str | bytes | Set | Mapping) or not hasattr(X, "__iter__"):
        raise BadInput(f"rows must come as a 2-D array, a frame or a list, not {type(X).__name__}")
    return [read_row(x, by_name) for x in X]


def _is_table(x: Any) -> bool:
    """Has it columns? A lazy frame is not asked for them: its class knows, and working them out warns."""
    return hasattr(type(x), "columns") or hasattr(x, "columns")


def same(cells: Cells) -> Hashable:
    """The same for rows that are equal, however much is learned in between."""
    if isinstance(cells, np.ndarray):
        return (cells + 0.0).tobytes()  # -0.0 + 0.0 is 0.0
    if isinstance(cells, tuple):
        return cells
    return frozenset((name, cell) for name, cell in cells.items() if cell is not None)


def flat(cells: Cells) -> bytes | tuple[Any, ...]:
    """A row in a form that can be saved: bytes, (True, (name, cell), ...) or (False, cell, ...)."""
    if isinstance(cells, np.ndarray):
        return cells.tobytes()
    return (True, *cells.items()) if isinstance(cells, dict) else (False, *cells)


def unflat(stored: bytes | tuple[Any, ...]) -> Cells:
    if isinstance(stored, bytes):
        return np.frombuffer(stored, dtype=np.float32).copy()
    named, *cells = stored
    return dict(cells) if named else tuple(cells)


def is_missing(value: Any) -> bool:
    """None, and whatever is not equal to itself: NaN, NaT, and pandas' NA, which will not say."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError, ArithmeticError):
        return type(value).__name__ in ("NAType", "Decimal")  # a signalling Decimal NaN


# -- one row -------------------------------------------------------------------------------------


def _cells(names: list[Any], values: list[Any], by_name: bool | None) -> Cells:
    """A row that has names, unless they are only its positions or are not to be used."""
    if by_name is False or names == list(range(len(names))):
        return _unnamed(values)
    return _named(names, values)


def _named(names: Sequence[Hashable], values: list[Any]) -> dict[Hashable, Cell]:
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise BadInput(f"there are several features of the name {twice!r}")
    return {name: _cell(value, name) for name, value in zip(names, values, strict=True)}


def _unnamed(values: list[Any]) -> Cells:
    if not values:
        raise BadInput("a row must have at least one feature")
    if _NUMBERS.issuperset(map(type, values)):
        return _numbers(values)
    cells = tuple(_cell(value, place) for place, value in enumerate(values))
    if all(cell is None or isinstance(cell, float) for cell in cells):
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float32)
    return cells


def _array(x: NDArray[Any]) -> Cells:
    if x.ndim != 1:
        raise BadInput(f"a row must be a 1-D sequence of at least one value, not shape {x.shape}")
    if x.dtype.kind in "biuf" and len(x):
        return _numbers(x)
    return _unnamed(list(x))


def _numbers(values: Any) -> NDArray[np.float32]:
    """Numbers (..., d) as float32, every NaN with the same bits; infinities are refused."""
    try:
        wide = np.asarray(values, dtype=np.float64)
    except OverflowError:
        raise BadInput("a row holds an integer that is too large for a number") from None
    with np.errstate(over="ignore"):
        row = wide.astype(np.float32)
    if not np.isfinite(row).all():
        infinite = np.argwhere(np.isinf(row))
        if len(infinite):
            raise _not_finite(int(infinite[0, -1]), wide[tuple(infinite[0])])
        row[np.isnan(row)] = np.nan
    return row


def _cell(value: Any, name: Hashable) -> Cell:
    """One value as a cell; what it is called is for the error."""
    if isinstance(value, str):
        return str(value) if type(value) is np.str_ else value
    if type(value) is float:  # most cells: what follows comes to the same
        if -_BEYOND < value < _BEYOND:
            return float(np.float32(value))
        if value != value:
            return None
    if is_missing(value):
        return None
    if isinstance(value, _NO_NUMBERS):
        raise BadInput(
            f"feature {name!r} is a {type(value).__name__}: turn it into numbers first "
            "(days since a date, hour of the day ...)"
        )
    if isinstance(value, int) or (hasattr(value, "__float__") and not isinstance(value, bytes)):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise BadInput(f"feature {name!r} is {_shown(value)}: not one number") from None
        if abs(number) >= _BEYOND:
            raise _not_finite(name, number)
        return None if number != number else float(np.float32(number))
    try:
        hash(value)
    except TypeError:
        raise BadInput(
            f"feature {name!r} is a {type(value).__name__}: a value must be a number or hashable"
        ) from None
    hashable: Hashable = bytes(value) if type(value) is np.bytes_ else value
    return hashable


def _not_finite(name: Hashable, value: float) -> BadInput:
    return BadInput(
        f"feature {name!r} is {value}: not finite in float32; use NaN for a missing value"
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


# -- many rows -----------------------------------------------------------------------------------


def _matrix(X: NDArray[Any]) -> list[Cells]:
    if not X.shape[1]:
        raise BadInput("a row must have at least one feature")
    return list(_numbers(X))


def _frame(X: Any, by_name: bool | None) -> list[Cells]:
    if not (hasattr(X, "iloc") or hasattr(X, "get_column")):  # a lazy frame's columns cost work
        raise BadInput(
            f"rows cannot be taken from a {type(X).__name__}: collect or convert it first"
        )
    names = list(X.columns)
    columns: Iterable[list[Any]]
    if hasattr(X, "iloc"):  # pandas
        columns = [X.iloc[:, place].tolist() for place in range(len(names))]
    else:  # Polars
        columns = [X.get_column(name).to_list() for name in names]
    if not names:
        raise BadInput("a row must have at least one feature")
    return [_cells(names, list(values), by_name) for values in zip(*columns, strict=True)]
