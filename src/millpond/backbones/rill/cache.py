"""Keys and values of the rows in each context, by slot: what a session has instead of a context.

A lane's keys are a matrix (A, columns) for each attention and key-value head. Column 0 is the sink,
column s + 1 the context's slot s. The first D of the A numbers are the key; three more meet three
numbers that a token puts behind its query, so that the product of the two is the masked score:

    closed   shuts a column that holds no row, for every token
    leaving  shuts a column for queries only: its row is evicted by the delta that added the newest
             row, which itself still saw it
    moved    adds the long bank's offset for queries only: its row is promoted by that delta

Such a delta is *pending* until the newest row's own keys are written; `settle` then makes it plain.
"""

from __future__ import annotations

import numpy as np

from millpond.backbones.base import IntArray
from millpond.backbones.rill.lanes import Lanes
from millpond.backbones.rill.network import Float32, Network
from millpond.state import State

EXTRA = 3
SHUT = np.float32(-1e30)
SINK = 0
ALIGNED = 16
"""Columns come in multiples of this, which products like."""


class Cache:
    """The rows of some lanes with room for `slots` each."""

    def __init__(self, network: Network, lanes: int, slots: int) -> None:
        s = network.shape
        self.rotary, self.dims = s.rotary, s.head_dim
        self.closed, self.leaving, self.moved = range(s.head_dim, s.head_dim + EXTRA)
        columns = -(-(slots + 1) // ALIGNED) * ALIGNED
        attentions = network.attentions()
        self.keys: Float32 = np.zeros(
            (lanes, len(attentions), s.kv_heads, s.head_dim + EXTRA, columns), np.float32
        )
        self.values: Float32 = np.zeros(
            (lanes, s.layers, s.kv_heads, columns, s.head_dim), np.float32
        )
        self.keys[:, :, :, self.closed, 1:] = SHUT
        self.keys[:, :, :, : s.head_dim, SINK] = np.stack([a.sink for a in attentions])
        self.values[:, :, :, SINK] = np.stack([layer.sink_value for layer in network.layers])
        self.offset = np.stack([a.offset for a in attentions])  # (layers + 1, G, D - rotary)
        self.used = np.ones(lanes, np.int64)  # columns that ever held a row, and the sink
        # The pending delta of each lane, as columns; SINK where there is none.
        self.added: IntArray = np.zeros(lanes, np.int64)
        self.evicted: IntArray = np.zeros(lanes, np.int64)
        self.promoted: IntArray = np.zeros(lanes, np.int64)

    @property
    def columns(self) -> int:
        return int(self.keys.shape[-1])

    def width(self, lanes: slice) -> int:
        """Columns that the fullest of some lanes uses."""
        return min(self.columns, -(-int(self.used[lanes].max()) // ALIGNED) * ALIGNED)

    def admit(self, lanes: Lanes, added: IntArray, evicted: IntArray, promoted: IntArray) -> None:
        """Note a delta by slots (-1: none) for n lanes without a pending one."""
        numbers, at = lanes.numbers, lanes.index
        self.added[at], self.evicted[at], self.promoted[at] = added + 1, evicted + 1, promoted + 1
        self.used[at] = np.maximum(self.used[at], added + 2)
        self.keys[numbers, :, :, self.closed, added + 1] = 0.0
        self._mark(numbers, self.leaving, evicted + 1, SHUT)
        self._mark(numbers, self.moved, promoted + 1, np.float32(1))

    def settle(self, lanes: Lanes) -> None:
        """The newest rows of n lanes are encoded: now the rest of their deltas holds for everyone."""
        numbers, at = lanes.numbers, lanes.index
        evicted, promoted = self.evicted[at].copy(), self.promoted[at].copy()
        self._mark(numbers, self.leaving, evicted, np.float32(0))
        self._mark(numbers, self.closed, evicted, SHUT)
        self._mark(numbers, self.moved, promoted, np.float32(0))
        there = promoted != SINK
        if there.any():
            # (n, layers + 1, G, D - rotary): once in a row's life, on what does not turn
            self.keys[numbers[there], :, :, self.rotary : self.dims, promoted[there]] += self.offset
        self.added[at] = self.evicted[at] = self.promoted[at] = SINK

    def write(self, attention: int, lanes: Lanes, keys: Float32, values: Float32 | None) -> None:
        """Put the newest rows' keys and values (n, G, D) into their columns."""
        numbers, columns = lanes.numbers, self.added[lanes.index]
        self.keys[numbers, attention, :, : self.dims, columns] = keys
        if values is not None:
            self.values[numbers, attention, :, columns] = values

    def _mark(self, lanes: IntArray, extra: int, columns: IntArray, mark: np.float32) -> None:
        there = columns != SINK
        if there.any():
            self.keys[lanes[there], :, :, extra, columns[there]] = mark

    def state(self) -> State:
        return {name: getattr(self, name).copy() for name in _SAVED}

    def restore(self, state: State) -> None:
        for name in _SAVED:
            getattr(self, name)[...] = state[name]

    def lane_state(self, lane: int) -> State:
        return {name: getattr(self, name)[lane : lane + 1].copy() for name in _SAVED}

    def restore_lane(self, lane: int, state: State) -> None:
        for name in _SAVED:
            getattr(self, name)[lane] = state[name][0]


_SAVED = ("keys", "values", "used", "added", "evicted", "promoted")
