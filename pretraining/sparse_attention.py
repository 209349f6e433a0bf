"""The model's attention on a GPU: FlexAttention over the blocks that a retention leaves visible.

A bounded context leaves most of the (2n, 2m + 1) mask empty: a band for the short bank, a few rows
beyond it for the long one. Blocks are kept by bounds on the rows' times (never dropping a visible
pair) and the exact rule is applied inside them, so the result is that of `DenseAttention`.
"""

from __future__ import annotations

from typing import Any

import torch
from pretraining.model import Rows
from pretraining.retention import NEVER
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, flex_attention
from torch.nn.functional import pad

SIDE = 128


def _blocks(x: Tensor, fill: int) -> Tensor:
    """(B, m) -> (B, blocks, SIDE), the last block filled up."""
    return pad(x, (0, -x.shape[1] % SIDE), value=fill).reshape(len(x), -1, SIDE)


def _listed(there: Tensor) -> tuple[Tensor, Tensor]:
    """(B, I, J) which blocks -> their number and their indices, the listed ones first."""
    order = there.to(torch.int8).argsort(dim=-1, descending=True, stable=True)
    return there.sum(-1, dtype=torch.int32)[:, None], order.to(torch.int32)[:, None]


def block_mask(new: Rows, rows: Rows, labelled: bool = True) -> BlockMask:
    """The blocks of `visibility(new, rows)`, or of its query tokens; n, m multiples of SIDE."""
    (_, n), m = new.arrive.shape, rows.arrive.shape[1]
    if n % SIDE or m % SIDE:
        raise ValueError(f"sequence lengths must be multiples of {SIDE}: {n}, {m}")
    step, arrive, promoted, leaves = new.arrive, rows.arrive, rows.promoted, rows.leaves
    own = n if labelled else 0  # tokens before this one see their own row

    def seen(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        t, row = step[b, i % n], j % m
        come = (arrive[b, row] < t) | ((arrive[b, row] == t) & (i < own))
        long = t >= promoted[b, row]
        bank = torch.where(j < m, ~long, long)
        return (come & (t < leaves[b, row]) & bank & (j < 2 * m)) | (j == 2 * m)

    tokens = 2 if labelled else 1
    t_low, t_high = _blocks(step, NEVER).amin(-1), _blocks(step, -1).amax(-1)
    t_low, t_high = (x.repeat(1, tokens)[:, :, None] for x in (t_low, t_high))  # (B, I, 1)
    come_low, come_high = _blocks(arrive, NEVER).amin(-1), _blocks(arrive, NEVER).amax(-1)
    until = promoted.minimum(leaves)  # end of the time in the short bank
    until_low, until_high = _blocks(until, -1).amin(-1), _blocks(until, -1).amax(-1)
    kept = promoted < leaves
    since = _blocks(torch.where(kept, promoted, NEVER), NEVER).amin(-1)
    gone = _blocks(torch.where(kept, leaves, -1), -1).amax(-1)
    short = (come_low[:, None] <= t_high) & (until_high[:, None] > t_low)
    full = (come_high[:, None] < t_low) & (until_low[:, None] > t_high)
    long = (since[:, None] <= t_high) & (gone[:, None] > t_low)
    sink = torch.ones_like(short[..., :1])
    none = torch.zeros_like(long)
    partial = torch.cat([short & ~full, long, sink], -1)
    whole = torch.cat([full, none, ~sink], -1)
    return BlockMask.from_kv_blocks(
        *_listed(partial),
        *_listed(whole),
        BLOCK_SIZE=SIDE,
        mask_mod=seen,
        seq_lengths=(tokens * n, 2 * m + 1),
    )


class SparseAttention:
    """`DenseAttention` by FlexAttention; uncompiled it is a slow reference."""

    long = True

    def __init__(self, new: Rows, rows: Rows, compiled: bool = True) -> None:
        self.masks = {2: block_mask(new, rows), 1: block_mask(new, rows, labelled=False)}
        self.n = new.arrive.shape[1]
        self.flex: Any = _compiled_flex() if compiled else flex_attention

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        mask = self.masks[q.shape[2] // self.n]
        wide, asked = q.shape[-1], v.shape[-1]
        # One width for values and ballots: one kernel to compile.
        v = pad(v, (0, max(0, wide - asked)))
        out: Tensor = self.flex(q, k, v, block_mask=mask, enable_gqa=q.shape[1] != k.shape[1])
        return out[..., :asked]


def _compiled_flex() -> Any:
    if not _CACHE:
        _CACHE.append(torch.compile(flex_attention, dynamic=False))
    return _CACHE[0]


_CACHE: list[Any] = []
