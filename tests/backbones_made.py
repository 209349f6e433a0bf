"""Backbones written against the seam's two small protocols, as a user would write them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones import Prediction
from millpond.context import Contexts, Deltas
from slow_loop import Vote, plain_vote


class Voting:
    """Encodes the whole context at each query: no state."""

    name = "voting"

    def __init__(self, vote: Vote = plain_vote) -> None:
        self.vote = vote

    def open(self, contexts: Contexts) -> VotingSession:
        return VotingSession(contexts, self.vote)


class VotingSession:
    def __init__(self, contexts: Contexts, vote: Vote) -> None:
        self.contexts, self.vote = contexts, vote
        self.calls: list[tuple[int, ...]] = []
        """(lanes, rows, features) of every call"""
        self.asked: list[tuple[int, list[float], dict[int, float]]] = []
        """(lane, row, answer) of every query"""
        self.stored: list[tuple[int, int, float]] = []
        """(lane, arrival number, score) of every row that came in"""

    def update(self, deltas: Deltas) -> None:
        for lane, slot, arrival in zip(
            deltas.lanes.tolist(),
            deltas.added.tolist(),
            deltas.added_arrival.tolist(),
            strict=True,
        ):
            self.stored.append((lane, arrival, float(self.contexts.score[lane, slot])))

    def predict(self, X: NDArray[np.float32], lanes: NDArray[np.int64]) -> list[Prediction]:
        self.calls.append(X.shape)
        predictions = []
        for queries, lane in zip(X, lanes.tolist(), strict=True):
            slots = self.contexts.slots_of(lane)
            held, y = self.contexts.X[lane, slots], self.contexts.y[lane, slots].tolist()
            answers = [self.vote(held, y, query) for query in queries]
            for query, answer in zip(queries, answers, strict=True):
                self.asked.append((lane, query.tolist(), answer))
            classes = np.array(sorted(set(y)), dtype=np.int64)
            proba = np.array([list(answer.values()) for answer in answers])
            predictions.append(Prediction(classes, proba.reshape(len(queries), len(classes))))
        return predictions

    def state(self) -> dict[str, NDArray[Any]]:
        return {}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        pass


class Cached:
    """Follows the deltas: its caches hold what no look at the context could tell."""

    name = "cached"

    def open(self, contexts: Contexts) -> CachedSession:
        return CachedSession(contexts)


class CachedSession:
    def __init__(self, contexts: Contexts) -> None:
        self.contexts = contexts
        self.cache = np.zeros((contexts.lanes, contexts.slots))
        """by slot, like a KV cache: what the row was when it came in, and how often it was asked"""
        self.steps = np.zeros(contexts.lanes, dtype=np.int64)

    def update(self, deltas: Deltas) -> None:
        for lane, added, evicted in zip(deltas.lanes, deltas.added, deltas.evicted, strict=True):
            self.steps[lane] += 1
            value = np.nan_to_num(self.contexts.X[lane, added, 0])
            self.cache[lane, added] = math.sin(self.steps[lane]) + value
            if evicted >= 0:
                self.cache[lane, evicted] = 0.0

    def predict(self, X: NDArray[np.float32], lanes: NDArray[np.int64]) -> list[Prediction]:
        return [self._predict(queries, lane) for queries, lane in zip(X, lanes, strict=True)]

    def _predict(self, queries: NDArray[np.float32], lane: np.int64) -> Prediction:
        slots = self.contexts.slots_of(int(lane))
        classes, labels = np.unique(self.contexts.y[lane, slots], return_inverse=True)
        proba = np.ones((len(queries), len(classes)))
        if len(classes):
            for k, query in enumerate(queries):
                near = 1.0 / (1.0 + abs(self.cache[lane, slots] - np.nan_to_num(query[0])))
                proba[k] = np.bincount(labels, near**4, len(classes))
                self.cache[lane, slots] += 0.01 * near
            proba /= proba.sum(axis=1, keepdims=True)
        return Prediction(classes, proba)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"cache": self.cache.copy(), "steps": self.steps.copy()}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        self.cache, self.steps = state["cache"].copy(), state["steps"].copy()


class Forgetful(Cached):
    """The same without its caches in the state: what a resumed run must not be."""

    def open(self, contexts: Contexts) -> ForgetfulSession:
        return ForgetfulSession(contexts)


class ForgetfulSession(CachedSession):
    def state(self) -> dict[str, NDArray[Any]]:
        return {}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        pass
