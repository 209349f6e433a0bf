"""How many values of a column's reference sample are below a row's, and equal to it, on a GPU.

The comparisons of `features._ranks`, without their (B, rows, F, REFERENCE) intermediates.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

ROWS = 64
STEP = 32  # reference values compared at once


@triton.jit
def _count(
    seen, reference, upto, below, equal, n, F, E,
    REFERENCE: tl.constexpr, ROWS: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    b, f = (tl.program_id(1) // F).to(tl.int64), tl.program_id(1) % F
    t = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = t < n
    at = (b * n + t) * F + f
    x = tl.load(seen + at, mask=there)
    end = tl.load(upto + t, mask=there, other=0)
    start = tl.maximum(end - REFERENCE, 0)
    first = tl.load(upto + tl.program_id(0) * ROWS)
    less = tl.zeros([ROWS], tl.int32)
    same = tl.zeros([ROWS], tl.int32)
    for low in range(tl.maximum(first - REFERENCE, 0), tl.max(end, 0), STEP):
        e = low + tl.arange(0, STEP)
        value = tl.load(reference + (b * F + f) * E + e, mask=e < E, other=float("nan"))
        inside = (e[None] >= start[:, None]) & (e[None] < end[:, None])
        less += tl.sum((inside & (value[None] < x[:, None])).to(tl.int32), 1)
        same += tl.sum((inside & (value[None] == x[:, None])).to(tl.int32), 1)
    tl.store(below + at, less, mask=there)
    tl.store(equal + at, same, mask=there)


def rank_counts(seen: Tensor, reference: Tensor, upto: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """(B, n, F) below and equal.

    seen (B, n, F), NaN where missing; reference (B, F, E): the rows that entered the sample, in
    order; upto (n,): how many had entered before a row, of which the last `size` count.
    """
    B, n, F = seen.shape
    seen, reference = seen.contiguous(), reference.contiguous()
    out: Any = [torch.empty_like(seen, dtype=torch.int32) for _ in range(2)]
    _count[(triton.cdiv(n, ROWS), B * F)](
        seen, reference, upto, *out, n, F, reference.shape[-1],
        REFERENCE=size, ROWS=ROWS, STEP=STEP,
    )  # fmt: skip
    return out[0], out[1]
