"""Class scores from the votes of a context's rows, code matches, and how the classes stand in it.

One small function scores every class of the context by itself, so there is no limit on classes:

    z_c     = [vote_c (H), log(vote_c + 1e-4) / 4 (H), match_c (R), standing_c (4)]
    score_c = w . gelu(W z_c + b) + mean over heads of log(vote_c + 1e-4)
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.rill.classes import Classes
from millpond.backbones.rill.engine import Engine, Queries, linear
from millpond.backbones.rill.lanes import Lanes
from millpond.backbones.rill.network import Float32, Network, unit

QUIET = np.float32(1e-4)
GELU = np.float32(math.sqrt(2 / math.pi))


def probabilities(
    engine: Engine,
    classes: Classes,
    lanes: Lanes,
    states: Float32,
    turn: NDArray[np.complex64],
    position: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Final states (n, k, d) of n lanes' queries -> (n, k, C) over the places of classes.

    A class without a row in the lane's context has probability 0.
    """
    network, s = engine.network, engine.network.shape
    n, k, d = states.shape
    answers: Float32 = np.empty((n * k, network.answer.shape[1]), np.float32)
    linear(np.ascontiguousarray(states).reshape(n * k, d), network.answer, answers)
    heads = answers[:, : s.heads * s.head_dim].reshape(n, k, s.heads, s.head_dim)
    matches = answers[:, s.heads * s.head_dim :].reshape(n, k, s.codes, s.matches)

    count, code = classes.count[lanes.index], classes.code[lanes.index] % s.codes
    C, H, R = count.shape[1], s.heads, s.matches
    z: Float32 = np.empty((n, k, C, 2 * H + R + 4), np.float32)
    votes, loud = z[..., :H], z[..., H : 2 * H]
    votes[...] = _votes(engine, classes, lanes, heads, turn)
    np.log(votes + QUIET, out=loud)
    base = loud @ np.full(H, 1 / H, np.float32)
    loud *= np.float32(0.25)
    matched = matches[np.arange(n)[:, None], :, code]  # (n, C, k, R)
    z[..., 2 * H : 2 * H + R] = matched.transpose(0, 2, 1, 3)
    standing = _standing(count, position[:, None] - classes.last[lanes.index])
    z[..., 2 * H + R :] = standing[:, None]
    scores = _mixed(network, z.reshape(-1, z.shape[3])).reshape(n, k, C) + base
    return _softmax(scores.astype(np.float64), (count > 0)[:, None])


def _mixed(network: Network, z: Float32) -> Float32:
    """(N, 2 H + R + 4) -> (N,), one small network for all classes."""
    u = z @ network.head_hidden
    u += network.head_bias
    inner = u * u
    inner *= np.float32(0.044715)
    inner += np.float32(1)
    inner *= u
    inner *= GELU
    np.tanh(inner, out=inner)
    inner += np.float32(1)
    inner *= u
    return np.asarray(inner @ network.head_score)  # which holds the half of gelu


def _votes(
    engine: Engine,
    classes: Classes,
    lanes: Lanes,
    heads: Float32,
    turn: NDArray[np.complex64],
) -> Float32:
    """(n, k, C, H): what share of each head's attention goes to the rows of a class."""
    n, k, H, D = heads.shape
    G = engine.network.shape.kv_heads
    unit(heads, np.empty((n, k, H), np.float32), heads)
    queries = Queries(engine.network, n, k, False, engine.cache)
    split = heads.reshape(n, k, G, H // G, D).transpose(0, 2, 1, 3, 4)
    queries.fill(split, engine.network.votes, turn, False)
    votes: Float32 = np.empty((n, G, k, H // G, classes.ballot.shape[3]), np.float32)
    attention, stretches = len(engine.network.layers), engine.stretches(lanes, queries)
    engine.attend(attention, stretches, queries, classes.ballot, votes)
    return votes.transpose(0, 2, 4, 1, 3).reshape(n, k, -1, H)


def _standing(count: NDArray[np.int64], age: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n, C) rows of a class in the context, rows since its last arrival -> (n, C, 4)."""
    out = np.empty((*count.shape, 4))
    held = np.maximum(count, 1)  # of an absent class nothing is used
    np.log(held / count.sum(1, keepdims=True), out=out[..., 0])
    np.log1p(held, out=out[..., 1])
    np.log1p(age, out=out[..., 2])
    out *= 0.25
    out[..., 3] = np.log1p((count > 0).sum(1, keepdims=True)) / 2
    return out


def _softmax(scores: NDArray[np.float64], here: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Over the last axis, where `here`."""
    scores = np.where(here, scores, -np.inf)
    p: NDArray[np.float64] = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return p
