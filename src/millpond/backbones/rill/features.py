"""Column features: what the numbers of a row become before the network sees them, lane by lane.

Each column keeps running statistics and a reference sample of past values. A row's features are made
once, from the rows that were learned before it and itself, and never change. With x the new value,

    count' = count + 1,  a = max(1 / count', 1 / WINDOW),  delta = x - mean
    mean'  = mean + a delta,  var' = (1 - a) (var + a delta^2)          exponential forgetting, late
    z      = clip((x - mean') / sqrt(var'), -CLIP, CLIP)
    p      = (below + equal / 2 + 1/2) / (r + 1),  g = log(p / (1 - p)) / 1.702
    tie    = equal / max(r, 1)

where below, equal and r count the values of the reference sample that are smaller, equal, and there at
all. The reference sample is a ring of REFERENCE rows: the first ones, then one row in eight.

A constant column (var' = 0) is invisible: all its channels are 0, so that columns of zeros may pad a
lane. A value that is not finite is missing: it changes nothing, and only `missing` is 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.rill.lanes import Lanes
from millpond.state import State

WINDOW = 4096
REFERENCE = 256
CLIP = 5.0
CHANNELS = 13

TRAINED_ORDER = [0, 4, 11, 1, 3, 2, 5, 7, 9, 6, 8, 10, 12]
"""Where our channels stand in the trained order (z, tanh z, sin 3z, exp -z^2, g, sin 2g, cos 2g, ...).

Ours groups them by function: z, g, tie, tanh z, exp -z^2, sin(3z 2g 5g 11g), cos(2g 5g 11g), missing."""

Floats = NDArray[np.float64]


def enters_reference(rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a lane's row joins the reference sample, given the number of rows before it.

    One in eight in a golden-ratio order, which no period of the stream can align with.
    """
    early: NDArray[np.bool_] = rows < REFERENCE
    return early | ((rows * 2654435761) % 2**32 < 2**29)


class Columns:
    """Running statistics of F columns in each of some lanes."""

    def __init__(self, lanes: int, features: int) -> None:
        self.rows = np.zeros(lanes, np.int64)  # learned so far
        self.count = np.zeros((lanes, features))
        self.mean = np.zeros((lanes, features))
        self.var = np.zeros((lanes, features))
        # The sample's axis is last: comparing a value with its whole sample is one contiguous pass.
        self.reference = np.full((lanes, features, REFERENCE), np.nan, np.float32)
        self.present = np.zeros((lanes, features))  # finite values in the sample
        self.next = np.zeros(lanes, np.int64)  # place in the ring

    def widened(self, features: int) -> Columns:
        """The same with more columns on the right, in which every value so far was missing."""
        wider = Columns(len(self.rows), features)
        for name in _SAVED:
            before = getattr(self, name)
            getattr(wider, name)[tuple(map(slice, before.shape))] = before
        return wider

    def channels(self, X: NDArray[np.float32], lanes: Lanes) -> NDArray[np.float32]:
        """(n, k, F) rows of n lanes -> (n, k, CHANNELS, F), without learning them."""
        finite = np.isfinite(X)
        x = np.where(finite, X, np.float32(0)).astype(np.float64)
        _, mean, var = self._advanced(x, finite, lanes)
        visible = var > 0
        here = visible & finite
        z = (x - mean) / np.sqrt(np.where(visible, var, 1.0))
        out = np.empty((*X.shape[:2], CHANNELS, X.shape[2]), np.float32)
        np.clip(z, -CLIP, CLIP, out=out[:, :, 0], casting="same_kind")
        self._ranks(X, lanes, out[:, :, 1], out[:, :, 2])
        z32, g32 = out[:, :, 0], out[:, :, 1]
        np.tanh(z32, out=out[:, :, 3])
        np.exp(-z32 * z32, out=out[:, :, 4])
        angle = out[:, :, 5:9]
        np.multiply(z32, np.float32(3), out=angle[:, :, 0])
        np.multiply(g32[:, :, None], _TURNS, out=angle[:, :, 1:])
        np.cos(angle[:, :, 1:], out=out[:, :, 9:12])
        np.sin(angle, out=angle)
        # However many columns there are, together they weigh the same.
        scale = 1.0 / np.sqrt(np.maximum(visible.sum(-1, keepdims=True), 1))
        out[:, :, :12] *= (here * scale).astype(np.float32)[:, :, None]
        np.multiply(visible & ~finite, scale, out=out[:, :, 12], casting="same_kind")
        return out

    def learn(self, X: NDArray[np.float32], lanes: Lanes) -> None:
        """Advance n lanes by a row each, (n, F), that has been added to their contexts."""
        finite = np.isfinite(X)
        x = np.where(finite, X, np.float32(0)).astype(np.float64)[:, None]
        count, mean, var = self._advanced(x, finite[:, None], lanes)
        at = lanes.index
        self.count[at], self.mean[at], self.var[at] = count[:, 0], mean[:, 0], var[:, 0]
        entering = np.flatnonzero(enters_reference(self.rows[at]))
        if len(entering):
            lane = lanes.numbers[entering]
            place = self.next[lane]
            new = np.where(finite[entering], X[entering], np.float32(np.nan))
            # present follows by what comes and what goes: (entering, F)
            self.present[lane] += finite[entering]
            self.present[lane] -= np.isfinite(self.reference[lane, :, place])
            self.reference[lane, :, place] = new
            self.next[lane] = (place + 1) % REFERENCE
        self.rows[at] += 1

    def _advanced(
        self, x: Floats, finite: NDArray[np.bool_], lanes: Lanes
    ) -> tuple[Floats, Floats, Floats]:
        """(count, mean, var) as they would be after each of the rows (n, k, F): (n, k, F) each."""
        at = lanes.index
        mean, var = self.mean[at][:, None], self.var[at][:, None]
        count = self.count[at][:, None] + finite
        rate = np.maximum(1.0 / np.maximum(count, 1.0), 1.0 / WINDOW)
        delta = np.where(finite, x - mean, 0.0)
        step = rate * delta
        spread = np.where(finite, (1.0 - rate) * (var + step * delta), var)
        return count, mean + step, spread

    def _ranks(
        self,
        X: NDArray[np.float32],
        lanes: Lanes,
        g: NDArray[np.float32],
        tie: NDArray[np.float32],
    ) -> None:
        """Write g and tie of rows (n, k, F)."""
        at = lanes.index
        reference, present = self.reference[at][:, None], self.present[at][:, None]
        x = X[..., None]
        below, equal = _counted(reference < x), _counted(reference == x)
        p = (below + 0.5 * equal + 0.5) / (present + 1.0)
        np.divide(np.log(p / (1.0 - p)), 1.702, out=g, casting="same_kind")
        np.divide(equal, np.maximum(present, 1.0), out=tie, casting="same_kind")

    def state(self) -> State:
        return {name: getattr(self, name).copy() for name in _SAVED}

    def restore(self, state: State) -> None:
        for name in _SAVED:
            getattr(self, name)[...] = state[name]

    def lane_state(self, lane: int) -> State:
        return {name: getattr(self, name)[lane : lane + 1].copy() for name in _SAVED}

    def restore_lane(self, lane: int, state: State) -> None:
        """Columns beyond those of the state are as new."""
        fresh = Columns(1, self.mean.shape[1])
        features = state["mean"].shape[1]
        for name in _SAVED:
            whole = getattr(fresh, name)
            whole[(slice(None), slice(features))[: whole.ndim]] = state[name]
            getattr(self, name)[lane] = whole[0]


def _counted(hits: NDArray[np.bool_]) -> NDArray[Any]:
    """(..., REFERENCE) -> (...) how many are true; 16 bits hold them and add up fast."""
    return np.asarray(hits.view(np.uint8).sum(-1, dtype=np.uint16))


_TURNS = np.array([2, 5, 11], np.float32)[:, None]
_SAVED = ("rows", "count", "mean", "var", "reference", "present", "next")
