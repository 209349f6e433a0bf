"""Cells -> float32 vectors, adaptively: columns and categories get their numbers as they are learned.

A column holds numbers or categories; its first learned value that is not missing decides. Categories
are coded 0, 1, 2 ... in the order in which they are learned. A feature by a new name makes the rows wider
by one column. Reading a row for a prediction changes nothing: a category not learned yet stands for the
next code, which it would get if its row were learned now, and a new feature is left out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.errors import BadInput
from millpond.reading import Cell, Cells

Codes = dict[Hashable, int]


class Encoder:
    """The columns known so far, and the codes of their categories."""

    def __init__(self) -> None:
        self.by_name: bool | None = None
        """Whether the rows have names; None before the first one is learned."""
        self._places: dict[Hashable, int] = {}
        """feature (its name or position) -> column"""
        self._kinds: dict[Hashable, Codes | None] = {}
        """feature -> codes, or None for numbers; a feature without any value yet is not here"""
        self._plain = False  # every column holds numbers: most rows need no look at their cells

    @property
    def width(self) -> int:
        return len(self._places)

    def check(self, rows: Sequence[Cells]) -> None:
        """BadInput if these rows could not be learned one after the other; changes nothing."""
        if all(map(self._fits, rows)):
            return
        by_name, keys = self.by_name, dict.fromkeys(self._places)
        numeric = {key: codes is None for key, codes in self._kinds.items()}
        for cells in rows:
            named = isinstance(cells, dict)
            if named and by_name is False:
                raise BadInput("rows came as sequences so far; a dict cannot be matched to them")
            if not keys and not named:
                keys = dict.fromkeys(range(len(cells)))
            if not named and len(cells) != len(keys):
                raise BadInput(
                    f"this row has {len(cells)} features, the rows before it had {len(keys)}"
                )
            by_name = named or bool(by_name)
            for key, cell in _items(cells, keys):
                keys.setdefault(key)
                if cell is None:
                    continue
                is_number = isinstance(cell, float)
                if numeric.setdefault(key, is_number) and not is_number:
                    raise BadInput(
                        f"feature {key!r} is {cell!r}, but its values so far were numbers"
                    )
            if not keys:
                raise BadInput("a row must have at least one feature")

    def vector(self, cells: Cells) -> NDArray[np.float32]:
        """(width,) the row as a query."""
        self.check([cells])
        return self._vector(cells)

    def learn(self, cells: Cells) -> NDArray[np.float32]:
        """(width,) a row that was checked, after its columns and categories were taken in."""
        if not self._fits(cells):
            if self.by_name is None:
                self.by_name = isinstance(cells, dict)
            keys = self._places or range(len(cells))
            for key, cell in list(_items(cells, keys)):
                self._places.setdefault(key, len(self._places))
                if cell is not None:
                    self._kinds.setdefault(key, None if isinstance(cell, float) else {})
            self._see_whether_plain()
        if not self._plain:
            for key, cell in _items(cells, self._places):
                codes = self._kinds.get(key)
                if codes is not None and cell is not None:
                    codes.setdefault(cell, len(codes))
        return self._vector(cells)

    def _fits(self, cells: Cells) -> bool:
        """Whether a row brings no new feature and no first value of one, and can be learned."""
        if isinstance(cells, dict):
            if not self.by_name:
                return False
        elif len(cells) != self.width:
            return False
        elif self._plain and isinstance(cells, np.ndarray):
            return True
        kinds, places = self._kinds, self._places
        for key, cell in _items(cells, places):
            if cell is None:
                if key not in places:
                    return False
            elif key not in kinds or (kinds[key] is None and not isinstance(cell, float)):
                return False
        return True

    def _vector(self, cells: Cells) -> NDArray[np.float32]:
        if self._plain and isinstance(cells, np.ndarray):
            return cells
        vector = [math.nan] * self.width
        for key, cell in _items(cells, self._places):
            place, codes = self._places.get(key), self._kinds.get(key)
            if place is None or cell is None:
                continue
            if codes is not None:
                vector[place] = codes.get(cell, len(codes))
            else:  # a category here is the first value of its column
                vector[place] = cell if isinstance(cell, float) else 0.0
        return np.array(vector, dtype=np.float32)

    def _see_whether_plain(self) -> None:
        kinds = self._kinds.values()
        known = 0 < len(kinds) == self.width
        self._plain = known and all(codes is None for codes in kinds)

    # -- saving ----------------------------------------------------------------------------------

    def state(self) -> tuple[Any, ...]:
        """(by name?, (feature, kind), ...): kind is True for numbers, None where not known yet, or
        the categories in the order of their codes."""
        columns = []
        for key in self._places:
            codes = self._kinds.get(key)
            kind = tuple(codes) if codes is not None else (True if key in self._kinds else None)
            columns.append((key, kind))
        return (self.by_name, *columns)

    def restore(self, state: tuple[Any, ...]) -> None:
        self.by_name, *columns = state
        self._places = {key: place for place, (key, _) in enumerate(columns)}
        self._kinds = {
            key: None if kind is True else {category: code for code, category in enumerate(kind)}
            for key, kind in columns
            if kind is not None
        }
        self._see_whether_plain()


def _items(cells: Cells, keys: Iterable[Hashable]) -> Iterator[tuple[Hashable, Cell]]:
    """(feature, cell) of a row; one without names has its features in the columns' order."""
    if isinstance(cells, dict):
        return iter(cells.items())
    if isinstance(cells, np.ndarray):
        numbers = [None if v != v else v for v in cells.tolist()]
        return zip(keys, numbers, strict=False)
    return zip(keys, cells, strict=False)
