"""Each row's distance to the closest later row, in Triton: tiles of pairs, never an array of them all."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

TILE = 32


@triton.jit  # type: ignore[untyped-decorator]
def _minima(phi, own, out, L, F, tiles, TILE: tl.constexpr):  # type: ignore[no-untyped-def]
    row_tile, column_tile = tl.program_id(0), tl.program_id(1)
    lane = tl.program_id(2).to(tl.int64)
    i = row_tile * TILE + tl.arange(0, TILE)
    j = column_tile * TILE + tl.arange(0, TILE)
    best = tl.full([TILE], float("inf"), tl.float64)
    if column_tile >= row_tile:
        total = tl.zeros([TILE, TILE], tl.float64)
        for f in range(F):
            column = phi + (lane * F + f) * L
            a = tl.load(column + i, mask=i < L, other=0.0)
            b = tl.load(column + j, mask=j < L, other=0.0)
            difference = a[:, None] - b[None]
            total += difference * difference
        here = tl.load(own + lane * L + i, mask=i < L, other=0) != 0
        there = tl.load(own + lane * L + j, mask=j < L, other=0) != 0
        pairs = here[:, None] & there[None] & (j[None] > i[:, None])
        best = tl.min(tl.where(pairs, total, float("inf")), 1)
    tl.store(out + (lane * tiles + column_tile) * L + i, tl.sqrt(best), mask=i < L)


def row_minima(phi: Tensor, own: Tensor) -> Tensor:
    """(n, L, F) float64, (n, L) -> (n, L)."""
    n, L, F = phi.shape
    tiles = triton.cdiv(L, TILE)
    by_column = phi.mT.contiguous()  # (n, F, L)
    out = phi.new_empty(n, tiles, L)
    _minima[(tiles, tiles, n)](by_column, own.to(torch.uint8), out, L, F, tiles, TILE=TILE)
    return out.amin(1)
