"""The decimal numbers that float32 values were read from.

A stream holds float32. MOA reads decimal text into float64, and a tree's split points, hence its
accuracy, move when every value moves by a rounding of float32 (VFDT on NOAA by 0.1 points). The shortest
decimal that rounds to a float32 is what the file had, unless the file had more than some 7 digits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST = 9  # decimal places that are tried for all values at once


def shortest_decimals(X: NDArray[np.float32]) -> NDArray[np.float64]:
    """For each value the float64 of the shortest decimal that rounds to it.

    Whole numbers, infinities and NaN stay what they are.
    """
    wide = X.astype(np.float64)
    found = wide.copy()
    left = np.isfinite(X) & (wide != np.rint(wide))
    for places in range(1, MOST + 1):
        if not left.any():
            return found
        rounded = np.round(wide[left], places)
        fits = rounded.astype(np.float32) == X[left]
        where = np.flatnonzero(left.ravel())[fits]
        found.ravel()[where] = rounded[fits]
        left.ravel()[where] = False
    found[left] = [float(str(value)) for value in X[left]]  # tiny ones, in scientific notation
    return found
