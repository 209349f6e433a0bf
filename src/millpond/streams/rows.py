"""`Rows`: the rows of a text file before their cells have a meaning.

Rows stay the lines they are for as long as that is possible, since NumPy's C reader makes numbers
of lines many times faster than Python makes numbers of cells. Quoted cells need the split.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import cast

import numpy as np
from numpy.typing import NDArray

from millpond.errors import StreamError
from millpond.streams.table import BadRow

SPACES = " "


@dataclass(frozen=True)
class Rows:
    """Rows of one width: unsplit lines, or lists of cells; `numbers` are their lines in the file.

    `delimiter` is one character; a space stands for a run of blanks.
    """

    items: Sequence[str] | Sequence[list[str]]
    numbers: NDArray[np.int64]
    delimiter: str
    width: int
    bad_rows: tuple[BadRow, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def cells(self, row: int) -> list[str]:
        return _split(self.items[row], self.delimiter)

    def since(self, first: int) -> Rows:
        return Rows(
            self.items[first:], self.numbers[first:], self.delimiter, self.width, self.bad_rows
        )

    def columns(self, chosen: Sequence[int]) -> list[Sequence[str]]:
        """The cells of several columns in one pass over the rows."""
        if len(chosen) < 2 or not self.items:
            return [list(self._column(k)) for k in chosen]
        pick = itemgetter(*chosen)
        return list(zip(*(pick(_split(item, self.delimiter)) for item in self.items), strict=True))

    def column(self, k: int) -> list[str]:
        """The stripped cells of one column; cheap for the last, where labels mostly are."""
        return [cell.strip() for cell in self._column(k)]

    def _column(self, k: int) -> Iterator[str]:
        blanks = None if self.delimiter == SPACES else self.delimiter
        last = k == self.width - 1
        for item in self.items:
            if not isinstance(item, str):
                yield item[k]
            elif last:
                yield item.rsplit(blanks, 1)[-1]
            else:
                yield item.split(blanks, k + 1)[k]

    def as_numbers(self, columns: Sequence[int]) -> NDArray[np.float32] | None:
        """(n, columns) by NumPy's C reader, or None where a cell is no plain number."""
        if not self.items or not columns or not isinstance(self.items[0], str):
            return None
        try:
            numbers: NDArray[np.float32] = np.loadtxt(
                cast("Sequence[str]", self.items),
                dtype=np.float32,
                delimiter=None if self.delimiter == SPACES else self.delimiter,
                usecols=columns,
                comments=None,
                ndmin=2,
            )
        except ValueError:
            return None
        return numbers


def read_rows(text: str, delimiter: str) -> Rows:
    """The non-blank lines of the commonest width; the others are its `bad_rows`."""
    if '"' in text and delimiter != SPACES:
        cells, numbers = _quoted(text, delimiter)
        return of_one_width(cells, numbers, delimiter)
    lines = text.split("\n")
    kept = [number for number, line in enumerate(lines, 1) if line and not line.isspace()]
    if len(kept) < len(lines):
        lines = [lines[number - 1] for number in kept]
    return of_one_width(lines, np.array(kept, np.int64), delimiter)


def of_one_width(
    items: Sequence[str] | Sequence[list[str]],
    numbers: NDArray[np.int64],
    delimiter: str,
    width: int | None = None,
) -> Rows:
    """`Rows` of `width` cells, or else of the commonest number of cells (the larger on a tie)."""
    if not len(items):
        raise StreamError("the file holds no rows")
    counts = _widths(items, delimiter)
    if width is None:
        common = Counter(counts.tolist())
        width = max(common, key=lambda w: (common[w], w))
    ragged = np.flatnonzero(counts != width)
    bad = tuple(
        BadRow(int(numbers[row]), f"{counts[row]} fields, not {width}") for row in ragged.tolist()
    )
    if bad:
        keep = np.flatnonzero(counts == width)
        items = [items[row] for row in keep.tolist()]  # type: ignore[assignment]
        numbers = numbers[keep]
    return Rows(items, numbers, delimiter, width, bad)


def _widths(items: Sequence[str] | Sequence[list[str]], delimiter: str) -> NDArray[np.int64]:
    if delimiter == SPACES or (items and not isinstance(items[0], str)):
        return np.fromiter((len(_split(item, delimiter)) for item in items), np.int64, len(items))
    return np.fromiter((item.count(delimiter) for item in items), np.int64, len(items)) + 1


def _split(item: str | list[str], delimiter: str) -> list[str]:
    if not isinstance(item, str):
        return item
    return item.split() if delimiter == SPACES else item.split(delimiter)


def _quoted(text: str, delimiter: str) -> tuple[list[list[str]], NDArray[np.int64]]:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True, strict=True)
    cells, numbers, number = [], [], 1
    try:
        for row in reader:
            if len(row) > 1 or (row and row[0].strip()):
                cells.append(row)
                numbers.append(number)
            number = reader.line_num + 1  # a quoted cell may span lines: the next row's first one
    except csv.Error as error:
        raise StreamError(f"line {number}: a quoted cell is not well formed ({error})") from error
    return cells, np.array(numbers, np.int64)
