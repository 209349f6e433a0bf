"""What a published backbone is asked: a labelled table and queries to it; tables asked together."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating]
Asked = TypeVar("Asked")


@dataclass(frozen=True, slots=True)
class Table:
    """One lane's context, oldest row first, and its queries; at least two classes."""

    X: NDArray[np.float32]
    """(T, d)"""
    y: NDArray[np.int64]
    """(T,) 0 .. classes - 1, each of them present"""
    queries: NDArray[np.float32]
    """(k, d)"""
    classes: int

    def shape(self) -> tuple[int, int, int]:
        """(T, d, k)"""
        return (*self.X.shape, len(self.queries))


def grouped(
    tables: list[Asked],
    key: Callable[[Asked], Hashable],
    together: Callable[[list[Asked]], list[FloatArray]],
    most: Callable[[Asked], int],
) -> list[FloatArray]:
    """Ask tables of equal key together, at most so many at a time; the answers in the tables' order."""
    groups: dict[Hashable, list[int]] = {}
    for place, table in enumerate(tables):
        groups.setdefault(key(table), []).append(place)
    answers: dict[int, FloatArray] = {}
    for places in groups.values():
        size = most(tables[places[0]])
        for start in range(0, len(places), size):
            part = places[start : start + size]
            answers.update(zip(part, together([tables[i] for i in part]), strict=True))
    return [answers[place] for place in range(len(tables))]


def softmax(logits: FloatArray) -> FloatArray:
    """Over the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def imputed(
    X: NDArray[np.float32], queries: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Missing values stand at their column's mean in the context, at 0 where all are missing."""
    if not (np.isnan(X).any() or np.isnan(queries).any()):
        return X, queries
    missing = np.isnan(X)
    count = np.maximum((~missing).sum(axis=0), 1)
    mean = np.where(missing, np.float32(0.0), X).sum(axis=0) / count
    mean = mean.astype(np.float32)
    return np.where(missing, mean, X), np.where(np.isnan(queries), mean, queries)
