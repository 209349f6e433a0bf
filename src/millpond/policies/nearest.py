"""Redundancy-aware removal: of the closest pair, the row farther from the recent centroid goes.

All decisions are made in float64 under one tie rule: distances within a relative 1e-9 of the smallest
(or 1e-12 absolute) are tied. Squared distances come from one matrix product, |a|^2 + |b|^2 - 2ab, which
cancels for near-duplicates; so it only nominates the pairs that could be the closest within its error
bound, and these are measured again from the differences of the raw features, which are exact.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.policies.base import Banks, BoolArray, Details, FloatArray, IntArray
from millpond.policies.class_fifo import majority_class

EPSILON = 1e-6  # added to the standard deviation, as published
RELATIVE, ABSOLUTE = 1e-9, 1e-12  # the tie rule
CANCELLED = 1e4  # E[x^2] / variance beyond which variance = E[x^2] - mean^2 is too rough
BLOCK = 512  # nominated pairs measured at a time


def remove_nearest_of_majority(banks: Banks, details: Details) -> int:
    """CURE's removal, Algorithm 1, lines 10-14: same-class nearest pair, recent centroid."""
    majority = majority_class(banks, details)
    members = np.flatnonzero(banks.y[banks.long] == majority)
    if len(members) == 1:
        return int(members[0])
    recent = banks.short[banks.y[banks.short] == majority]
    if not len(recent):
        recent = banks.short
    rows = Standardised(banks.X, banks.long[members], recent, details)
    pair = closest_pair(rows, details)
    return int(members[farther_endpoint(rows, pair, rows.centroid(), details)])


def remove_nearest_of_all(banks: Banks, details: Details) -> int:
    """CURE-GlobalNN's removal: the closest pair of the long bank whatever its labels.

    The paper does not say which centroid decides between endpoints of two classes: here each endpoint
    is measured from the short bank's centroid of its own class (of the whole short bank where that
    class is absent); phi is a z-score over the whole long and short banks.
    """
    n = len(banks.long)
    rows = Standardised(banks.X, banks.long, banks.short, details)
    pair = closest_pair(rows, details)
    recent = banks.y[banks.short]

    def own_centroid(endpoint: int) -> FloatArray:
        own = np.flatnonzero(recent == banks.y[banks.long[endpoint]])
        return rows.centroid(n + own) if len(own) else rows.centroid()

    centroids = np.array([own_centroid(endpoint) for endpoint in pair])
    return farther_endpoint(rows, pair, centroids, details)


class Standardised:
    """phi over the rows of one eviction, the first n of which are candidates: z-scores over all of them.

    A missing value (NaN) stands at the mean, phi = 0; means are over the values that are there.
    """

    def __init__(
        self, X: NDArray[np.float32], candidates: IntArray, recent: IntArray, details: Details
    ) -> None:
        self.n = len(candidates)
        self.raw = X.take(np.concatenate((candidates, recent)), axis=0)  # (n + r, d) float32
        values: FloatArray = self.raw.astype(np.float64)
        self.missing: BoolArray | None = None
        mean = _column_sums(values) / len(values)
        if math.isnan(mean.sum()):
            self.missing = np.isnan(values)
            mean, variance = self._moments_of_present(values)
        else:
            power = _column_sums(np.square(values)) / len(values)
            variance = power - mean * mean
            if (power > CANCELLED * variance).any():  # offsets that drown the spread: take them off
                values -= mean
                rest = _column_sums(values) / len(values)  # what rounding left of the mean
                variance = _column_sums(np.square(values)) / len(values) - rest * rest
                mean = rest
        self.values, self.mean = values, mean
        self.inverse_scale: FloatArray = np.ones(len(mean))
        if details.standardise == "eviction":
            self.inverse_scale = 1.0 / (np.sqrt(np.maximum(variance, 0.0)) + EPSILON)

    def _moments_of_present(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance over present values; missing ones are put at the mean, in place."""
        count = np.maximum((~self.missing).sum(axis=0), 1)  # type: ignore[operator]
        values[self.missing] = 0.0
        values -= _column_sums(values) / count
        values[self.missing] = 0.0
        return np.zeros(values.shape[1]), _column_sums(np.square(values)) / count

    def phi(self, rows: slice | list[int]) -> FloatArray:
        return np.asarray((self.values[rows] - self.mean) * self.inverse_scale)

    def centroid(self, recent: slice | IntArray | None = None) -> FloatArray:
        """The mean of phi over the recent rows, or over some of them; of the values that are there."""
        rows = slice(self.n, None) if recent is None else recent
        values = self.values[rows]
        count: int | IntArray = len(values)
        if self.missing is not None:
            count = np.maximum(count - self.missing[rows].sum(axis=0), 1)
        return np.asarray((_column_sums(values) / count - self.mean) * self.inverse_scale)

    def pair_distances(self, i: IntArray | list[int], j: IntArray | list[int]) -> FloatArray:
        """Distances of row pairs from raw differences: right to a few ulp however close they are."""
        difference = np.subtract(self.raw[i], self.raw[j], dtype=np.float64)
        if self.missing is not None:
            difference = np.where(np.isnan(difference), self.values[i] - self.values[j], difference)
        difference *= self.inverse_scale
        return np.asarray(np.sqrt(np.square(difference).sum(axis=1)))


def closest_pair(rows: Standardised, details: Details) -> tuple[int, int]:
    """The closest pair i < j of the candidates; on ties the first (or last) in order of arrival."""
    # float32 is enough to nominate, and half the work; raw features may be too large for it.
    precision = np.finfo(np.float32 if details.standardise == "eviction" else np.float64)
    phi: NDArray[Any] = rows.phi(slice(rows.n)).astype(precision.dtype)
    # phi_i phi_j - |phi_i|^2 / 2 - |phi_j|^2 / 2 = -|phi_i - phi_j|^2 / 2, raised by a bound on its
    # rounding (each term is a sum of d products): never below the truth.
    closeness: NDArray[Any] = phi @ phi.T
    halves = closeness.diagonal() * (0.5 - 2.0 * (phi.shape[1] + 4) * float(precision.eps))
    closeness -= halves
    closeness -= halves[:, None]
    closeness.ravel()[:: rows.n + 1] = -np.inf
    i, j = divmod(int(closeness.argmax()), rows.n)
    # The closest pair is at most as far apart as this one, and its ties hardly farther.
    near = float(rows.pair_distances([i], [j])[0])
    reach = (near * (1 + 2 * RELATIVE) + 2 * ABSOLUTE) ** 2
    nominated_i, nominated_j = np.divmod(np.flatnonzero(closeness >= -0.5 * reach), rows.n)
    if len(nominated_i) > 2:  # each pair stands twice
        ordered = nominated_i < nominated_j  # row-major, which is the order of arrival
        nominated_i, nominated_j = nominated_i[ordered], nominated_j[ordered]
        if details.ties == "newer":
            nominated_i, nominated_j = nominated_i[::-1], nominated_j[::-1]
        first = _first_closest(rows, nominated_i, nominated_j)
        i, j = int(nominated_i[first]), int(nominated_j[first])
    return min(i, j), max(i, j)


def _first_closest(rows: Standardised, i: IntArray, j: IntArray) -> int:
    """Measure the nominated pairs; the first that is tied with the smallest distance."""
    distances = np.empty(0)
    for start in range(0, len(i), BLOCK):
        block = slice(start, start + BLOCK)
        distances = np.append(distances, rows.pair_distances(i[block], j[block]))
        if distances[block].min() == 0.0:
            break  # nothing is closer than a duplicate
    return int(np.argmax(distances <= _tie_limit(float(distances.min()))))


def farther_endpoint(
    rows: Standardised, pair: tuple[int, int], centroids: FloatArray, details: Details
) -> int:
    """The endpoint farther from its centroid, (d,) for both or (2, d); on a tie the older (first)."""
    offset = rows.phi(list(pair)) - centroids
    first, second = np.sqrt(np.square(offset).sum(axis=1)).tolist()
    if max(first, second) <= _tie_limit(min(first, second)):
        return pair[0] if details.ties == "older" else pair[1]
    return pair[0] if first > second else pair[1]


def _column_sums(values: FloatArray) -> FloatArray:
    # A product with ones is BLAS and three times as fast as sum(axis=0).
    return np.asarray(np.ones(len(values)) @ values)


def _tie_limit(smallest: float) -> float:
    """The largest distance that is tied with the smallest."""
    return max(smallest * (1 + RELATIVE), smallest + ABSOLUTE)
