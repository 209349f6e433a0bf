"""Whether differences are more than chance: over streams by ranks, on one stream row by row.

Over streams: Friedman's test, Nemenyi's critical difference, Wilcoxon's signed ranks with Holm's
correction (Demsar, 2006). On one stream: McNemar's test and intervals by resampling blocks of rows,
which keeps the dependence between neighbours that McNemar's test does not know of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

RESAMPLES = 2000


def rank_rows(table: Floats) -> Floats:
    """(n, k) values -> (n, k) ranks within each row, 1 for the highest, ties share their mean."""
    above = (table[:, None, :] > table[:, :, None]).sum(-1)
    equal = (table[:, None, :] == table[:, :, None]).sum(-1)
    return np.asarray(1.0 + above + (equal - 1) / 2)


@dataclass(frozen=True)
class Friedman:
    """Whether k methods differ over n streams."""

    statistic: float
    p: float
    ranks: tuple[float, ...]
    """the mean rank of each method"""


def friedman(table: Floats) -> Friedman:
    """(n, k): the accuracies of k methods on n streams. Corrected for ties, p by chi squared."""
    n, k = table.shape
    ranks = rank_rows(table)
    mean = ranks.mean(0)
    counts = (ranks[:, :, None] == ranks[:, None, :]).sum(-1)  # (n, k): how many share the rank
    ties = float((counts**2 - 1).sum())  # over a group of t ties: t (t^2 - 1)
    spread = 12 * n / (k * (k + 1)) * float(((mean - (k + 1) / 2) ** 2).sum())
    correction = 1 - ties / (n * k * (k * k - 1))
    if correction <= 0:  # everything tied everywhere
        return Friedman(0.0, 1.0, tuple(mean.tolist()))
    statistic = spread / correction
    return Friedman(statistic, chi2_tail(statistic, k - 1), tuple(mean.tolist()))


def chi2_tail(x: float, df: int) -> float:
    """P(X > x) of a chi-squared variable with a whole number of degrees of freedom."""
    half = x / 2
    if half <= 0:
        return 1.0
    if df % 2:
        tail, a = math.erfc(math.sqrt(half)), 0.5
    else:
        tail, a = math.exp(-half), 1.0
    while a < df / 2 - 0.25:  # Q(a + 1, x/2) = Q(a, x/2) + (x/2)^a e^(-x/2) / Gamma(a + 1)
        tail += math.exp(a * math.log(half) - half - math.lgamma(a + 1))
        a += 1
    return min(tail, 1.0)


def critical_difference(methods: int, streams: int, alpha: float = 0.05) -> float:
    """Nemenyi: mean ranks that are farther apart than this differ at the level alpha."""
    q = range_quantile(1 - alpha, methods) / math.sqrt(2)
    return q * math.sqrt(methods * (methods + 1) / (6 * streams))


def range_quantile(probability: float, k: int) -> float:
    """The quantile of the range of k standard normal variables (studentized, infinite df)."""
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        if _range_below(middle, k) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _range_below(q: float, k: int) -> float:
    """P(range of k normals <= q) = k * integral of phi(z) (Phi(z) - Phi(z - q))^(k - 1) dz."""
    z = np.linspace(-9.0, 9.0, 2001)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    inside = _phi(z) - _phi(z - q)
    return float(k * (density * inside ** (k - 1)).sum() * (z[1] - z[0]))


def _phi(z: Floats) -> Floats:
    return np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in z.tolist()])


def cliques(ranks: Sequence[float], difference: float) -> list[tuple[int, ...]]:
    """The largest groups of methods of which no two differ by more, best first: a diagram's bars."""
    order = sorted(range(len(ranks)), key=lambda i: ranks[i])
    found: list[tuple[int, ...]] = []
    for start, first in enumerate(order):
        group = tuple(i for i in order[start:] if ranks[i] - ranks[first] <= difference)
        if len(group) > 1 and not any(set(group) <= set(other) for other in found):
            found.append(group)
    return found


def wilcoxon(differences: Sequence[float]) -> float:
    """Two-sided p of Wilcoxon's signed-rank test, exact also with ties; zeros are left out.

    Exact means: of all ways to give the ranks their signs, the share whose sum is as far out.
    """
    values = np.array([d for d in differences if d != 0.0])
    n = len(values)
    if n == 0:
        return 1.0
    size = np.abs(values)
    doubled = (
        (size[:, None] > size).sum(1) * 2 + (size[:, None] == size).sum(1) + 1
    )  # twice the rank
    positive = int(doubled[values > 0].sum())
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        moved = np.zeros_like(ways)
        moved[rank:] = ways[: len(ways) - rank]
        ways = (ways + moved) / 2
    one = min(float(ways[: positive + 1].sum()), float(ways[positive:].sum()))
    return min(1.0, 2 * one)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: each may be compared with the level itself."""
    adjusted = [0.0] * len(p)
    worst = 0.0
    for place, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        worst = max(worst, min(1.0, (len(p) - place) * p[i]))
        adjusted[i] = worst
    return adjusted


def mcnemar(one: Bools, other: Bools) -> float:
    """Exact two-sided p that two learners are right equally often, from the rows where they differ."""
    only_one, only_other = int((one & ~other).sum()), int((other & ~one).sum())
    n, least = only_one + only_other, min(only_one, only_other)
    if n == 0:
        return 1.0
    k = np.arange(least + 1)
    logs = math.lgamma(n + 1) - n * math.log(2) - _lgamma(k + 1) - _lgamma(n - k + 1)
    return min(1.0, 2 * float(np.exp(logs).sum()))


def _lgamma(values: NDArray[np.int64]) -> Floats:
    return np.array([math.lgamma(value) for value in values.tolist()])


@dataclass(frozen=True)
class Interval:
    """A difference and where it lies with the given confidence."""

    value: float
    low: float
    high: float

    @property
    def beyond_zero(self) -> bool:
        """Whether zero lies outside."""
        return self.low > 0 or self.high < 0


def block_interval(
    one: Bools, other: Bools, block: int, *, confidence: float = 0.95, seed: int = 0
) -> Interval:
    """The difference of two learners' accuracies on the same scored rows, (n,) and (n,).

    Blocks of neighbouring rows are drawn with replacement; the percentiles of what they give are the
    interval. A last block of fewer rows counts by its rows.
    """
    gain = one.astype(np.int64) - other.astype(np.int64)
    starts = np.arange(0, len(gain), block)
    sums = np.add.reduceat(gain, starts)
    rows = np.diff(np.append(starts, len(gain)))
    drawn = np.random.default_rng(seed).integers(0, len(starts), (RESAMPLES, len(starts)))
    means = sums[drawn].sum(1) / rows[drawn].sum(1)
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    return Interval(float(gain.mean()), float(low), float(high))
