"""A session: contexts as caches that follow their deltas, one token for a row, one for a query.

A row is encoded when its keys are first needed, which is at the lane's next query: one pass over the
weights then serves both. Until then the row *waits*. Waiting rows are saved as such, so that saving
never changes what comes after. What else is asked in between (a second query, a chunk of them, other
lanes) changes the sizes of matrix products, and so at most the last bits of a float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.base import Prediction
from millpond.backbones.rill.anew import told_anew
from millpond.backbones.rill.cache import Cache
from millpond.backbones.rill.classes import Classes
from millpond.backbones.rill.engine import Engine
from millpond.backbones.rill.features import CHANNELS, Columns
from millpond.backbones.rill.head import probabilities
from millpond.backbones.rill.lanes import Lanes
from millpond.backbones.rill.network import Float32, Network
from millpond.context import Contexts, Deltas
from millpond.errors import OtherWeights
from millpond.state import State, named, under

BLOCK = 256
"""Queries that go through the network together."""
COMPARED = 2**16
"""Values that are ranked together: each is compared with a reference sample."""


class RillSession:
    """The session of one or many lanes."""

    def __init__(self, network: Network, contexts: Contexts) -> None:
        self._network, self._contexts = network, contexts
        lanes, d = contexts.lanes, network.shape.width
        self._cache = Cache(network, lanes, contexts.slots)
        self._engine = Engine(network, self._cache)
        self._classes = Classes(lanes, self._cache.columns)
        self._position = np.zeros(lanes, np.int64)  # rows learned: the next query's position
        self._waiting = np.zeros(lanes, np.bool_)
        self._token: Float32 = np.zeros((lanes, d), np.float32)  # of the row that waits
        # The last query of each lane, which mostly is the next row: its embedding is that row's,
        # unless something was learned in between.
        self._asked = np.zeros(lanes, np.bool_)
        self._embedding: Float32 = np.zeros((lanes, d), np.float32)
        self._set_columns(Columns(lanes, 0))

    def _set_columns(self, columns: Columns) -> None:
        """Room for rows of so many columns; how many is known from the first one on."""
        lanes, network = self._contexts.lanes, self._network
        self._columns = columns
        self._features = features = columns.mean.shape[1]
        self._asked[:] = False
        self._query: NDArray[np.float32] = np.zeros((lanes, features), np.float32)
        # Columns beyond the network's slots share them: column f has slot f mod slots.
        self._slots = min(features, network.shape.slots)
        own = np.ascontiguousarray(network.columns[:, : self._slots])
        self._weights: Float32 = own.reshape(CHANNELS * self._slots, network.shape.width)

    # -- the seam --------------------------------------------------------------------------------

    def update(self, deltas: Deltas) -> None:
        """Follow one delta in each of n lanes. The new rows wait for their lanes' next queries."""
        X, lanes = self._add(deltas)  # which may put wider columns in place
        self._columns.learn(X, lanes)

    def _add(self, deltas: Deltas) -> tuple[NDArray[np.float32], Lanes]:
        """All of it but the statistics of the columns: the new rows (n, F), and their lanes."""
        X = self._contexts.X[deltas.lanes, deltas.added]
        labels = self._contexts.y[deltas.lanes, deltas.added]
        if X.shape[1] != self._features:
            self._set_columns(self._columns.widened(X.shape[1]))
        lanes = Lanes(deltas.lanes)
        self._encode_waiting(lanes)
        self._token[lanes.index] = self._embeddings_of(X, lanes)
        self._token[lanes.index] += self._network.codes[labels % self._network.shape.codes]
        self._cache.admit(lanes, deltas.added, deltas.evicted, deltas.promoted)
        at, arrival = lanes.index, deltas.added_arrival
        self._classes.learn(lanes, labels, deltas.added + 1, deltas.evicted + 1, arrival)
        self._position[at] = arrival + 1
        self._waiting[at], self._asked[at] = True, False
        return X, lanes

    def predict(self, X: NDArray[np.float32], lanes: NDArray[np.int64]) -> list[Prediction]:
        """(n, k, d) queries to n lanes -> for each lane what its k rows are, given its context.

        Without a query (k = 0) the rows that wait are encoded. A row that is asked alone after that is
        answered to the bit as at any other time; products of more rows round in other ways.
        """
        present = self._classes.count[lanes] > 0
        several = np.flatnonzero(present.sum(1) > 1)
        k = X.shape[1]
        if not k:
            self._encode_waiting(Lanes(lanes))
        proba = np.zeros((len(lanes), k, present.shape[1]))
        if len(several) and k:
            proba[several] = self._ask(X[several], Lanes(lanes[several]))
        predictions = []
        for lane, here, rows in zip(lanes, present, proba, strict=True):
            places = np.flatnonzero(here)
            codes = self._classes.code[lane, places]
            order = np.argsort(codes)
            own = rows[:, places[order]] if len(places) > 1 else np.ones((k, len(places)))
            predictions.append(Prediction(codes[order], own))
        return predictions

    def state(self) -> State:
        """Caches, statistics and rows that wait; nothing is encoded for it."""
        state = {name: getattr(self, f"_{name}").copy() for name in _SAVED}
        state["weights"] = np.frombuffer(bytes.fromhex(self._network.sha256), np.uint8)
        state |= named("cache.", self._cache.state())
        state |= named("classes.", self._classes.state())
        return state | named("columns.", self._columns.state())

    def restore(self, state: State) -> None:
        refuse_other_weights(state, self._network)
        self._set_columns(Columns(self._contexts.lanes, state["query"].shape[1]))
        for name in _SAVED:
            getattr(self, f"_{name}")[...] = state[name]
        self._cache.restore(under("cache.", state))
        self._classes.restore(under("classes.", state))
        self._columns.restore(under("columns.", state))

    def encode_anew(self, state: State) -> None:
        """Take up what another network's session saved; this one has learned nothing yet.

        The statistics of the columns are no network's and stay. Each row of the contexts is encoded again
        as if it came now: by these statistics, seeing the rows that came before it and are still there.
        """
        columns = under("columns.", state)
        self._set_columns(Columns(self._contexts.lanes, columns["mean"].shape[1]))
        self._columns.restore(columns)
        for deltas in told_anew(self._contexts):
            self._add(deltas)

    def __getstate__(self) -> dict[str, Any]:
        """For pickles and copies: buffers are views of each other, which both would part."""
        return {"network": self._network, "contexts": self._contexts, "state": self.state()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        RillSession.__init__(self, kept["network"], kept["contexts"])
        self.restore(kept["state"])  # by copies: what was kept may be read-only

    def lane_state(self, lane: int) -> State:
        """One lane's part of the state: what a session of this lane alone would have."""
        state = {name: getattr(self, f"_{name}")[lane : lane + 1].copy() for name in _SAVED}
        state["weights"] = np.frombuffer(bytes.fromhex(self._network.sha256), np.uint8)
        state |= named("cache.", self._cache.lane_state(lane))
        state |= named("classes.", self._classes.lane_state(lane))
        return state | named("columns.", self._columns.lane_state(lane))

    def restore_lane(self, lane: int, state: State) -> None:
        """Put a lane's state in the place of another's; columns it has not had are as new."""
        refuse_other_weights(state, self._network)
        features = self._contexts.X.shape[2]
        if features != self._features:
            self._set_columns(self._columns.widened(features))
        for name in _SAVED[:-1]:
            getattr(self, f"_{name}")[lane] = state[name][0]
        had = state["query"].shape[1]
        self._query[lane] = 0.0
        self._query[lane, :had] = state["query"][0]
        self._asked[lane] &= had == features  # an embedding of other columns is no one's any more
        self._cache.restore_lane(lane, under("cache.", state))
        self._classes.restore_lane(lane, under("classes.", state))
        self._columns.restore_lane(lane, under("columns.", state))

    # -- inside ----------------------------------------------------------------------------------

    def _ask(self, X: NDArray[np.float32], lanes: Lanes) -> NDArray[np.float64]:
        """(n, k, F) queries -> (n, k, C) probabilities over the lanes' classes, a block at a time."""
        most = min(BLOCK, COMPARED // max(self._features, 1)) // len(lanes)
        size = max(1, most)
        parts = [
            self._ask_block(X[:, start : start + size], lanes)
            for start in range(0, X.shape[1], size)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _ask_block(self, X: NDArray[np.float32], lanes: Lanes) -> NDArray[np.float64]:
        n, k = X.shape[:2]
        at = lanes.index
        embedded = self._embed(X, lanes).reshape(n, k, -1)
        self._asked[at] = k == 1
        if k == 1:
            self._query[at], self._embedding[at] = X[:, 0], embedded[:, 0]
        together = bool(self._waiting[at].all())
        if not together:
            self._encode_waiting(lanes)
        block = self._engine.block(n, together, k)
        np.add(embedded, self._network.ask, out=block.x[:, int(together) :])
        if together:
            block.x[:, 0] = self._token[at]
        states, turn = self._engine.encode(block, lanes, self._position[at])
        self._waiting[at] = False
        return probabilities(self._engine, self._classes, lanes, states, turn, self._position[at])

    def _encode_waiting(self, lanes: Lanes) -> None:
        """Encode the rows that wait in some of these lanes, without a query."""
        waiting = lanes.numbers[self._waiting[lanes.index]]
        if not len(waiting):
            return
        lanes = Lanes(waiting)
        block = self._engine.block(len(lanes), True, 0)
        block.x[:, 0] = self._token[lanes.index]
        self._engine.encode(block, lanes, self._position[lanes.index])
        self._waiting[lanes.index] = False

    def _embed(self, X: NDArray[np.float32], lanes: Lanes) -> Float32:
        """(n, k, F) rows -> (n k, d), from their features by what the lanes have learned so far."""
        channels = self._columns.channels(X, lanes)
        n, k, _, features = channels.shape
        if features > self._slots:
            whole = -(-features // self._slots)
            padded = np.zeros((n, k, CHANNELS, whole * self._slots), np.float32)
            padded[..., :features] = channels
            channels = padded.reshape(n, k, CHANNELS, whole, self._slots).sum(3)
        return self._engine.embed(channels.reshape(n * k, -1), self._weights)

    def _embeddings_of(self, X: NDArray[np.float32], lanes: Lanes) -> Float32:
        """(n, F) rows -> (n, d): as they were when last asked about, where that still holds."""
        at = lanes.index
        same = self._query[at].view(np.int32) == X.view(np.int32)  # bit by bit: NaN equals itself
        if (same.all(1) & self._asked[at]).all():
            return self._embedding[at]
        return self._embed(X[:, None], lanes)


def refuse_other_weights(state: State, network: Network) -> None:
    made_by = state["weights"].tobytes().hex()
    if made_by != network.sha256:
        raise OtherWeights(
            f"this state was made by Rill weights {made_by[:12]}, these are "
            f"{network.sha256[:12]}: go on with those that began"
        )


_SAVED = ("position", "waiting", "token", "asked", "embedding", "query")
