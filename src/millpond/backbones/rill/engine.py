"""The forward pass: tokens of some lanes through the layers, each attending to its lane's cache.

A *labelled* token is the newest row with its label; it writes its keys and values into the cache and
attends to the context before its delta, itself included. *Query* tokens attend to the context after
it. Both go through the layers in one block, n lanes by T tokens, the labelled one first: so one pass
over the weights, which is most of what a step of one lane costs, serves the last row and the next.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.rill.cache import Cache
from millpond.backbones.rill.lanes import Lanes
from millpond.backbones.rill.network import Float32, Keys, Network, Step, unit

FEW = 4
"""Up to this many rows go through a matrix one by one: a matrix product would first copy the matrix."""
SCORES = 2**17
"""Scores that are worked on together, in float32 half a megabyte: they stay in the core's cache."""
KEPT = 4
"""Block shapes whose buffers are kept."""

Stretch = tuple[slice, slice, int]
"""Places in a list of lanes, the lanes, and how many columns of the cache they use"""


def linear(x: Float32, weight: Float32, out: Float32) -> None:
    """(N, in), (in, out) -> (N, out)."""
    if len(x) > FEW:
        np.matmul(x, weight, out=out)
    else:
        for row, result in zip(x, out, strict=True):
            row.dot(weight, out=result)


class Room:
    """What gated steps of N rows are computed in."""

    def __init__(self, rows: int, width: int, hidden: int) -> None:
        self.h: Float32 = np.empty((rows, width), np.float32)
        self.squares: Float32 = np.empty(rows, np.float32)
        self.gate: Float32 = np.empty((rows, hidden), np.float32)
        self.value = np.empty_like(self.gate)
        self.mixed = np.empty_like(self.gate)

    def normalise(self, x: Float32) -> Float32:
        """x / |x|; the matrices behind it hold what it lacks."""
        unit(x, self.squares, self.h)
        return self.h

    def step(self, x: Float32, step: Step) -> None:
        """x += down(silu(gate) * value), silu(2 gate) being gate (1 + tanh gate)."""
        h = self.normalise(x)
        linear(h, step.gate, self.gate)
        linear(h, step.value, self.value)
        np.tanh(self.gate, out=self.mixed)
        self.mixed += np.float32(1)
        self.mixed *= self.gate
        self.mixed *= self.value
        linear(self.mixed, step.down, h)
        x += h


class Queries:
    """Queries of n lanes by T tokens, (n, G, T, H / G, A): scaled, turned, and with their masks."""

    def __init__(self, network: Network, n: int, tokens: int, labelled: bool, cache: Cache) -> None:
        s, first = network.shape, int(labelled)
        size = (n, s.kv_heads, tokens, s.heads // s.kv_heads, cache.keys.shape[3])
        whole: Float32 = np.zeros(size, np.float32)
        self.rows = whole.reshape(n, s.kv_heads, -1, size[-1])  # as attention takes them
        self.heads = whole[..., : s.head_dim]
        self.turning = whole[..., : s.rotary].view(np.complex64)
        whole[..., cache.closed] = 1.0
        whole[:, :, first:, :, cache.leaving] = 1.0
        self.still = whole[:, :, first:, :, s.rotary : s.head_dim]
        self.moved = whole[:, :, first:, :, cache.moved]

    def fill(self, heads: Float32, keys: Keys, turn: NDArray[np.complex64], moving: bool) -> None:
        """From unit heads (n, G, T, H / G, D) and turns (n, T, rotary / 2)."""
        np.multiply(heads, keys.q_gain, out=self.heads)
        self.turning *= turn[:, None, :, None]
        if moving:
            np.vecdot(self.still, keys.offset[:, None, None], out=self.moved)


class Block:
    """The buffers of a pass over n lanes, with or without a labelled token each, and k queries each."""

    def __init__(self, network: Network, cache: Cache, n: int, labelled: bool, k: int) -> None:
        s, tokens = network.shape, labelled + k
        rows, query, key = n * tokens, s.heads * s.head_dim, s.kv_heads * s.head_dim
        self.labelled, self.k = labelled, k
        self.x: Float32 = np.empty((n, tokens, s.width), np.float32)
        self.rows = self.x.reshape(rows, s.width)
        self.room = Room(rows, s.width, s.hidden)
        self.qkv: Float32 = np.empty((rows, query + 2 * key), np.float32)
        self.heads = self.qkv[:, : query + key].reshape(rows, -1, s.head_dim)
        self.squares: Float32 = np.empty(self.heads.shape[:2], np.float32)
        split = (n, tokens, s.kv_heads, s.heads // s.kv_heads, s.head_dim)
        self.q_heads = self.qkv[:, :query].reshape(split).transpose(0, 2, 1, 3, 4)
        newest = self.qkv.reshape(n, tokens, -1)[:, 0]  # labelled tokens, if there are any
        self.k_heads = newest[:, query : query + key].reshape(n, s.kv_heads, s.head_dim)
        self.value = newest[:, query + key :].reshape(n, s.kv_heads, s.head_dim)
        self.key = np.empty_like(self.value)
        self.vote = np.empty_like(self.value)
        self.queries = Queries(network, n, tokens, labelled, cache)
        self.found: Float32 = np.empty((rows, query), np.float32)
        self.found_heads = self.found.reshape(split).transpose(0, 2, 1, 3, 4)


class Engine:
    """Runs a network over a cache. The buffers make it one session's own."""

    def __init__(self, network: Network, cache: Cache) -> None:
        self.network, self.cache = network, cache
        self._blocks: dict[Any, Block] = {}
        self._rooms: dict[int, Room] = {}
        self._scores: Float32 = np.empty(0, np.float32)
        self._ones: Float32 = np.ones(cache.columns, np.float32)

    def embed(self, channels: Float32, columns: Float32) -> Float32:
        """(N, CHANNELS * F) features, (CHANNELS * F, d) -> (N, d) embeddings of rows."""
        x: Float32 = np.empty((len(channels), columns.shape[1]), np.float32)
        linear(channels, columns, x)
        room = self._rooms.get(len(x))
        if room is None:
            room = _keep(
                self._rooms, len(x), Room(len(x), x.shape[1], self.network.shape.row_hidden)
            )
        for step in self.network.row:
            room.step(x, step)
        return x

    def block(self, n: int, labelled: bool, k: int) -> Block:
        """A block whose x, (n, T, d), the tokens are to be put into."""
        block = self._blocks.get((n, labelled, k))
        if block is None:
            made = Block(self.network, self.cache, n, labelled, k)
            block = _keep(self._blocks, (n, labelled, k), made)
        return block

    def encode(
        self, block: Block, lanes: Lanes, position: NDArray[np.int64]
    ) -> tuple[Float32, NDArray[np.complex64]]:
        """Final states, normalised but for the gain, (n, k, d), of the queries, and their turn.

        ``position`` (n,) is the queries'; labelled tokens stand one before. Their keys are written
        and their deltas settled. The states are valid until the next pass.
        """
        cache, labelled = self.cache, block.labelled
        turn = self._turns(position, block)
        moving = labelled and bool(cache.promoted[lanes.index].any())
        stretches = self.stretches(lanes, block.queries)
        for i, layer in enumerate(self.network.layers):
            linear(block.room.normalise(block.rows), layer.qkv, block.qkv)
            unit(block.heads, block.squares, block.heads)
            if labelled:
                _turned(block.k_heads, layer.keys, turn, block.key)
                cache.write(i, lanes, block.key, block.value)
            block.queries.fill(block.q_heads, layer.keys, turn, moving)
            self.attend(i, stretches, block.queries, cache.values[:, i], block.found_heads)
            linear(block.found, layer.out, block.room.h)
            block.rows += block.room.h
            block.room.step(block.rows, layer.step)
        final = block.room.normalise(block.rows).reshape(block.x.shape)
        if labelled:
            self._write_votes(block, np.ascontiguousarray(final[:, 0]), turn, lanes)
            cache.settle(lanes)
        return final[:, int(labelled) :], turn[:, int(labelled) :]

    def stretches(self, lanes: Lanes, queries: Queries) -> list[Stretch]:
        """The lanes cut into stretches that are attended to together, with the columns they use."""
        n = max(1, SCORES // (queries.rows[0, :, :, 0].size * self.cache.columns))
        return [(here, there, self.cache.width(there)) for here, there in lanes.runs(n)]

    def attend(
        self,
        attention: int,
        stretches: list[Stretch],
        queries: Queries,
        values: Float32,
        out: Float32,
    ) -> None:
        """softmax(q . k) v: values (lanes, G or 1, columns, V) -> out (n, G, T, H / G, V)."""
        keys = self.cache.keys[:, attention]
        for here, there, width in stretches:
            asked, result = queries.rows[here], out[here]
            scores = self._room_for_scores((*asked.shape[:3], width))
            np.matmul(asked, keys[there, ..., :width], out=scores)
            if not self.network.tame:
                scores -= scores.max(-1, keepdims=True)
            np.exp(scores, out=scores)
            total = np.matmul(scores, self._ones[:width])
            found = np.matmul(scores, values[there, :, :width])
            np.divide(found.reshape(result.shape), total.reshape(*result.shape[:-1], 1), out=result)

    def _write_votes(
        self, block: Block, final: Float32, turn: NDArray[np.complex64], lanes: Lanes
    ) -> None:
        linear(final, self.network.vote_key, block.vote.reshape(len(final), -1))
        unit(block.vote, block.squares[: len(final), : block.vote.shape[1]], block.vote)
        _turned(block.vote, self.network.votes, turn, block.key)
        self.cache.write(len(self.network.layers), lanes, block.key, None)

    def _turns(self, position: NDArray[np.int64], block: Block) -> NDArray[np.complex64]:
        """(n, T, rotary / 2); angles in float64, as positions grow without end."""
        before = np.array([1, 0]) if block.labelled else np.array([0])
        angle = (position[:, None] - before)[..., None] * self.network.wave
        turn: NDArray[np.complex64] = np.exp(1j * angle).astype(np.complex64)
        token = np.minimum(np.arange(block.x.shape[1]), len(before) - 1)
        return turn[:, token]

    def _room_for_scores(self, size: tuple[int, ...]) -> Float32:
        n = math.prod(size)
        if len(self._scores) < n:
            self._scores = np.empty(n, np.float32)
        return self._scores[:n].reshape(size)


def _turned(heads: Float32, keys: Keys, turn: NDArray[np.complex64], out: Float32) -> None:
    """Unit key heads of labelled tokens, (n, G, D), scaled and turned: once in a row's life."""
    np.multiply(heads, keys.k_gain, out=out)
    turning = out[..., : 2 * turn.shape[-1]].view(np.complex64)
    turning *= turn[:, :1]


def _keep(kept: dict[Any, Any], shape: Any, made: Any) -> Any:
    if len(kept) >= KEPT:
        kept.clear()
    kept[shape] = made
    return made
