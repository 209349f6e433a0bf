"""The session of a model that reads its whole context anew at each query: it keeps nothing of its own."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.base import IntArray, Prediction
from millpond.backbones.published.tables import FloatArray, Table
from millpond.context import Contexts, Deltas
from millpond.errors import CheckpointError
from millpond.state import State


class Model(Protocol):
    """A frozen network with its library's preparation of tables."""

    def probabilities(self, tables: list[Table]) -> list[FloatArray]:
        """For each table the (k, classes) probabilities of its queries."""


class ReencodingSession:
    """Contexts of one or many lanes, read from their arrays at each query."""

    def __init__(self, model: Model, contexts: Contexts, weights_sha256: str) -> None:
        self._model, self._contexts, self._sha256 = model, contexts, weights_sha256

    def update(self, deltas: Deltas) -> None:
        pass  # the contexts' arrays are read at the query

    def predict(self, X: NDArray[np.float32], lanes: IntArray) -> list[Prediction]:
        """(n, k, d) queries to n lanes, those with something to tell apart together."""
        found: list[Prediction] = []
        tables: list[Table] = []
        open_places: list[int] = []
        for place, lane in enumerate(lanes.tolist()):
            slots = self._contexts.slots_of(lane)
            classes, labels = np.unique(self._contexts.y[lane, slots], return_inverse=True)
            found.append(Prediction(classes, np.ones((X.shape[1], len(classes)))))
            if len(classes) > 1 and X.shape[1]:
                rows = self._contexts.X[lane].take(slots, axis=0)
                tables.append(Table(rows, labels.astype(np.int64), X[place], len(classes)))
                open_places.append(place)
        if tables:
            answers = self._model.probabilities(tables)
            for place, proba in zip(open_places, answers, strict=True):
                wide = proba.astype(np.float64)
                wide /= wide.sum(axis=1, keepdims=True)  # float32 rounding
                found[place] = Prediction(found[place].classes, wide)
        return found

    def state(self) -> State:
        return {"weights": np.frombuffer(bytes.fromhex(self._sha256), np.uint8)}

    def restore(self, state: State) -> None:
        made_by = state["weights"].tobytes().hex()
        if made_by != self._sha256:
            raise CheckpointError(
                f"this state was made with weights {made_by[:12]}, these are "
                f"{self._sha256[:12]}: go on with those that began"
            )
