"""The classes of each lane: which rows of the context are whose, how many, and when last seen.

A class has a place in its lane from its first row on. `ballot` says which columns of the cache hold its
rows; a column keeps its last row's class until another row takes it, as a shut column has no vote.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.rill.lanes import Lanes
from millpond.state import State

NONE = -1


class Classes:
    """Counts, last arrivals and ballots of some lanes."""

    def __init__(self, lanes: int, columns: int) -> None:
        self.of_column = np.full((lanes, columns), NONE, np.int64)  # place of the row's class
        self._places: list[dict[int, int]] = [{} for _ in range(lanes)]
        self._make_room(2)

    def _make_room(self, classes: int) -> None:
        lanes, columns = self.of_column.shape
        self.code = np.zeros((lanes, classes), np.int64)
        self.count = np.zeros((lanes, classes), np.int64)  # rows in the context
        self.last = np.zeros((lanes, classes), np.int64)  # position of the last arrival
        self.ballot = np.zeros((lanes, 1, columns, classes), np.float32)

    def learn(
        self,
        lanes: Lanes,
        labels: NDArray[np.int64],
        added: NDArray[np.int64],
        evicted: NDArray[np.int64],
        position: NDArray[np.int64],
    ) -> None:
        """A row came into a column of each of n lanes; another left (column 0: none did)."""
        numbers = lanes.numbers
        there = evicted > 0
        gone = self.of_column[numbers[there], evicted[there]]
        self.count[numbers[there], gone] -= 1
        place = np.array(
            [self._place(*pair) for pair in zip(numbers.tolist(), labels.tolist(), strict=True)]
        )
        self.count[numbers, place] += 1
        self.last[numbers, place] = position
        self.of_column[numbers, added] = place
        self.ballot[numbers, 0, added] = 0.0
        self.ballot[numbers, 0, added, place] = 1.0

    def _place(self, lane: int, label: int) -> int:
        places = self._places[lane]
        place = places.get(label)
        if place is None:
            place = places[label] = len(places)
            if place == self.code.shape[1]:
                self._grow()
            self.code[lane, place] = label
        return place

    def _grow(self) -> None:
        """Room for half as many classes again."""
        before, classes = self.ballot, self.code.shape[1]
        kept = self.code, self.count, self.last
        self._make_room(classes + max(2, classes // 2))
        self.ballot[..., :classes] = before
        for new, old in zip((self.code, self.count, self.last), kept, strict=True):
            new[:, :classes] = old

    def state(self) -> State:
        return {
            "code": self.code.copy(),
            "count": self.count.copy(),
            "last": self.last.copy(),
            "of_column": self.of_column.copy(),
            "known": np.array([len(places) for places in self._places], np.int64),
        }

    def lane_state(self, lane: int) -> State:
        """With room for the lane's own classes alone."""
        known = len(self._places[lane])
        state = {name: getattr(self, name)[lane : lane + 1, :known].copy() for name in _BY_CLASS}
        state["of_column"] = self.of_column[lane : lane + 1].copy()
        return state | {"known": np.array([known], np.int64)}

    def restore_lane(self, lane: int, state: State) -> None:
        known = int(state["known"][0])
        while self.code.shape[1] < known:
            self._grow()
        for name in _BY_CLASS:
            getattr(self, name)[lane] = 0
            getattr(self, name)[lane, :known] = state[name][0, :known]
        codes = self.code[lane, :known].tolist()
        self._places[lane] = {code: place for place, code in enumerate(codes)}
        self.of_column[lane] = state["of_column"][0]
        self.ballot[lane] = 0.0
        columns = np.flatnonzero(self.of_column[lane] != NONE)
        self.ballot[lane, 0, columns, self.of_column[lane, columns]] = 1.0

    def restore(self, state: State) -> None:
        self.of_column = state["of_column"].copy()
        self._make_room(state["code"].shape[1])
        arrays: dict[str, NDArray[Any]] = {
            "code": self.code,
            "count": self.count,
            "last": self.last,
        }
        for name, array in arrays.items():
            array[...] = state[name]
        for lane, known in enumerate(state["known"].tolist()):
            codes = self.code[lane, :known].tolist()
            self._places[lane] = {code: place for place, code in enumerate(codes)}
        lanes, columns = np.nonzero(self.of_column != NONE)
        self.ballot[lanes, 0, columns, self.of_column[lanes, columns]] = 1.0


_BY_CLASS = ("code", "count", "last")
