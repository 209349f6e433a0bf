"""Redundancy-aware removal: of the closest pair, the row farther from the recent centroid goes.

All decisions are made in float64 under one tie rule: distances within a relative 1e-9 of the smallest
(or 1e-12 absolute) are tied. Squared distances come from one matrix product, |a|^2 + |b|^2 - 2ab, which
cancels for near-duplicates; so it only nominates the pairs that could be the closest within its error
bound, and these are measured again from the differences of the raw features, which are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.policies.base import Banks, Details, FloatArray, IntArray
from millpond.policies.class_fifo import majority_class
from millpond.policies.moments import Rows

EPSILON = 1e-6  # added to the standard deviation, as published
RELATIVE, ABSOLUTE = 1e-9, 1e-12  # the tie rule
ONE_THREAD = 2**18  # multiplications up to which OpenBLAS keeps to one thread
BLOCK = 512  # nominated pairs measured at a time


def remove_nearest_of_majority(banks: Banks, details: Details) -> int:
    """CURE's removal, Algorithm 1, lines 10-14: same-class nearest pair, recent centroid."""
    majority = majority_class(banks, details)
    members = np.flatnonzero(banks.y[banks.long] == majority)
    if len(members) == 1:
        return int(members[0])
    raw = banks.X.take(banks.long[members], axis=0)
    moments = None if banks.moments is None else banks.moments[majority]
    found = None
    if moments is not None and moments.m:
        found = moments.read()
        if found is None:
            moments.sum_anew(raw, banks.X.take(_recent(banks, majority), axis=0))
            found = moments.read()
    if moments is not None and found is not None:
        candidates = Candidates(raw, *found, details, complete=True)
        centroid = candidates.phi_of(moments.recent_mean())
    else:
        recent = banks.X.take(_recent(banks, majority), axis=0)
        candidates = Candidates(raw, *mean_and_variance(np.concatenate((raw, recent))), details)
        centroid = candidates.centroid(recent)
    return int(members[farther_endpoint(candidates, closest_pair(candidates), centroid)])


def remove_nearest_of_all(banks: Banks, details: Details) -> int:
    """CURE-GlobalNN's removal: the closest pair of the long bank whatever its labels.

    The paper does not say which centroid decides between endpoints of two classes: here each endpoint
    is measured from the short bank's centroid of its own class (of the whole short bank where that
    class is absent); phi is a z-score over the whole long and short banks.
    """
    raw = banks.X.take(banks.long, axis=0)
    short = banks.X.take(banks.short, axis=0)
    candidates = Candidates(raw, *mean_and_variance(np.concatenate((raw, short))), details)
    pair = closest_pair(candidates)
    own = [banks.X.take(_recent(banks, banks.y[banks.long[end]]), axis=0) for end in pair]
    centroids = np.array([candidates.centroid(recent) for recent in own])
    return farther_endpoint(candidates, pair, centroids)


def _recent(banks: Banks, label: int) -> IntArray:
    """The slots of a class in the short bank; of the whole short bank where the class is absent."""
    recent = banks.short[banks.y[banks.short] == label]
    return recent if len(recent) else banks.short


def mean_and_variance(raw: Rows) -> tuple[FloatArray, FloatArray]:
    """(n, d) -> (d,), (d,) in float64, over the values that are there."""
    values: FloatArray = raw.astype(np.float64)
    n: int | IntArray = len(values)
    missing = np.isnan(values)
    if missing.any():
        n = np.maximum(n - missing.sum(axis=0), 1)
        values[missing] = 0.0
    mean = values.sum(axis=0) / n
    values -= mean
    values[missing] = 0.0
    # Corrected two-pass: the mean above is off by its own rounding, which a constant column at a
    # large offset would otherwise show as a spread.
    rest = values.sum(axis=0) / n
    return mean + rest, np.maximum(np.square(values).sum(axis=0) / n - rest * rest, 0.0)


class Candidates:
    """The rows of which one goes, (n, d), and their phi: a z-score with the given moments.

    A missing value (NaN) stands at the mean: its phi is 0. ``complete`` says that there is none.
    """

    def __init__(
        self,
        raw: Rows,
        mean: FloatArray,
        variance: FloatArray,
        details: Details,
        complete: bool = False,
    ) -> None:
        self.raw = raw
        self.details = details
        self._complete = complete
        self._mean = mean
        self._inverse_scale = np.ones(len(mean))
        if details.standardise == "eviction":
            self._inverse_scale = 1.0 / (np.sqrt(variance) + EPSILON)

    def phi_of(
        self, values: NDArray[np.floating[Any]], dtype: type[np.floating[Any]] = np.float64
    ) -> NDArray[Any]:
        """phi of (..., d) values, worked out in float64 whatever it is kept in."""
        away: FloatArray = np.subtract(values, self._mean, dtype=np.float64)
        phi: NDArray[Any] = np.empty(away.shape, dtype)
        np.multiply(away, self._inverse_scale, out=phi, casting="same_kind")
        if not self._complete:
            phi[np.isnan(phi)] = 0.0
        return phi

    def centroid(self, recent: Rows) -> FloatArray:
        """The mean of phi over some rows, over the values that are there."""
        there = np.maximum(len(recent) - np.isnan(recent).sum(axis=0), 1)
        return np.asarray(self.phi_of(recent).sum(axis=0) / there)

    def pair_distances(self, i: IntArray | int, j: IntArray | int) -> FloatArray:
        """Distances of row pairs from raw differences: right to a few ulp however close they are."""
        difference: FloatArray = np.subtract(self.raw[i], self.raw[j], dtype=np.float64)
        difference *= self._inverse_scale
        if not self._complete:
            by_phi = self.phi_of(self.raw[i]) - self.phi_of(self.raw[j])
            difference = np.where(np.isnan(difference), by_phi, difference)
        return np.asarray(np.sqrt(np.square(difference).sum(axis=-1)))


def closest_pair(candidates: Candidates) -> tuple[int, int]:
    """The closest pair i < j; on ties the first (or last) in order of arrival."""
    details = candidates.details
    # float32 is enough to nominate, and half the work; raw features may be too large for it.
    dtype = np.float32 if details.standardise == "eviction" else np.float64
    phi = candidates.phi_of(candidates.raw, dtype)
    n = len(phi)
    # phi_i phi_j - |phi_i|^2 / 2 - |phi_j|^2 / 2 = -|phi_i - phi_j|^2 / 2, raised by a bound on its
    # rounding (each term is a sum of d products): never below the truth.
    closeness = _products(phi)
    halves = closeness.diagonal() * (0.5 - 2.0 * (phi.shape[1] + 4) * float(np.finfo(dtype).eps))
    closeness -= halves
    closeness -= halves[:, None]
    closeness.ravel()[:: n + 1] = -np.inf
    i, j = divmod(int(closeness.argmax()), n)
    # The closest pair is at most as far apart as this one, and its ties hardly farther.
    near = float(candidates.pair_distances(i, j))
    reach = (near * (1 + 2 * RELATIVE) + 2 * ABSOLUTE) ** 2
    nominated_i, nominated_j = np.divmod(np.flatnonzero(closeness >= -0.5 * reach), n)
    ordered = nominated_i < nominated_j  # row-major, which is the order of arrival
    nominated_i, nominated_j = nominated_i[ordered], nominated_j[ordered]
    if details.ties == "newer":
        nominated_i, nominated_j = nominated_i[::-1], nominated_j[::-1]
    first = 0
    if len(nominated_i) > 1:
        first = _first_closest(candidates, nominated_i, nominated_j)
    return int(nominated_i[first]), int(nominated_j[first])


def _products(phi: NDArray[Any]) -> NDArray[Any]:
    """(n, n) inner products of all pairs i <= j (and of some others); -inf elsewhere.

    Made in blocks of rows, above the diagonal, each too small for BLAS to split over threads: waking
    them would cost more than the product, and far more where other programs use the cores.
    """
    n, d = phi.shape
    products = np.full((n, n), -np.inf, dtype=phi.dtype)
    rows = max(8, ONE_THREAD // (n * d))
    for start in range(0, n, rows):
        block = slice(start, start + rows)
        np.matmul(phi[block], phi[start:].T, out=products[block, start:])
    return products


def _first_closest(candidates: Candidates, i: IntArray, j: IntArray) -> int:
    """Measure the nominated pairs; the first that is tied with the smallest distance."""
    distances = np.empty(0)
    for start in range(0, len(i), BLOCK):
        block = slice(start, start + BLOCK)
        distances = np.append(distances, candidates.pair_distances(i[block], j[block]))
        if distances[block].min() == 0.0:
            break  # nothing is closer than a duplicate
    return int(np.argmax(distances <= _tie_limit(float(distances.min()))))


def farther_endpoint(candidates: Candidates, pair: tuple[int, int], centroids: FloatArray) -> int:
    """The endpoint farther from its centroid, (d,) for both or (2, d); on a tie the older (first)."""
    offset = candidates.phi_of(candidates.raw[list(pair)]) - centroids
    first, second = np.sqrt(np.square(offset).sum(axis=1)).tolist()
    if max(first, second) <= _tie_limit(min(first, second)):
        return pair[0] if candidates.details.ties == "older" else pair[1]
    return pair[0] if first > second else pair[1]


def _tie_limit(smallest: float) -> float:
    """The largest distance that is tied with the smallest."""
    return max(smallest * (1 + RELATIVE), smallest + ABSOLUTE)
