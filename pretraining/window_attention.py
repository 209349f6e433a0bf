"""Attention over whole sequences on a GPU: `DenseAttention` without its mask, in Triton.

Row j arrives at step j, so what token t sees follows from two integers a row (see retention.py) and
no mask is ever stored: row j is visible to the query of step t iff j < t < leaves[j], to the
labelled token of step t also where j = t, and the long-bank offset counts iff t >= promoted[j].
The offset is one number a query, q . offset, added to the scores; the sink starts the softmax off.

All heads share one key-value head, so a tile holds every head of a few tokens: with 8 heads, the
128 rows of 16 tokens meet a block of keys in one product. Keys before a tile's first visible block
and after its own steps are never read.

Shapes: tokens = 2n (labelled, then query) or n (query); H heads of D dims; E dims of values.
`python -m pretraining.window_attention` compares it with `DenseAttention` on a GPU, and times it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
import triton
import triton.language as tl
from pretraining.model import DenseAttention, Rows
from torch import Tensor

TILE = 128  # rows (tokens x heads) of queries together
KEYS = 64
LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _forward(
    q, k, v, out, lse, more, offset, sink, sink_value, promoted, leaves, first,
    sqb, sqh, sqt, skb, skn, svb, svn, n, tokens, scale,
    H: tl.constexpr, D: tl.constexpr, E: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
    EXACT: tl.constexpr,
):  # fmt: skip
    tile, b = tl.program_id(0), tl.program_id(1).to(tl.int64)
    row = tl.arange(0, M)
    d, e = tl.arange(0, D), tl.arange(0, E)
    token = tile * (M // H) + row // H
    t = token % n
    until = t + (token < tokens - n)  # rows before this one have arrived
    Q = tl.load(q + b * sqb + (row % H)[:, None] * sqh + token[:, None] * sqt + d[None])
    bias = tl.sum(Q * tl.load(offset + d)[None], 1) * scale * LOG2E
    top = tl.sum(Q * tl.load(sink + d)[None], 1) * scale * LOG2E
    mass = tl.full([M], 1.0, tl.float32)
    acc = tl.zeros([M, E], tl.float32) + tl.load(sink_value + e)[None]
    step = (tile * (M // H)) % n
    begin = tl.load(first + b * (n // (M // H)) + step // (M // H))
    for block in range(begin, tl.cdiv(step + M // H, N)):
        j = block * N + tl.arange(0, N)
        K = tl.load(k + b * skb + j[:, None] * skn + d[None])
        S = tl.dot(Q, tl.trans(K), input_precision="ieee" if EXACT else "tf32") * (scale * LOG2E)
        long = t[:, None] >= tl.load(promoted + b * n + j)[None]
        seen = (j[None] < until[:, None]) & (t[:, None] < tl.load(leaves + b * n + j)[None])
        S = tl.where(seen, S + tl.where(long, bias[:, None], 0.0), float("-inf"))
        new = tl.maximum(top, tl.max(S, 1))
        P = tl.exp2(S - new[:, None])
        fade = tl.exp2(top - new)
        mass = mass * fade + tl.sum(P, 1)
        V = tl.load(v + b * svb + j[:, None] * svn + e[None])
        acc = acc * fade[:, None]
        acc = tl.dot(P.to(V.dtype), V, acc, input_precision="ieee" if EXACT else "tf32")
        top = new
    at = (b * tokens + tile * (M // H)) * H + row
    tl.store(out + at[:, None] * E + e[None], (acc / mass[:, None]).to(out.dtype.element_ty))
    tl.store(lse + at, top + tl.log2(mass))
    tl.store(more + at, bias)


@triton.jit
def _backward_queries(
    q, k, v, out, dout, lse, more, delta, dq, parts, offset, sink, sink_value, promoted, leaves, first,
    sqb, sqh, sqt, skb, skn, svb, svn, n, tokens, scale,
    H: tl.constexpr, D: tl.constexpr, E: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
    EXACT: tl.constexpr,
):  # fmt: skip
    tile, b = tl.program_id(0), tl.program_id(1).to(tl.int64)
    row = tl.arange(0, M)
    d, e = tl.arange(0, D), tl.arange(0, E)
    token = tile * (M // H) + row // H
    t = token % n
    until = t + (token < tokens - n)
    where = b * sqb + (row % H)[:, None] * sqh + token[:, None] * sqt + d[None]
    at = (b * tokens + tile * (M // H)) * H + row
    Q = tl.load(q + where)
    DO = tl.load(dout + at[:, None] * E + e[None])
    O = tl.load(out + at[:, None] * E + e[None])
    total, bias = tl.load(lse + at), tl.load(more + at)
    shift = tl.sum(DO.to(tl.float32) * O.to(tl.float32), 1)
    tl.store(delta + at, shift)
    acc = tl.zeros([M, D], tl.float32)
    lean = tl.zeros([M], tl.float32)  # the gradient of q . offset
    step = (tile * (M // H)) % n
    begin = tl.load(first + b * (n // (M // H)) + step // (M // H))
    for block in range(begin, tl.cdiv(step + M // H, N)):
        j = block * N + tl.arange(0, N)
        K = tl.load(k + b * skb + j[:, None] * skn + d[None])
        V = tl.load(v + b * svb + j[:, None] * svn + e[None])
        S = tl.dot(Q, tl.trans(K), input_precision="ieee" if EXACT else "tf32") * (scale * LOG2E)
        long = t[:, None] >= tl.load(promoted + b * n + j)[None]
        seen = (j[None] < until[:, None]) & (t[:, None] < tl.load(leaves + b * n + j)[None])
        S += tl.where(long, bias[:, None], 0.0)
        P = tl.where(seen, tl.exp2(S - total[:, None]), 0.0)
        DP = tl.dot(DO, tl.trans(V), input_precision="ieee" if EXACT else "tf32")
        DS = P * (DP - shift[:, None])
        lean += tl.sum(tl.where(long, DS, 0.0), 1)
        acc = tl.dot(DS.to(K.dtype), K, acc, input_precision="ieee" if EXACT else "tf32")
    # The sink: its weight, and the gradient of its score. (Loaded anew: registers are short above.)
    off, low = tl.load(offset + d), tl.load(sink + d)
    Q, DO = tl.load(q + where), tl.load(dout + at[:, None] * E + e[None])
    P0 = tl.exp2(tl.sum(Q * low[None], 1) * scale * LOG2E - total)
    DS0 = P0 * (tl.sum(DO * tl.load(sink_value + e)[None], 1) - shift)
    acc += lean[:, None] * off[None] + DS0[:, None] * low[None]
    tl.store(dq + where, (acc * scale).to(dq.dtype.element_ty))
    # This tile's share in the gradients of offset, sink and sink_value.
    own = parts + (b * (tokens * H // M) + tile) * (2 * D + E)
    tl.store(own + d, tl.sum(lean[:, None] * Q, 0) * scale)
    tl.store(own + D + d, tl.sum(DS0[:, None] * Q, 0) * scale)
    tl.store(own + 2 * D + e, tl.sum(P0[:, None] * DO, 0))


@triton.jit
def _backward_keys(
    q, k, v, dout, lse, more, delta, dk, dv, promoted, leaves,
    sqb, sqh, sqt, skb, skn, svb, svn, n, tokens, scale,
    H: tl.constexpr, D: tl.constexpr, E: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
    HALVES: tl.constexpr, VALUES: tl.constexpr, EXACT: tl.constexpr,
):  # fmt: skip
    block, b = tl.program_id(0), tl.program_id(1).to(tl.int64)
    row = tl.arange(0, M)
    d, e = tl.arange(0, D), tl.arange(0, E)
    j = block * N + tl.arange(0, N)
    K = tl.load(k + b * skb + j[:, None] * skn + d[None])
    V = tl.load(v + b * svb + j[:, None] * svn + e[None])
    since, gone = tl.load(promoted + b * n + j), tl.load(leaves + b * n + j)
    DK = tl.zeros([N, D], tl.float32)
    DV = tl.zeros([N, E], tl.float32)
    begin = (block * N) // (M // H)
    end = tl.cdiv(tl.minimum(tl.max(gone, 0), n), M // H)
    for half in tl.static_range(HALVES):
        for tile in range(begin, end):
            t = tile * (M // H) + row // H
            token = half * n + t
            until = t + (token < tokens - n)
            Q = tl.load(q + b * sqb + (row % H)[:, None] * sqh + token[:, None] * sqt + d[None])
            at = (b * tokens + half * n + tile * (M // H)) * H + row
            DO = tl.load(dout + at[:, None] * E + e[None])
            S = tl.dot(K, tl.trans(Q), input_precision="ieee" if EXACT else "tf32")
            bias = tl.load(more + at)
            S = S * (scale * LOG2E) + tl.where(t[None] >= since[:, None], bias[None], 0.0)
            seen = (j[:, None] < until[None]) & (t[None] < gone[:, None])
            P = tl.where(seen, tl.exp2(S - tl.load(lse + at)[None]), 0.0)
            if VALUES:
                DV = tl.dot(P.to(DO.dtype), DO, DV, input_precision="ieee" if EXACT else "tf32")
            DP = tl.dot(V, tl.trans(DO), input_precision="ieee" if EXACT else "tf32")
            DS = P * (DP - tl.load(delta + at)[None])
            DK = tl.dot(DS.to(Q.dtype), Q, DK, input_precision="ieee" if EXACT else "tf32")
    tl.store(dk + (b * n + j)[:, None] * D + d[None], (DK * scale).to(dk.dtype.element_ty))
    if VALUES:
        tl.store(dv + (b * n + j)[:, None] * E + e[None], DV.to(dv.dtype.element_ty))


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, offset: Tensor, sink: Tensor,
        sink_value: Tensor, promoted: Tensor, leaves: Tensor, first: Tensor,
    ) -> Tensor:  # fmt: skip
        B, H, tokens, D = q.shape
        n, E = v.shape[2:]
        out = q.new_empty(B, tokens, H, E)
        lse = q.new_empty(B, tokens * H, dtype=torch.float32)
        more = torch.empty_like(lse)  # q . offset
        inputs = [x.float().contiguous() for x in (offset, sink, sink_value)]
        strides = [x.stride(i) for x, i in ((q, 0), (q, 1), (q, 2), (k, 0), (k, 2), (v, 0), (v, 2))]
        sizes = (*strides, n, tokens, D**-0.5)
        ctx.sizes, ctx.const = sizes, {"H": H, "D": D, "E": E, "M": TILE, "N": KEYS}
        ctx.const["EXACT"] = q.dtype == torch.float32
        _forward[(tokens * H // TILE, B)](
            q, k, v, out, lse, more, *inputs, promoted, leaves, first, *sizes, **ctx.const,
            num_warps=4, num_stages=3,
        )  # fmt: skip
        ctx.save_for_backward(q, k, v, out, lse, more, *inputs, promoted, leaves, first)
        return out.transpose(1, 2)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        q, k, v, out, lse, more, offset, sink, sink_value, promoted, leaves, first = (
            ctx.saved_tensors
        )
        B, H, tokens, D = q.shape
        n, E = v.shape[2:]
        dout = grads[0].transpose(1, 2).to(q.dtype).contiguous()
        delta, dq = torch.empty_like(lse), torch.empty_like(q)
        parts = lse.new_empty(B, tokens * H // TILE, 2 * D + E)
        if dq.stride() != q.stride():
            raise ValueError("queries must be dense in memory")
        _backward_queries[(tokens * H // TILE, B)](
            q, k, v, out, dout, lse, more, delta, dq, parts, offset, sink, sink_value,
            promoted, leaves, first, *ctx.sizes, **ctx.const, num_warps=8, num_stages=2,
        )  # fmt: skip
        values = bool(ctx.needs_input_grad[2])
        dk = k.new_empty(B, 1, n, D)
        dv = v.new_empty(B, 1, n, E) if values else None
        _backward_keys[(n // KEYS, B)](
            q, k, v, dout, lse, more, delta, dk, dv if values else dk, promoted, leaves,
            *ctx.sizes, **ctx.const, HALVES=tokens // n, VALUES=values, num_warps=8, num_stages=2,
        )  # fmt: skip
        doffset, dsink, dvalue = parts.sum((0, 1))[None].split([D, D, E], -1)
        return dq, dk, dv, doffset, dsink, dvalue, None, None, None


class WindowAttention:
    """`DenseAttention` for whole sequences with one key-value head."""

    def __init__(self, new: Rows, rows: Rows) -> None:
        n = rows.leaves.shape[1]
        if new is not rows or n % TILE:
            raise ValueError(f"whole sequences of a multiple of {TILE} rows only, not {n}")
        self.promoted = rows.promoted.int().contiguous()
        self.leaves = rows.leaves.int().contiguous()
        self.last = self.leaves.unflatten(1, (-1, KEYS)).amax(-1)  # (B, blocks of keys)
        self.first: dict[int, Tensor] = {}

    def _first(self, side: int) -> Tensor:
        """(B, n / side): the first block of keys with a row that is left at each tile's steps."""
        if side not in self.first:
            start = torch.arange(0, self.leaves.shape[1], side, device=self.leaves.device)
            some = self.last[:, None] > start[:, None]
            self.first[side] = some.to(torch.uint8).argmax(-1).int()
        return self.first[side]

    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, offset: Tensor, sink: Tensor, sink_value: Tensor
    ) -> Tensor:
        H, asked = q.shape[1], v.shape[-1]
        if k.shape[1] != 1 or TILE % H:
            raise ValueError(f"one key-value head and a divisor of {TILE} heads, not {H}")
        wide = max(16, triton.next_power_of_2(asked))  # what the tensor cores take
        if wide > asked:
            v, sink_value = (torch.nn.functional.pad(x, (0, wide - asked)) for x in (v, sink_value))
        v = v.contiguous()
        first = self._first(TILE // H)
        out: Tensor = _Attention.apply(
            q, k.to(q.dtype), v.to(q.dtype), offset, sink, sink_value,
            self.promoted, self.leaves, first,
        )  # fmt: skip
        return out[..., :asked]


def compare(device: str, dtype: torch.dtype, n: int = 512, B: int = 3, D: int = 32) -> float:
    """The largest relative difference to `DenseAttention`, of values and of gradients."""
    from pretraining.draws import Draws
    from pretraining.retention import draw_plan, random_lifetimes, simulate, time_jumps

    draw = Draws(0, device)
    X, y, entropy = draw.randn(B, n, 3), draw.ints(0, 3, B, n), draw.rand(B, n)
    lanes = draw_plan(draw, B, curated=0.6, dual=0.2, most=200)
    kept = simulate(lanes, X, y, entropy, 3)
    random_lifetimes(draw, kept, lanes)
    time_jumps(draw, kept, lanes)
    rows = Rows(torch.arange(n, device=device).expand(B, n), *vars(kept).values())
    window, dense = WindowAttention(rows, rows), DenseAttention(rows, rows)
    worst = 0.0
    for tokens, E, ballots in ((2 * n, D, False), (n, 10, True)):
        shapes = [(B, tokens, 8, D), (B, 1, n, D), (B, 1, n, E), (1, D), (1, D), (1, E)]
        leaf = [draw.randn(*s).to(dtype) for s in shapes]
        given = [x.requires_grad_(not (ballots and i == 2)) for i, x in enumerate(leaf)]
        weight = draw.randn(B, 8, tokens, E)
        found = []
        for attend, kind in ((window, dtype), (dense, torch.float32)):
            q, *rest = (x.to(kind) for x in given)
            out = attend(q.transpose(1, 2), *rest)
            wanted = [x for x in given if x.requires_grad]
            found.append([out, *torch.autograd.grad((out.float() * weight).sum(), wanted)])
        for ours, theirs in zip(*found, strict=True):
            gap = (ours.float() - theirs.float()).norm() / theirs.float().norm()
            worst = max(worst, float(gap))
    return worst


def main() -> None:
    for dtype in (torch.float32, torch.bfloat16):
        gaps = [compare("cuda", dtype, D=D) for D in (32, 64)]
        print(dtype, "relative difference to dense attention", gaps, flush=True)
    B, n, H, D = 128, 1024, 8, 64
    steps = torch.arange(n, device="cuda").expand(B, n)
    for name, life in (("all", n), ("window of 300", 300)):
        rows = Rows(steps, torch.full_like(steps, 2**30), steps + life + 1, steps)
        make: dict[str, Any] = {"device": "cuda", "dtype": torch.bfloat16, "requires_grad": True}
        q, k = torch.randn(B, 2 * n, H, D, **make), torch.randn(B, 1, n, D, **make)
        v, one = torch.randn(B, 1, n, D, **make), torch.zeros(1, D, device="cuda")
        ahead = partial(WindowAttention(rows, rows), q.transpose(1, 2), k, v, one, one, one)
        out = ahead()
        back = partial(out.backward, torch.randn_like(out), retain_graph=True)
        took = [triton.testing.do_bench(each) for each in (ahead, back)]
        print(f"{name}: {took[0]:.2f} ms forward, {took[1]:.2f} ms backward", flush=True)


if __name__ == "__main__":
    main()
