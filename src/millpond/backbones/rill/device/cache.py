"""Keys and values of the rows in each context, by slot, on the device.

Column 0 is the sink, column s + 1 the context's slot s, and the last one takes what must not be kept:
the keys of lanes that have no row waiting. `bias` is 0 where a column holds a row and shuts it elsewhere.

A delta is pending until the keys of the row that it added are written: until then the evicted row is
still seen by that row's own token, and the promoted one has its long-bank offset for queries only.
"""

from __future__ import annotations

import torch
from torch import Tensor

from millpond.backbones.rill.device.lanes import At
from millpond.backbones.rill.device.model import Model

SHUT = -1e30
SINK = 0
ALIGNED = 16


class Cache:
    """The rows of some lanes with room for `slots` each."""

    def __init__(self, model: Model, lanes: int, slots: int) -> None:
        s = model.shape
        self.columns = -(-(slots + 2) // ALIGNED) * ALIGNED
        self.trash = self.columns - 1
        self._rotary, self._offsets = s.rotary, model.offsets.to(model.dtype)
        make = {"device": model.device, "dtype": model.dtype}
        size = lanes, s.kv_heads, self.columns, s.head_dim
        self.keys = torch.zeros((s.layers + 1, *size), **make)
        self.values = torch.zeros((s.layers, *size), **make)
        self.keys[:, :, :, SINK] = model.sinks.to(model.dtype)[:, None]
        self.values[:, :, :, SINK] = model.sink_values.to(model.dtype)[:, None]
        self.bias = torch.full((lanes, self.columns), SHUT, device=model.device)
        self.bias[:, SINK] = 0.0
        # The pending delta of each lane, as columns; SINK where there is none.
        pending = torch.zeros((3, lanes), dtype=torch.int64, device=model.device)
        self.added, self.evicted, self.promoted = pending

    def admit(self, at: At, added: Tensor, evicted: Tensor, promoted: Tensor) -> None:
        """Note a delta by slots (-1: none) for lanes `at`, which have no pending one."""
        at.put(self.added, added + 1)
        at.put(self.evicted, evicted + 1)
        at.put(self.promoted, promoted + 1)
        self.bias[at.index, added + 1] = 0.0

    def settle(self, at: At) -> None:
        """The rows that waited in lanes `at` are encoded: their deltas hold for everyone."""
        evicted, promoted = at.of(self.evicted), at.of(self.promoted)
        self.bias[at.index, evicted] = torch.where(evicted == SINK, 0.0, SHUT)
        rows = self.keys[:, at.index, :, promoted]  # (n, A, G, D)
        there = (promoted != SINK).to(rows.dtype)[:, None, None, None]
        rows[..., self._rotary :] += self._offsets * there
        self.keys[:, at.index, :, promoted] = rows
        nothing = torch.zeros_like(evicted)
        for pending in (self.added, self.evicted, self.promoted):
            at.put(pending, nothing)

    def masks(self, at: At) -> tuple[Tensor, Tensor]:
        """(n, 2, N) what labelled tokens and queries are shut off from, (n, N) 1 at promoted rows."""
        evicted, promoted = at.of(self.evicted)[:, None], at.of(self.promoted)[:, None]
        shown = at.of(self.bias)
        queries = shown.scatter(1, evicted, torch.where(evicted == SINK, 0.0, SHUT))
        moved = torch.zeros_like(shown).scatter(1, promoted, (promoted != SINK).float())
        return torch.stack((shown, queries), 1), moved

    def saved(self) -> dict[str, Tensor]:
        """The tensors that decide the future."""
        return {
            "keys": self.keys,
            "values": self.values,
            "bias": self.bias,
            "added": self.added,
            "evicted": self.evicted,
            "promoted": self.promoted,
        }
