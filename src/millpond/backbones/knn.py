"""In-context k nearest neighbours: a floor for the learned backbones, and a fast one for tests.

Features are standardised over the rows of the context. The k nearest rows vote; one more vote is shared
out by the classes' frequencies in the context, so that no class in it has probability zero. Rows at
the distance of the k-th nearest are taken newest first; squared distances within a relative 1e-12 are
equal, so that rounding decides nothing. A missing value stands at the column's mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.base import FloatArray, IntArray, Prediction
from millpond.context import Contexts, Deltas
from millpond.errors import BadOption

TIED = 1e-12


class KNN:
    """The k-nearest-neighbours backbone."""

    name = "knn"

    def __init__(self, *, k: int = 10) -> None:
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise BadOption(f"k must be a whole number of at least 1, not {k!r}")
        self.k = k

    def open(self, contexts: Contexts) -> KNNSession:
        return KNNSession(contexts, self.k)


class KNNSession:
    """Looks at the contexts' arrays at each query; keeps nothing between queries."""

    def __init__(self, contexts: Contexts, k: int) -> None:
        self._contexts, self._k = contexts, k

    def update(self, deltas: Deltas) -> None:
        pass  # the contexts' arrays are read at the query

    def predict(self, X: NDArray[np.float32], lanes: IntArray) -> list[Prediction]:
        return [self._predict_lane(X[row], int(lane)) for row, lane in enumerate(lanes)]

    def state(self) -> dict[str, NDArray[Any]]:
        return {}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        pass

    def _predict_lane(self, queries: NDArray[np.float32], lane: int) -> Prediction:
        contexts = self._contexts
        slots = contexts.slots_of(lane)  # oldest first
        y = contexts.y[lane, slots]
        classes = np.array(sorted(set(y.tolist())), dtype=np.int64)  # faster than np.unique
        if len(classes) < 2:
            return Prediction(classes, np.ones((len(queries), len(classes))))
        labels = classes.searchsorted(y)
        rows = contexts.X[lane].take(slots, axis=0).astype(np.float64)
        rows, mean, inverse_scale = _standardise(rows)
        asked = (queries - mean) * inverse_scale
        asked[np.isnan(asked)] = 0.0
        frequency = np.bincount(labels, minlength=len(classes)) / len(labels)
        proba = np.empty((len(queries), len(classes)))
        for i, query in enumerate(asked):
            voters = labels[self._nearest(rows, query)]
            votes = np.bincount(voters, minlength=len(classes)) + frequency
            proba[i] = votes / (len(voters) + 1)
        return Prediction(classes, proba)

    def _nearest(self, rows: FloatArray, query: FloatArray) -> IntArray:
        """The k nearest rows; among those tied for the last places the newest."""
        if len(rows) <= self._k:
            return np.arange(len(rows))
        difference = rows - query
        distance = np.einsum("nd,nd->n", difference, difference)
        last = np.partition(distance, self._k - 1)[self._k - 1]
        closer = (distance < last * (1 - TIED)).nonzero()[0]
        tied = (abs(distance - last) <= last * TIED).nonzero()[0]
        return np.concatenate([closer, tied[len(closer) - self._k :]])


def _standardise(rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(n, d) -> z-scores, means and inverse scales over present values; constant columns become 0."""
    missing = np.isnan(rows)
    if missing.any():
        count = np.maximum((~missing).sum(axis=0), 1)
        mean = np.where(missing, 0.0, rows).sum(axis=0) / count
        rows -= mean
        rows[missing] = 0.0
    else:
        count = np.full(rows.shape[1], len(rows))
        mean = rows.sum(axis=0) / count
        rows -= mean
    deviation = np.sqrt(np.einsum("nd,nd->d", rows, rows) / count)
    # A spread at rounding level is a constant column: what deviates from it later says nothing.
    constant = deviation <= 1e-12 * np.abs(mean)
    inverse_scale = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))
    rows *= inverse_scale
    return rows, mean, inverse_scale
