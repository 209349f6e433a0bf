"""Which lanes a call is about, in the forms that the arrays are addressed by."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


class Lanes:
    """Some lanes, by number; consecutive ones are addressed by a slice, so that nothing is copied."""

    __slots__ = ("index", "numbers")

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        self.numbers = numbers
        first, n = int(numbers[0]), len(numbers)
        consecutive = n == 1 or bool((np.diff(numbers) == 1).all())
        self.index: slice | NDArray[np.int64] = slice(first, first + n) if consecutive else numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def runs(self, longest: int) -> Iterator[tuple[slice, slice]]:
        """(place in this list, lanes) of stretches of at most `longest` consecutive lanes."""
        breaks = np.flatnonzero(np.diff(self.numbers) != 1) + 1
        bounds = [0, *breaks.tolist(), len(self.numbers)]
        for start, stop in pairwise(bounds):
            for begin in range(start, stop, longest):
                end = min(stop, begin + longest)
                first = int(self.numbers[begin])
                yield slice(begin, end), slice(first, first + end - begin)
