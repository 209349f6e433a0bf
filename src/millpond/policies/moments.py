"""Mean and variance of each class's rows in the context, kept up to date row by row.

A z-score over the rows of an eviction needs only their moments, and a step changes few rows. Sums that
rows are added to and taken from gather rounding errors, so a bound on the error is kept beside them:
moments are used while it is below 1e-10 of the variance (the tie rule's tolerance is 1e-9), and summed
anew from the rows otherwise. Deviations are taken from one of the class's own rows, so that a constant
column has variance 0 exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from millpond.state import State

Row = NDArray[np.float32]  # (d,)
Rows = NDArray[np.float32]  # (n, d)
FloatArray = NDArray[np.float64]

TOLERANCE = 1e-10
_EPS = float(np.finfo(np.float64).eps)


class ClassMoments:
    """The moments of every class of one context."""

    def __init__(self) -> None:
        self._of: dict[int, Moments] = {}

    def __getitem__(self, label: int) -> Moments:
        return self._of[label]

    def add(self, label: int, row: Row) -> None:
        """A row enters the short bank."""
        if label not in self._of:
            self._of[label] = Moments(row)
        self._of[label].add(row)

    def leave_short(self, label: int, row: Row) -> None:
        """A row leaves the short bank, for the long one or altogether."""
        self._of[label].leave_short(row)

    def leave(self, label: int, row: Row) -> None:
        """A row that has left the short bank leaves the context."""
        moments = self._of[label]
        moments.leave(row)
        if not moments.n:
            del self._of[label]  # classes that are gone cost nothing

    def widen(self, features: int, value: float) -> None:
        """More columns, of which every row holds this value: 0, or NaN, where it is missing."""
        for moments in self._of.values():
            more = np.full((3, features), value)
            moments.reference = np.append(moments.reference, more[0])
            moments.sums = np.hstack([moments.sums, 0.0 * more])
            moments.bound = np.append(moments.bound, 0.0 * more[0])

    def state(self) -> State:
        state: State = {"labels": np.array(list(self._of), dtype=np.int64)}
        for place, moments in enumerate(self._of.values()):
            state[f"{place}.counters"] = np.array([moments.n, moments.m, moments.updates])
            state[f"{place}.sums"] = np.vstack([moments.reference, moments.bound, moments.sums])
        return state

    def restore(self, state: State) -> None:
        self._of = {}
        for place, label in enumerate(state["labels"].tolist()):
            reference, bound, *sums = state[f"{place}.sums"]
            moments = self._of[label] = Moments(reference)
            moments.n, moments.m, moments.updates = state[f"{place}.counters"].tolist()
            moments.bound, moments.sums = bound.copy(), np.array(sums)


class Moments:
    """One class's rows: n in the context, m of them in the short bank. All sums are of x - reference."""

    __slots__ = ("bound", "m", "n", "reference", "sums", "updates")

    def __init__(self, reference: Row) -> None:
        self.reference: FloatArray = reference.astype(np.float64)
        self.n = 0
        self.m = 0
        self.sums: FloatArray = np.zeros((3, len(reference)))
        """sum of squares and sum over the context, sum over the short bank"""
        self.bound: FloatArray = np.zeros(len(reference))
        """the largest sum of squares since the sums were made, which the errors are relative to"""
        self.updates = 0

    def add(self, row: Row) -> None:
        """A row enters the short bank."""
        self.sums += self._terms(row)
        np.maximum(self.bound, self.sums[0], out=self.bound)
        self.n += 1
        self.m += 1
        self.updates += 1

    def leave_short(self, row: Row) -> None:
        """A row moves to the long bank, or is about to be dropped."""
        self.sums[2] -= row - self.reference
        self.m -= 1
        self.updates += 1

    def leave(self, row: Row) -> None:
        """A row that is not in the short bank any more leaves the context."""
        self.sums[:2] -= self._terms(row)[:2]
        self.n -= 1
        self.updates += 1

    def sum_anew(self, long: Rows, short: Rows) -> None:
        """Make the sums from the class's rows in the two banks."""
        self.reference = long[0].astype(np.float64)
        deviations = [np.subtract(rows, self.reference, dtype=np.float64) for rows in (long, short)]
        total, recent = (rows.sum(axis=0) for rows in deviations)
        squares = sum(np.square(rows).sum(axis=0) for rows in deviations)
        self.sums = np.array([squares, total + recent, recent])
        self.bound = self.sums[0].copy()
        self.updates = self.n

    def read(self) -> tuple[FloatArray, FloatArray] | None:
        """Mean and variance; None where rounding could matter (NaN, a missing value, always could)."""
        squares, total, _ = self.sums
        shift = total / self.n
        spread = squares - shift * total  # n times the variance
        error = (4.0 * _EPS / TOLERANCE * self.updates) * self.bound
        if not (error <= spread).all():
            return None
        return self.reference + shift, spread / self.n

    def recent_mean(self) -> FloatArray:
        return np.asarray(self.reference + self.sums[2] / self.m)

    def _terms(self, row: Row) -> FloatArray:
        terms = np.empty_like(self.sums)
        np.subtract(row, self.reference, out=terms[1])
        np.multiply(terms[1], terms[1], out=terms[0])
        terms[2] = terms[1]
        return terms
