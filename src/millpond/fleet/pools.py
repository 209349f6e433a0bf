"""The lanes of a fleet: one session for all keys whose rows have the same number of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from millpond.backbones import Prediction
from millpond.learner import ContextLearner
from millpond.state import State

FIRST = 16
GROWTH = 4
"""A pool has room for 16 lanes, then four times as many, up to the keys that may be in memory."""

Vector = NDArray[np.float32]


class Place(NamedTuple):
    """Where a key's lane is."""

    width: int
    lane: int


class _Pool:
    """The session of one width. Lanes that no key has are free."""

    def __init__(self, learner: ContextLearner, width: int) -> None:
        self.learner = learner
        learner.contexts.widen(width)
        self.free = list(range(learner.contexts.lanes))[::-1]

    @property
    def lanes(self) -> int:
        return self.learner.contexts.lanes


class Pools:
    """All lanes, by width. ``make`` makes a learner of so many lanes, ``most`` bounds them."""

    def __init__(self, make: Callable[[int], ContextLearner], most: int) -> None:
        self._make, self._most = make, most
        self._pools: dict[int, _Pool] = {}
        self._blank = make(1).lane_state(0)

    def enter(self, width: int, state: State | None = None) -> Place:
        """A lane for a key whose rows are of this width: with its state, of as many columns or fewer."""
        pool = self._pools.get(width)
        if pool is None:
            pool = self._pools[width] = _Pool(self._make(min(FIRST, self._most)), width)
        if not pool.free:
            pool = self._pools[width] = self._grown(pool, width)
        lane = pool.free.pop()
        try:
            pool.learner.restore_lane(lane, self._blank if state is None else state)
        except BaseException:
            self.leave(Place(width, lane))
            raise
        return Place(width, lane)

    def leave(self, place: Place) -> None:
        pool = self._pools[place.width]
        pool.free.append(place.lane)
        if len(pool.free) == pool.lanes:
            del self._pools[place.width]  # its memory goes with the last of its keys

    def state(self, place: Place) -> State:
        return self._pools[place.width].learner.lane_state(place.lane)

    def facts(self, place: Place) -> State:
        return self._pools[place.width].learner.contexts.facts([place.lane])

    def banks(self, place: Place, labels: int) -> dict[str, Any]:
        return self._pools[place.width].learner.banks(place.lane, labels)

    def predict(
        self, places: Sequence[Place], rows: Sequence[Vector]
    ) -> list[tuple[Prediction, float]]:
        """One row for each of some lanes -> what they say, and how uncertain it is."""
        found: list[tuple[Prediction, float] | None] = [None] * len(places)
        for pool, chosen, lanes in self._by_pool(places):
            X = np.stack([rows[at] for at in chosen])[:, None]
            predictions = pool.learner.predict(range(1), X, lanes)
            scores = pool.learner.score(predictions, lanes)[:, 0].tolist()
            for at, prediction, score in zip(chosen, predictions, scores, strict=True):
                found[at] = prediction, score
        return [each for each in found if each is not None]

    def learn(
        self,
        places: Sequence[Place],
        rows: Sequence[Vector],
        codes: Sequence[int],
        scores: Sequence[float],
    ) -> None:
        """One labelled row for each of some lanes."""
        for pool, chosen, lanes in self._by_pool(places):
            X = np.stack([rows[at] for at in chosen])
            y = np.array([codes[at] for at in chosen])
            pool.learner.learn(0, X, y, np.array([scores[at] for at in chosen]), lanes)

    def bytes(self) -> int:
        """Of the arrays of all lanes, also of those that are free."""
        total = 0
        for pool in self._pools.values():
            state = pool.learner.lane_state(0)
            total += pool.lanes * sum(array.nbytes for array in state.values())
        return total

    def _by_pool(self, places: Sequence[Place]) -> list[tuple[_Pool, list[int], NDArray[np.int64]]]:
        """Pool by pool, the positions in the list in the order of their lanes, and the lanes."""
        order = sorted(range(len(places)), key=places.__getitem__)
        parts: dict[int, list[int]] = {}
        for at in order:
            parts.setdefault(places[at].width, []).append(at)
        return [
            (self._pools[width], chosen, np.array([places[at].lane for at in chosen]))
            for width, chosen in parts.items()
        ]

    def _grown(self, pool: _Pool, width: int) -> _Pool:
        """A larger pool with the same lanes."""
        larger = _Pool(self._make(min(pool.lanes * GROWTH, self._most)), width)
        for lane in range(pool.lanes):
            larger.learner.restore_lane(lane, pool.learner.lane_state(lane))
        larger.free = list(range(pool.lanes, larger.lanes))[::-1]
        return larger
