"""Rill: a causal transformer over a stream of rows, whose context is its key-value cache.

Two tokens a row share one embedding of the row's features: a *labelled* token (x_t and y_t, encoded
when the row is added) and a *query* token (x_t alone). Both attend to the labelled rows of the
context, and to nothing else but a learned sink and, for a labelled token, itself; only labelled
tokens make keys and values. So a row is encoded once, evicting it is forgetting its keys, and the
whole-sequence forward used in training equals an incremental session, evictions included, because
every labelled token attends to just what the session would have had (see retention.py).

Time is rotary position with wavelengths from 6 to 6 million rows on most of each key, rotated once
at insertion by the row's arrival number. A row that moves to the long bank has a learned offset
added to the part of its keys that is not rotated; nothing else of it changes.

Labels are codes: each class of a stream is given one of `codes` learned vectors at random. The head
scores every class in the context by one shared function of the votes its rows get, the match of the
query with its code, its share of the context and the time since it was last seen; classes that are
not in the context get no probability. There is no limit on classes: codes are reused beyond 64.

Shapes: B streams, n new rows, p rows cached from before, m = p + n; d width, H query heads of D
dims over G key-value heads; S slots of columns, F columns, C classes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import torch
import torch.nn.functional as F
from pretraining.features import CHANNELS
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """The architecture; the default is the one trained on a GPU."""

    width: int = 256
    layers: int = 8
    heads: int = 8
    kv_heads: int = 1
    head_dim: int = 64
    rotary: int = 48  # dims of a head that turn with time; the rest takes the long-bank offset
    hidden: int = 640
    row_layers: int = 2
    row_hidden: int = 512
    slots: int = 128
    codes: int = 64
    matches: int = 8  # bilinear matches between query and class code
    match_dim: int = 32
    head_hidden: int = 64


SMALL = Shape(
    width=128,
    layers=4,
    heads=4,
    head_dim=32,
    rotary=24,
    hidden=320,
    row_hidden=256,
    matches=4,
    head_hidden=32,
)


@dataclass
class Rows:
    """When rows are in the context: (B, m) each; see retention.py for the meanings."""

    arrive: Tensor
    promoted: Tensor
    leaves: Tensor
    position: Tensor

    def join(self, other: Rows) -> Rows:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Rows(*(torch.cat(pair, 1) for pair in pairs))

    def pick(self, at: Tensor) -> Rows:
        return Rows(*(value.gather(1, at) for value in vars(self).values()))


@dataclass
class Cache:
    """Keys and values of the labelled rows of a context, the vote layer's keys last."""

    rows: Rows
    label: Tensor  # (B, p) class numbers
    keys: list[Tensor] = field(default_factory=list)  # layers + 1 of (B, G, p, D), rotated
    values: list[Tensor] = field(default_factory=list)  # layers of (B, G, p, D)

    def pick(self, at: Tensor) -> Cache:
        """Keep the rows at these places, (B, p')."""
        index = at[:, None, :, None]

        def kept(x: Tensor) -> Tensor:
            return x.gather(2, index.expand(-1, x.shape[1], -1, x.shape[3]))

        return Cache(
            self.rows.pick(at),
            self.label.gather(1, at),
            [kept(k) for k in self.keys],
            [kept(v) for v in self.values],
        )


class Attend(Protocol):
    """Attention of some of a block's tokens to its rows, under what the rows' times leave visible.

    q (B, H, 2n or n, D): all tokens, or the query tokens alone; k, v (B, G, m, D): the rows' keys
    and values; offset (G, D): added to the keys of rows in the long bank; sink, sink_value (G, D):
    a key and a value that are always visible.
    """

    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, offset: Tensor, sink: Tensor, sink_value: Tensor
    ) -> Tensor: ...


def visibility(new: Rows, rows: Rows) -> Tensor:
    """(B, 2n, 2m + 1): what labelled tokens, then query tokens, see of short rows, long rows, sink.

    Every row stands twice among the keys, with and without the long-bank offset; at any time at
    most one of the two is visible.
    """
    t = new.arrive[:, :, None]
    here = t < rows.leaves[:, None]
    before = rows.arrive[:, None]
    here = torch.cat([here & (before <= t), here & (before < t)], 1)  # (B, 2n, m)
    long = (t >= rows.promoted[:, None]).repeat(1, 2, 1)
    return torch.cat([here & ~long, here & long, torch.ones_like(here[..., :1])], -1)


def _banked(x: Tensor, offset: Tensor | None, sink: Tensor, long: bool) -> Tensor:
    """(B, G, m, D) -> (B, G, 2m + 1, D): short copies, long copies (offset added), sink."""
    last = sink[None, :, None].expand(len(x), -1, -1, -1).to(x.dtype)
    if not long:
        return torch.cat([x, last], 2)
    return torch.cat([x, x if offset is None else x + offset[:, None].to(x.dtype), last], 2)


class DenseAttention:
    """Attention under an explicit mask: exact everywhere, heavy on long sequences."""

    def __init__(self, new: Rows, rows: Rows) -> None:
        self.long = bool((rows.promoted < rows.leaves).any())
        mask = visibility(new, rows)[:, None]
        m = rows.arrive.shape[1]
        self.mask = mask if self.long else torch.cat([mask[..., :m], mask[..., -1:]], -1)

    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, offset: Tensor, sink: Tensor, sink_value: Tensor
    ) -> Tensor:
        heads = q.shape[1] // k.shape[1]
        k, v = _banked(k, offset, sink, self.long), _banked(v, None, sink_value, self.long)
        k, v = (
            x.repeat_interleave(heads, 1) if x.shape[1] > 1 else x.expand(-1, heads, -1, -1)
            for x in (k, v)
        )
        mask = self.mask[:, :, self.mask.shape[2] - q.shape[2] :]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def rotate(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary position on the first dims of (B, heads, n, D)."""
    cos, sin = turn  # (B, 1, n, rotary / 2)
    r = cos.shape[-1]
    a, b, rest = x[..., :r], x[..., r : 2 * r], x[..., 2 * r :]
    turned = torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
    return torch.cat([turned.to(x.dtype), rest], -1)


def twice(turn: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """The turns of the labelled tokens and of the query tokens, which are the same."""
    cos, sin = turn
    return torch.cat([cos, cos], 2), torch.cat([sin, sin], 2)


class RMSNorm(nn.Module):
    """x / rms(x) * gain, in float32."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        y = x.float()
        y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)
        return (y * self.gain).to(x.dtype)


class Gated(nn.Module):
    """A residual SwiGLU step: x + down(silu(gate) * up), gate and up in one matrix."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.norm = RMSNorm(width)
        self.up = nn.Linear(width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        nn.init.zeros_(self.down.weight)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.up(self.norm(x)).chunk(2, -1)
        out: Tensor = x + self.down(F.silu(gate) * up)
        return out


class Keys(nn.Module):
    """Queries and keys of one attention: normalised, rotated, with sink and long-bank offset."""

    def __init__(self, s: Shape) -> None:
        super().__init__()
        self.shape = s
        self.q = nn.Linear(s.width, s.heads * s.head_dim, bias=False)
        self.k = nn.Linear(s.width, s.kv_heads * s.head_dim, bias=False)
        self.q_norm, self.k_norm = RMSNorm(s.head_dim), RMSNorm(s.head_dim)
        self.sink = nn.Parameter(torch.randn(s.kv_heads, s.head_dim) * 0.02)
        self.offset = nn.Parameter(torch.zeros(s.kv_heads, s.head_dim - s.rotary))

    def queries(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        q = self.q(x).unflatten(-1, (self.shape.heads, -1)).transpose(1, 2)
        return rotate(self.q_norm(q), turn)  # (B, H, tokens, D)

    def keys(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
        k = self.k(x).unflatten(-1, (self.shape.kv_heads, -1)).transpose(1, 2)
        return rotate(self.k_norm(k), turn)  # (B, G, n, D)

    def wide_offset(self) -> Tensor:
        """(G, D): the long-bank offset, which leaves the rotated dims alone."""
        return F.pad(self.offset, (self.shape.rotary, 0))


class Layer(nn.Module):
    """Attention to the labelled rows, then a gated step; for all 2n tokens of a block alike."""

    def __init__(self, s: Shape) -> None:
        super().__init__()
        self.shape = s
        self.norm = RMSNorm(s.width)
        self.keys = Keys(s)
        self.v = nn.Linear(s.width, s.kv_heads * s.head_dim, bias=False)
        self.sink_value = nn.Parameter(torch.zeros(s.kv_heads, s.head_dim))
        self.out = nn.Linear(s.heads * s.head_dim, s.width, bias=False)
        self.step = Gated(s.width, s.hidden)
        nn.init.zeros_(self.out.weight)

    def project(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of all 2n tokens, keys and values of the labelled ones."""
        n = x.shape[1] // 2
        h = self.norm(x)
        q = self.keys.queries(h, twice(turn))
        k = self.keys.keys(h[:, :n], turn)
        v = self.v(h[:, :n]).unflatten(-1, (self.shape.kv_heads, -1)).transpose(1, 2)
        return q, k, v

    def finish(self, x: Tensor, o: Tensor) -> Tensor:
        """Add what attention found, (B, H, 2n, D), and take the gated step."""
        out: Tensor = self.step(x + self.out(o.transpose(1, 2).flatten(2)))
        return out

    def forward(
        self,
        x: Tensor,
        turn: tuple[Tensor, Tensor],
        attend: Attend,
        past: tuple[Tensor, Tensor] | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        # x: (B, 2n, d), labelled tokens first; past: keys and values of p cached rows
        q, k, v = self.project(x, turn)
        if past is not None:
            k, v = torch.cat([past[0].to(k.dtype), k], 2), torch.cat([past[1].to(v.dtype), v], 2)
        o = attend(q, k, v, self.keys.wide_offset(), self.keys.sink, self.sink_value)
        return self.finish(x, o), k, v


class Head(nn.Module):
    """Class scores from votes, code matches and the classes' standing in the context."""

    STANDING = 4  # log share, log rows, log age, log classes

    def __init__(self, s: Shape) -> None:
        super().__init__()
        self.shape = s
        self.match_q = nn.Linear(s.width, s.matches * s.match_dim, bias=False)
        self.match_c = nn.Linear(s.width, s.matches * s.match_dim, bias=False)
        self.hidden = nn.Linear(2 * s.heads + s.matches + self.STANDING, s.head_hidden)
        self.score = nn.Linear(s.head_hidden, 1, bias=False)
        nn.init.zeros_(self.score.weight)

    def forward(self, q: Tensor, votes: Tensor, code: Tensor, standing: Tensor) -> Tensor:
        # q: (B, n, d); votes: (B, H, n, C); code: (B, C, d); standing: (B, n, C, STANDING)
        s = self.shape
        left = self.match_q(q).unflatten(-1, (s.matches, s.match_dim)).transpose(1, 2)
        right = self.match_c(code).unflatten(-1, (s.matches, s.match_dim)).transpose(1, 2)
        match = (left @ right.transpose(-1, -2)).float() / math.sqrt(s.match_dim)  # (B, ., n, C)
        votes = votes.float()
        loud = (votes + 1e-4).log()
        parts = [votes, loud / 4, match]
        stacked = torch.cat([*(p.permute(0, 2, 3, 1) for p in parts), standing], -1)
        mixed = self.score(F.gelu(self.hidden(stacked.to(q.dtype)), approximate="tanh"))
        out: Tensor = mixed[..., 0].float() + loud.mean(1)
        return out  # (B, n, C)


class Rill(nn.Module):
    """The whole network; `forward` runs n rows of B streams after p cached ones."""

    def __init__(self, shape: Shape | None = None) -> None:
        super().__init__()
        self.shape = s = shape or Shape()
        self.columns = nn.Parameter(torch.randn(s.slots, CHANNELS, s.width) * 0.6)
        self.row = nn.ModuleList(Gated(s.width, s.row_hidden) for _ in range(s.row_layers))
        self.codes = nn.Parameter(torch.randn(s.codes, s.width) * 0.5)
        self.ask = nn.Parameter(torch.randn(s.width) * 0.02)
        self.layers = nn.ModuleList(Layer(s) for _ in range(s.layers))
        self.norm = RMSNorm(s.width)
        self.votes = Keys(s)
        self.head = Head(s)
        wave = torch.logspace(0, 6, s.rotary // 2, dtype=torch.float64)  # wavelength / 2 pi
        self.frequency: Tensor
        self.register_buffer("frequency", 1 / wave, persistent=False)

    def embed(self, channels: Tensor, slot: Tensor) -> Tensor:
        """(B, n, F, CHANNELS), (B, F) column -> slot: (B, n, d) row embeddings."""
        s = self.shape
        weight = F.embedding(slot, self.columns.flatten(1))  # (B, F, CHANNELS * d)
        weight = weight.view(len(slot), -1, s.width)
        e = torch.bmm(channels.flatten(2), weight.to(channels.dtype))
        for step in self.row:
            e = step(e)
        return e

    def turns(self, position: Tensor) -> tuple[Tensor, Tensor]:
        """(B, n) arrival numbers -> cosines and sines (B, 1, n, rotary / 2)."""
        angle = position.double()[:, None, :, None] * self.frequency
        return angle.cos().float(), angle.sin().float()

    def forward(
        self,
        channels: Tensor,
        slot: Tensor,
        label: Tensor,
        code: Tensor,
        standing: Tensor,
        new: Rows,
        attend: Attend,
        past: Cache | None = None,
        want_cache: bool = False,
    ) -> tuple[Tensor, Cache | None]:
        # label: (B, n) class numbers; code: (B, C) class -> code number
        n, C = label.shape[1], code.shape[1]
        e = self.embed(channels, slot)
        codes = F.embedding(code, self.codes)  # (B, C, d)
        own = codes.gather(1, label[..., None].expand(-1, -1, codes.shape[-1]))
        x = torch.cat([e + own.to(e.dtype), e + self.ask.to(e.dtype)], 1)  # (B, 2n, d)
        turn = self.turns(new.position)
        keys, values = [], []
        for i, layer in enumerate(self.layers):
            before = None if past is None else (past.keys[i], past.values[i])
            x, k, v = layer(x, turn, attend, before)
            keys.append(k)
            values.append(v)
        x = self.norm(x)
        k = self.votes.keys(x[:, :n], turn)
        labels = label
        if past is not None:
            k = torch.cat([past.keys[-1].to(k.dtype), k], 2)
            labels = torch.cat([past.label, label], 1)
        keys.append(k)
        q = self.votes.queries(x[:, n:], turn)
        ballot = F.one_hot(labels, C).to(q.dtype)[:, None].expand(-1, k.shape[1], -1, -1)
        blank = q.new_zeros(k.shape[1], C)  # the sink's vote is for no class
        votes = attend(
            q, k, ballot, self.votes.wide_offset(), self.votes.sink, blank
        )  # (B, H, n, C)
        scores = self.head(x[:, n:], votes, codes.to(x.dtype), standing)
        if not want_cache:
            return scores, None
        rows = new if past is None else past.rows.join(new)
        return scores, Cache(rows, labels, keys, values)
