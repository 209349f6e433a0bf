"""The network's weights, arranged once for the engine: float32, transposed, with constants folded in.

What is folded in changes no result beyond rounding and saves passes over small arrays at each step:
the gain of a norm goes into the matrix behind it; the root of the width, which turns x / |x| into
x / rms(x), too; half of each gate, since silu(2h) = h (1 + tanh h), and the half of gelu; and the root of
the head's dims into the gains of queries (with 1 / sqrt(D) of the scores) and keys.

The turning dims of queries and keys are put in pairs, (a_0, b_0, a_1, b_1, ...), so that turning a
head by its position is one complex product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.rill.features import TRAINED_ORDER
from millpond.backbones.rill.weights import Weights

Float32 = NDArray[np.float32]

EPSILON = 1e-6
TAME = 60.0
"""Scores whose absolute value cannot exceed this need no shift before exp: it stays in float32."""


@dataclass(frozen=True, slots=True)
class Step:
    """A residual gated step: x + down(silu(gate) * value) of the normalised x."""

    gate: Float32  # (d, hidden)
    value: Float32  # (d, hidden)
    down: Float32  # (hidden, d)


@dataclass(frozen=True, slots=True)
class Keys:
    """What an attention has besides its projections, per head: gains, sink and long-bank offset."""

    q_gain: Float32  # (D,)
    k_gain: Float32  # (D,)
    sink: Float32  # (G, D)
    offset: Float32  # (G, D - rotary)


@dataclass(frozen=True, slots=True)
class Layer:
    qkv: Float32  # (d, (H + 2 G) D)
    keys: Keys
    sink_value: Float32  # (G, D)
    out: Float32  # (H D, d)
    step: Step


class Network:
    """Rill, frozen; may be shared by any number of sessions."""

    def __init__(self, weights: Weights) -> None:
        self.shape = s = weights.shape
        self.sha256 = weights.sha256
        self._raw = weights.arrays
        self._root = np.float32(math.sqrt(s.width))
        self.wave = 1.0 / np.logspace(0, 6, s.rotary // 2)  # angle a position
        # (CHANNELS, slots, d): channels before columns, as the features come
        columns = self._array("columns").transpose(1, 0, 2)[TRAINED_ORDER]
        self.columns = np.ascontiguousarray(columns)
        self.row = [self._step(f"row.{i}") for i in range(s.row_layers)]
        self.codes, self.ask = self._array("codes"), self._array("ask")
        self.layers = [self._layer(i) for i in range(s.layers)]
        self.votes = self._keys("votes")
        gain = self._array("norm.gain") * self._root
        self.vote_key = self._matrix("votes.k.weight", gain, self._in_pairs(s.kv_heads))
        # A query's vote heads, then its match with every code, in one product.
        vote_query = self._matrix("votes.q.weight", gain, self._in_pairs(s.heads))
        self.answer = np.concatenate([vote_query, self._matches(gain)], axis=1)
        self.head_hidden = np.ascontiguousarray(self._array("head.hidden.weight").T)
        self.head_bias = self._array("head.hidden.bias")
        self.head_score = self._array("head.score.weight")[0] * np.float32(0.5)
        self.tame = self._largest_score() <= TAME
        del self._raw

    def __deepcopy__(self, memo: dict[int, object]) -> Network:
        return self  # frozen: copies of a session share it

    def attentions(self) -> list[Keys]:
        """Of all layers, that of the votes last."""
        return [*(layer.keys for layer in self.layers), self.votes]

    # -- reading ---------------------------------------------------------------------------------

    def _array(self, name: str) -> Float32:
        return self._raw[name].astype(np.float32)

    def _matrix(self, name: str, gain: Float32, rows: NDArray[np.intp] | None = None) -> Float32:
        """A linear map, (out, in) in the file, as (in, out) with the gain before it folded in."""
        weight = self._array(name) * gain
        return np.ascontiguousarray((weight if rows is None else weight[rows]).T)

    def _in_pairs(self, heads: int) -> NDArray[np.intp]:
        """The order of rows that puts the turning dims of every head in pairs."""
        one = self._pairs()
        return (np.arange(heads)[:, None] * len(one) + one).ravel()

    def _pairs(self) -> NDArray[np.intp]:
        half = self.shape.rotary // 2
        turning = np.arange(2 * half).reshape(2, half).T.ravel()
        return np.concatenate([turning, np.arange(2 * half, self.shape.head_dim)])

    def _step(self, name: str) -> Step:
        gain = self._array(f"{name}.norm.gain") * self._root
        up = self._matrix(f"{name}.up.weight", gain)
        gate, value = np.split(up, 2, axis=1)
        down = np.ascontiguousarray(self._array(f"{name}.down.weight").T)
        return Step(gate * np.float32(0.5), np.ascontiguousarray(value), down)

    def _keys(self, name: str) -> Keys:
        pairs, root = self._pairs(), np.float32(math.sqrt(self.shape.head_dim))
        return Keys(
            self._array(f"{name}.q_norm.gain")[pairs],  # times sqrt(D) / sqrt(D)
            self._array(f"{name}.k_norm.gain")[pairs] * root,
            self._array(f"{name}.sink")[:, pairs],
            self._array(f"{name}.offset"),
        )

    def _layer(self, i: int) -> Layer:
        s, name = self.shape, f"layers.{i}"
        gain = self._array(f"{name}.norm.gain") * self._root
        parts = [
            self._matrix(f"{name}.keys.q.weight", gain, self._in_pairs(s.heads)),
            self._matrix(f"{name}.keys.k.weight", gain, self._in_pairs(s.kv_heads)),
            self._matrix(f"{name}.v.weight", gain),
        ]
        return Layer(
            np.concatenate(parts, axis=1),
            self._keys(f"{name}.keys"),
            self._array(f"{name}.sink_value"),
            np.ascontiguousarray(self._array(f"{name}.out.weight").T),
            self._step(f"{name}.step"),
        )

    def _matches(self, gain: Float32) -> Float32:
        """(d, codes * matches): all bilinear matches of a query's final state with a code."""
        s = self.shape
        left = self._array("head.match_q.weight").reshape(s.matches, s.match_dim, s.width)
        right = self.codes @ self._array("head.match_c.weight").T
        right = right.reshape(s.codes, s.matches, s.match_dim) / np.float32(math.sqrt(s.match_dim))
        found = np.einsum("rmd,crm->dcr", left * gain, right, optimize=True)
        return np.ascontiguousarray(found.reshape(s.width, -1), np.float32)

    def _largest_score(self) -> float:
        """A bound on |q . k| / sqrt(D) over all attentions: Cauchy and Schwarz on norms and gains."""

        def bound(keys: Keys) -> float:
            key = abs(keys.k_gain).max() + np.linalg.norm(keys.offset, axis=1).max(initial=0.0)
            return float(abs(keys.q_gain).max() * max(key, np.linalg.norm(keys.sink, axis=1).max()))

        return max(bound(keys) for keys in self.attentions())


def unit(x: Float32, squares: Float32, out: Float32) -> None:
    """x / sqrt(|x|^2 + n epsilon) along the last axis of n: rms-normalised but for the root of n."""
    np.vecdot(x, x, out=squares)
    squares += np.float32(x.shape[-1] * EPSILON)
    np.sqrt(squares, out=squares)
    np.divide(x, squares[..., None], out=out)
