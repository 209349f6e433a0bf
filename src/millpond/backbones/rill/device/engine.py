"""A pass: the row that waits and the next queries through the layers, and from there to probabilities.

As in the NumPy engine, a lane's newest row is encoded with the lane's next query: one pass over the
weights serves both. Nothing here depends on a value: lanes that have no row waiting carry a token whose
keys go where nobody looks, deltas that change nothing change the sink to what it is.

Shapes: n lanes `at`, k queries, T = 1 + k tokens (the labelled one first), N columns, G key-value heads,
H query heads of D dims, C classes.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from millpond.backbones.rill.device.cache import SINK, Cache
from millpond.backbones.rill.device.classes import Classes
from millpond.backbones.rill.device.columns import Columns
from millpond.backbones.rill.device.lanes import At
from millpond.backbones.rill.device.model import Attention, Gated, Model
from millpond.backbones.rill.features import CHANNELS
from millpond.backbones.rill.network import EPSILON

QUIET = 1e-4


class Engine:
    """A model over the caches, classes and column statistics of some lanes."""

    def __init__(self, model: Model, lanes: int, slots: int, features: int, classes: int) -> None:
        self.model, self.lanes = model, lanes
        self.cache = Cache(model, lanes, slots)
        self.classes = Classes(lanes, self.cache.columns, classes, model.device)
        self.position = torch.zeros(lanes, dtype=torch.int64, device=model.device)
        self.token = torch.zeros((lanes, model.shape.width), device=model.device)
        self.set_columns(Columns(lanes, features, model.device))

    def set_columns(self, columns: Columns) -> None:
        self.columns = columns
        self.features = features = columns.mean.shape[1]
        self._slots = min(features, self.model.shape.slots)
        self._weights = self.model.columns(features)

    # -- what a step is made of ------------------------------------------------------------------

    def embed(self, X: Tensor, at: At) -> Tensor:
        """(n, k, F) rows -> (n, k, d), from their features by what the lanes have learned so far."""
        channels = self.columns.channels(X, at)
        if self.features > self._slots:
            whole = -(-self.features // self._slots)
            channels = F.pad(channels, (0, whole * self._slots - self.features))
            channels = channels.unflatten(-1, (whole, self._slots)).sum(-2)
        flat = channels.reshape(*X.shape[:2], CHANNELS * self._slots)
        x = self._linear(flat, self._weights)
        for step in self.model.row:
            x = self._step(x, step)
        return x

    def ask(self, embedded: Tensor, at: At) -> Tensor:
        """(n, k, d) -> (n, k, C) probabilities by place in float64, 0 for absent classes.

        Encodes the rows that wait on the way.
        """
        tokens = torch.cat((at.of(self.token)[:, None], embedded + self.model.ask), 1)
        states, turn = self._encode(tokens, at)
        return self._probabilities(states[:, 1:], turn[:, 1:], at)

    def encode_waiting(self, at: At) -> None:
        self._encode(at.of(self.token)[:, None], at)

    def learn(
        self,
        X: Tensor,
        embedded: Tensor,
        place: Tensor,
        slots: tuple[Tensor, Tensor, Tensor],
        at: At,
    ) -> None:
        """Rows (n, F), embedded (n, d), join lanes `at`; deltas are slots added, evicted, promoted."""
        self.add(embedded, place, slots, at)
        self.columns.learn(X, at)

    def add(
        self, embedded: Tensor, place: Tensor, slots: tuple[Tensor, Tensor, Tensor], at: At
    ) -> None:
        """All of it but the statistics of the columns."""
        added, evicted, promoted = slots
        code = self.classes.code[at.index, place]
        at.put(self.token, embedded + self.model.codes[code])
        self.cache.admit(at, added, evicted, promoted)
        position = at.of(self.position)
        self.classes.learn(at, place, added + 1, evicted + 1, position)
        at.put(self.position, position + 1)

    # -- the layers ------------------------------------------------------------------------------

    def _encode(self, x: Tensor, at: At) -> tuple[Tensor, Tensor]:
        """Tokens (n, T, d), the labelled ones first -> final states, normalised but for the gain, and
        their turns (n, T, 1, rotary / 2). Keys of rows that wait are written, their deltas settled."""
        s, cache = self.model.shape, self.cache
        n, tokens = x.shape[:2]
        turn = self._turns(at, tokens)
        masks, moved = cache.masks(at)
        mask = torch.cat((masks[:, :1], masks[:, 1:].expand(-1, tokens - 1, -1)), 1)
        added = at.of(cache.added)
        written = torch.where(added == SINK, cache.trash, added)
        heads, key = s.heads * s.head_dim, s.kv_heads * s.head_dim
        for i, layer in enumerate(self.model.layers):
            qkv = self._linear(self._unit(x), layer.qkv)
            q = self._turned(qkv[..., :heads], layer.keys.q_gain, turn)
            k = self._turned(qkv[:, :1, heads : heads + key], layer.keys.k_gain, turn[:, :1])
            cache.keys[i, at.index, :, written] = k[:, 0].to(cache.keys.dtype)
            cache.values[i, at.index, :, written] = (
                qkv[:, 0, heads + key :].unflatten(-1, (s.kv_heads, -1)).to(cache.values.dtype)
            )
            found = self._attend(
                q, at.of(cache.keys[i]), at.of(cache.values[i]), mask, moved, layer.keys
            )
            x = x + self._linear(found.reshape(n, tokens, heads), layer.out)
            x = self._step(x, layer.step)
        final = self._unit(x)
        vote = self._linear(final[:, :1], self.model.vote_key)
        k = self._turned(vote, self.model.votes.k_gain, turn[:, :1])
        cache.keys[-1, at.index, :, written] = k[:, 0].to(cache.keys.dtype)
        cache.settle(at)
        return final, turn

    def _attend(
        self,
        q: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor,
        moved: Tensor | None,
        attention: Attention,
    ) -> Tensor:
        """(n, T, H, D) over (n, G, N, D) and (n, G, N, V), masks (n, T, N) -> (n, T, H, V)."""
        tokens, heads = q.shape[1:3]
        groups = keys.shape[1]
        q = q.unflatten(2, (groups, heads // groups)).transpose(1, 2)  # (n, G, T, R, D)
        scores = (q.flatten(2, 3) @ keys.float().mT).unflatten(2, (tokens, -1))
        scores = scores + mask[:, None, :, None]
        if moved is not None:
            still = q[..., self.model.shape.rotary :]
            extra = (still * attention.offset[:, None, None]).sum(-1, keepdim=True)
            extra = torch.cat((torch.zeros_like(extra[:, :, :1]), extra[:, :, 1:]), 2)
            scores = torch.addcmul(scores, extra, moved[:, None, None, None])
        shares = scores.softmax(-1).flatten(2, 3)  # (n, G, T R, N)
        found = (shares @ values.float()).unflatten(2, (tokens, -1))
        return found.transpose(1, 2).flatten(2, 3)

    def _turns(self, at: At, tokens: int) -> Tensor:
        """(n, T, 1, rotary / 2) complex; angles in float64, as positions grow without end."""
        before = torch.zeros(tokens, dtype=torch.int64, device=self.model.device)
        before[0] = 1
        angle = (at.of(self.position)[:, None] - before)[..., None, None] * self.model.wave
        return torch.polar(torch.ones_like(angle), angle).to(torch.complex64)

    def _turned(self, flat: Tensor, gain: Tensor, turn: Tensor) -> Tensor:
        """(n, T, heads D) -> (n, T, heads, D) in float32: normalised, scaled, turned by position."""
        s = self.model.shape
        heads = flat.unflatten(-1, (-1, s.head_dim))
        heads = F.rms_norm(heads.float(), (s.head_dim,), gain, EPSILON)
        pairs = torch.view_as_complex(heads[..., : s.rotary].unflatten(-1, (-1, 2)))
        pairs *= turn
        return heads

    def _unit(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), self.model.plain, EPSILON)

    def _linear(self, x: Tensor, weight: Tensor) -> Tensor:
        return (x.to(weight.dtype) @ weight).float()

    def _step(self, x: Tensor, step: Gated) -> Tensor:
        """x + down(silu(gate) * value); the matrix holds half of each gate."""
        gate, value = self._linear(self._unit(x), step.up).chunk(2, -1)
        return x + self._linear(gate * (gate.tanh() + 1) * value, step.down)

    # -- the head --------------------------------------------------------------------------------

    def _probabilities(self, states: Tensor, turn: Tensor, at: At) -> Tensor:
        """Final states (n, k, d) of queries -> (n, k, C) over the places of classes, in float64."""
        s = self.model.shape
        n, k, _ = states.shape
        answers = self._linear(states, self.model.answer)
        q = self._turned(answers[..., : s.heads * s.head_dim], self.model.votes.q_gain, turn)
        matches = answers[..., s.heads * s.head_dim :].unflatten(-1, (s.codes, s.matches))
        count, C = at.of(self.classes.count), self.classes.count.shape[1]
        ballot = self.classes.ballot(at)[:, None].expand(-1, s.kv_heads, -1, -1)
        mask = at.of(self.cache.bias)[:, None].expand(-1, k, -1)
        votes = self._attend(q, at.of(self.cache.keys[-1]), ballot, mask, None, self.model.votes)
        votes = votes.mT  # (n, k, C, H)
        loud = (votes + QUIET).log()
        code = at.of(self.classes.code)[:, None, :, None].expand(-1, k, -1, s.matches)
        matched = matches.gather(2, code)  # (n, k, C, R)
        standing = self._standing(at)[:, None].expand(-1, k, -1, -1)
        z = torch.cat((votes, loud * 0.25, matched, standing), -1)
        u = (z.flatten(0, 2) @ self.model.head_hidden + self.model.head_bias).view(n, k, C, -1)
        inner = math.sqrt(2 / math.pi) * u * (1 + 0.044715 * u * u)
        mixed = (u * (inner.tanh() + 1)) @ self.model.head_score
        scores = (mixed + loud.mean(-1)).double()
        absent = (count == 0)[:, None]
        # A lane without any row has no class: all its probabilities are 0.
        return scores.masked_fill(absent, -torch.inf).softmax(-1).masked_fill(absent, 0.0)

    def _standing(self, at: At) -> Tensor:
        """(n, C, 4): share and number of a class's rows, rows since its last arrival, classes."""
        count = at.of(self.classes.count).double()
        age = (at.of(self.position)[:, None] - at.of(self.classes.last)).double()
        held = count.clamp(min=1.0)  # of an absent class nothing is used
        share = (held / count.sum(1, keepdim=True).clamp(min=1.0)).log()
        classes = (count > 0).sum(1, keepdim=True).double().log1p().expand_as(count)
        parts = (share * 0.25, held.log1p() * 0.25, age.log1p() * 0.25, classes * 0.5)
        return torch.stack(parts, -1).float()

    # -- saving ----------------------------------------------------------------------------------

    def saved(self) -> dict[str, Tensor]:
        """Every tensor that decides the future, by name."""
        found = {"position": self.position, "token": self.token}
        for part in ("cache", "classes", "columns"):
            found |= {f"{part}.{name}": t for name, t in getattr(self, part).saved().items()}
        return found
