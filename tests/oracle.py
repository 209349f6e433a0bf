"""A slow, independent reading of the paper's context policies, to compare the library with.

Nothing is shared with the library: banks are plain lists, every statistic is computed anew from the
rows at each eviction, and every pair of rows is compared. It follows Algorithm 1, the table of
controlled variants (`AXES`) and, where the paper is silent, the authors' published code. It checks
no input: that is the library's business.

A NaN feature is a missing value: means and deviations are over the present values, and a missing
value stands at the mean (its phi is 0), as does every value of a column with none present.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Proba = Sequence[float] | NDArray[np.floating[Any]] | None
Delta = tuple[int, tuple[int, ...], tuple[int, ...]]

PROBABILITY_FLOOR = 1e-12
DEVIATION_FLOOR = 1e-6
RELATIVE_TIE = 1e-9
ABSOLUTE_TIE = 1e-12


class Axes(NamedTuple):
    """One row of the paper's table of variants."""

    retention: str  # "all", "entropy" or "margin": what decides whether a candidate is admitted
    removal: str  # "oldest", "same class" or "global": which row a full long bank loses


AXES = {
    "dual_fifo": Axes("all", "oldest"),
    "entropy_only": Axes("entropy", "oldest"),
    "redundancy_only": Axes("all", "same class"),
    "cure": Axes("entropy", "same class"),
    "cure_margin": Axes("margin", "same class"),
    "cure_global_nn": Axes("entropy", "global"),
}
POLICIES = ("fifo", *AXES)


# ---- What a prediction says about a row ----------------------------------------------------------


def entropy(proba: Proba) -> float:
    """Equation 6 over the classes in the vector: 1 is a uniform prediction, 0 a certain one."""
    if proba is None or len(proba) == 1:
        return 0.0
    return -sum(p * math.log(p) for p in _floored(proba)) / math.log(len(proba))


def margin(proba: Proba) -> float:
    """One minus the lead of the likeliest class over the second: as entropy, 1 is undecided."""
    if proba is None or len(proba) == 1:
        return 0.0
    first, second = sorted(_floored(proba), reverse=True)[:2]
    return min(max(1.0 - (first - second), 0.0), 1.0)


def _floored(proba: Sequence[float] | NDArray[np.floating[Any]]) -> list[float]:
    clipped = [min(max(float(p), PROBABILITY_FLOOR), 1.0) for p in proba]
    total = sum(clipped)
    return [p / total for p in clipped]


# ---- Which row of a long bank goes ---------------------------------------------------------------


def brute_force_same_class_eviction(
    long_X: NDArray[Any],  # (n_long, d)
    long_y: NDArray[Any],  # (n_long,)
    long_arrival: NDArray[Any],  # (n_long,)
    short_X: NDArray[Any],  # (n_short, d)
    short_y: NDArray[Any],  # (n_short,)
) -> int:
    """The index in the long bank of the row that CURE removes (Algorithm 1, lines 10 to 14)."""
    label = majority_class(long_y.tolist())
    members = np.flatnonzero(long_y == label)
    members = members[np.argsort(long_arrival[members])]
    n = len(members)
    if n == 1:
        return int(members[0])
    rows = np.concatenate([long_X[members], _recent(label, short_X, short_y)]).astype(np.float64)
    phi, spread = _standardise(rows)
    i, j = _nearest_pair(rows[:n], phi[:n], spread)
    centroid = _mean(phi[n:], ~np.isnan(rows[n:]))
    goes = _farther(_norm(phi[i] - centroid), _norm(phi[j] - centroid))
    return int(members[(i, j)[goes]])


def brute_force_global_eviction(
    long_X: NDArray[Any],
    long_y: NDArray[Any],
    long_arrival: NDArray[Any],
    short_X: NDArray[Any],
    short_y: NDArray[Any],
) -> int:
    """The same for CURE-GlobalNN: a pair of any labels, each endpoint against its own class."""
    order = np.argsort(long_arrival)
    n = len(order)
    rows = np.concatenate([long_X[order], short_X]).astype(np.float64)
    phi, spread = _standardise(rows)
    i, j = _nearest_pair(rows[:n], phi[:n], spread)

    def distance_from_recent(k: int) -> float:
        label = long_y[order[k]]
        recent_phi = _recent(label, phi[n:], short_y)
        recent_rows = _recent(label, rows[n:], short_y)
        return _norm(phi[k] - _mean(recent_phi, ~np.isnan(recent_rows)))

    goes = _farther(distance_from_recent(i), distance_from_recent(j))
    return int(order[(i, j)[goes]])


def majority_class(labels: Iterable[int]) -> int:
    """The most represented class; of several, the one with the larger code."""
    counts = Counter(labels)
    return max(counts, key=lambda label: (counts[label], label))


def _recent(label: int, short: NDArray[Any], short_y: NDArray[Any]) -> NDArray[Any]:
    """The short bank's rows of the class, or all of them where it holds none."""
    same = short_y == label
    return short[same] if same.any() else short


def _standardise(rows: Floats) -> tuple[Floats, Floats]:
    """phi of every row, and what each column was divided by: (n, d) -> (n, d), (d,)."""
    present = ~np.isnan(rows)
    # The second step corrects the rounding of the first, which a large offset would let through.
    centre = _mean(rows, present)
    centre = centre + _mean(rows - centre, present)
    spread = np.sqrt(_mean((rows - centre) ** 2, present)) + DEVIATION_FLOOR
    return np.where(present, (rows - centre) / spread, 0.0), spread


def _mean(values: Floats, present: NDArray[np.bool_]) -> Floats:
    """The mean of each column's present values; 0 where there are none: (n, d) -> (d,)."""
    mean: Floats = np.where(present, values, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    return mean


def _nearest_pair(rows: Floats, phi: Floats, spread: Floats) -> tuple[int, int]:
    """The closest two rows, i < j; of tied pairs the first in row-major order."""
    # Raw differences, not differences of phi: nothing cancels between near-duplicates.
    difference = (rows[:, None, :] - rows[None, :, :]) / spread  # (n, n, d)
    missing = np.isnan(difference)
    if missing.any():
        difference[missing] = (phi[:, None, :] - phi[None, :, :])[missing]
    distance = np.sqrt((difference**2).sum(axis=-1))  # (n, n)
    first, second = np.triu_indices(len(rows), k=1)
    pairs = distance[first, second]
    k = int(np.flatnonzero(pairs <= _tie_limit(float(pairs.min())))[0])
    return int(first[k]), int(second[k])


def _farther(older: float, newer: float) -> int:
    """Which endpoint goes: 0 the older, 1 the newer. A tie drops the older."""
    near, far = sorted((older, newer))
    return 0 if far <= _tie_limit(near) else int(newer > older)


def _tie_limit(smallest: float) -> float:
    return max(smallest * (1 + RELATIVE_TIE), smallest + ABSOLUTE_TIE)


def _norm(difference: Floats) -> float:
    return math.sqrt(math.fsum((difference**2).tolist()))


# ---- The context ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    arrival: int
    x: NDArray[np.float32]
    y: int
    score: float


class BruteForceContext:
    """The banks as two lists, oldest row first, updated by Algorithm 1 and nothing cleverer."""

    def __init__(self, policy: str, budget: int, short_ratio: float, tau: float) -> None:
        self.policy = policy
        self.tau = tau
        if policy == "fifo":
            self.axes = Axes("none", "none")
            self.short_size = budget
        else:
            self.axes = AXES[policy]
            self.short_size = min(budget - 1, max(1, round(budget * short_ratio)))
        self.long_size = budget - self.short_size
        self.short: list[Row] = []
        self.long: list[Row] = []
        self.seen = 0

    def observe(self, x: NDArray[Any], y: int, proba: Proba = None) -> Delta:
        """Take one labelled row: (its arrival number, those promoted, those that left)."""
        score = margin(proba) if self.axes.retention == "margin" else entropy(proba)
        new = Row(self.seen, np.array(x, dtype=np.float32), y, score)
        self.seen += 1
        self.short.append(new)
        promoted: list[int] = []
        evicted: list[int] = []
        if len(self.short) > self.short_size:
            candidate = self.short.pop(0)
            if self._admits(candidate):
                self.long.append(candidate)
                promoted.append(candidate.arrival)
            else:
                evicted.append(candidate.arrival)
        if len(self.long) > self.long_size:
            evicted.append(self.long.pop(self._redundant()).arrival)
        return new.arrival, tuple(promoted), tuple(evicted)

    def _admits(self, candidate: Row) -> bool:
        if self.axes.retention == "none":
            return False
        if len(self.long) < self.long_size or self.axes.retention == "all":
            return True
        return candidate.score >= self.tau

    def _redundant(self) -> int:
        """The index in the (overfull) long bank of the row that goes."""
        labels = [row.y for row in self.long]
        if self.axes.removal == "oldest":
            return labels.index(majority_class(labels))
        evict = {
            "same class": brute_force_same_class_eviction,
            "global": brute_force_global_eviction,
        }[self.axes.removal]
        return evict(
            np.array([row.x for row in self.long]),
            np.array(labels),
            np.array([row.arrival for row in self.long]),
            np.array([row.x for row in self.short]),
            np.array([row.y for row in self.short]),
        )

    def arrivals(self, bank: str) -> list[int]:
        """The arrival numbers of "short", "long" or "all", in order of arrival."""
        rows = {"short": self.short, "long": self.long, "all": self.long + self.short}[bank]
        return [row.arrival for row in rows]

    def arrays(self) -> tuple[NDArray[np.float32], list[int], list[int]]:
        """X (n, d), labels and arrival numbers of the whole context, in order of arrival."""
        rows = self.long + self.short
        return np.array([row.x for row in rows]), [row.y for row in rows], self.arrivals("all")


# ---- Comparing an implementation with it ---------------------------------------------------------


class DeltaLike(Protocol):
    """What a step changed, in arrival numbers."""

    @property
    def added(self) -> int: ...
    @property
    def promoted(self) -> tuple[int, ...]: ...
    @property
    def evicted(self) -> tuple[int, ...]: ...


class ContextLike(Protocol):
    """What is compared: a `millpond.Context`, or one lane of many behind the same methods."""

    def observe(self, x: NDArray[Any], y: int, *, proba: Proba) -> DeltaLike: ...
    def arrivals(self, bank: str) -> NDArray[Any]: ...
    def arrays(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...


Step = tuple[NDArray[Any], int, Proba]  # x, y and the probabilities when x was predicted


def follow(context: ContextLike, oracle: BruteForceContext, stream: Iterable[Step]) -> None:
    """Feed the stream to both and compare what changed and what stays, after each step."""
    for x, y, proba in stream:
        delta = context.observe(x, y, proba=proba)
        compare_step(delta, context, oracle.observe(x, y, proba), oracle)
    compare_arrays(context, oracle)


def compare_step(
    delta: DeltaLike, context: ContextLike, expected: Delta, oracle: BruteForceContext
) -> None:
    """Compare one step that both have taken; the message of a difference says what differs."""
    where = f"{oracle.policy}, step {expected[0]}"
    changed = (delta.added, delta.promoted, delta.evicted)
    if changed != expected:
        raise AssertionError(
            f"{where}: (added, promoted, evicted) is {changed}, the oracle says {expected}"
        )
    for bank in ("short", "long", "all"):
        kept = context.arrivals(bank).tolist()
        if kept != oracle.arrivals(bank):
            raise AssertionError(f"{where}: {bank} holds {kept}, not {oracle.arrivals(bank)}")


def compare_arrays(context: ContextLike, oracle: BruteForceContext) -> None:
    """Compare the retained rows themselves, bit for bit."""
    X, y, arrivals = context.arrays()
    expected_X, expected_y, expected_arrivals = oracle.arrays()
    np.testing.assert_array_equal(X, expected_X, strict=True)
    np.testing.assert_array_equal(y, expected_y)
    np.testing.assert_array_equal(arrivals, expected_arrivals)
