"""What a policy is: a score that gates the long bank, and a rule that picks the long row that goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from millpond.errors import BadOption
from millpond.policies.moments import ClassMoments

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Details:
    """Details that the paper's text leaves open. The defaults are what the authors' code does."""

    entropy_over: Literal["context", "seen"] = "context"
    """Entropy is divided by the log of the number of classes now in the context; ``"seen"`` divides by
    that of all classes seen so far, the C of the paper's equation for h(z): scores get smaller while
    classes are absent from the context."""

    standardise: Literal["eviction", "raw"] = "eviction"
    """phi is a z-score computed anew at each eviction, over the rows that take part in it; ``"raw"``
    compares features as they are, so that columns of large scale decide."""

    ties: Literal["older", "newer"] = "older"
    """Among equally close pairs the first in order of arrival is taken, and of two endpoints equally
    far from the centroid the older goes; ``"newer"`` turns both around."""

    class_ties: Literal["larger", "smaller"] = "larger"
    """Among equally frequent classes of the long bank the one of the larger code is thinned out;
    ``"smaller"`` takes the smaller code."""

    warm_fill: bool = True
    """Until the long bank is full, a candidate enters it whatever its score; with ``False`` the gate
    holds from the first candidate on."""

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if value not in allowed:
                raise BadOption(
                    f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}"
                )


_ALLOWED: dict[str, tuple[object, ...]] = {
    "entropy_over": ("context", "seen"),
    "standardise": ("eviction", "raw"),
    "ties": ("older", "newer"),
    "class_ties": ("larger", "smaller"),
    "warm_fill": (True, False),
}


class Banks(NamedTuple):
    """One lane's rows when its long bank has one too many (L long, S short rows, d features)."""

    X: NDArray[np.float32]
    """(slots, d)"""
    y: IntArray
    """(slots,) class codes"""
    long: IntArray
    """(L,) slots in order of arrival"""
    long_counts: Mapping[int, int]
    """how many long rows each class has"""
    short: IntArray
    """(S,) slots in order of arrival"""
    moments: ClassMoments | None
    """each class's mean and variance over both banks, for policies that keep them"""


Score = Callable[[FloatArray, int], FloatArray]
"""(k, C) positive probabilities of C >= 2 classes, and the class count of the log -> (k,) in [0, 1]"""

Remove = Callable[[Banks, Details], int]
"""Banks -> the position in ``Banks.long`` of the row that goes"""


@dataclass(frozen=True)
class Policy:
    """A context policy: how a row is scored when it is predicted, and which long row leaves."""

    name: str
    score: Score
    """The uncertainty that a row is stored with."""
    gated: bool
    """Whether a candidate needs score >= tau to enter a full long bank."""
    remove: Remove | None
    """None: there is no long bank, the context is one window of B rows."""
    keeps_moments: bool = False
    """Whether `remove` looks at `Banks.moments`."""
