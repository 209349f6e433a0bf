"""From synthetic streams to what the model reads: features, codes, a bounded context's course."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from pretraining.draws import Draws
from pretraining.features import column_features, expand
from pretraining.model import Attend, Rill, Rows
from pretraining.prior import Streams
from pretraining.retention import FIFO, Plan, Retention, simulate, windows
from pretraining.standing import (
    class_standing,
    log_probabilities,
    normalised_entropy,
    standing_of,
)
from torch import Tensor

Attention = Callable[[Rows, Rows], Attend]


@dataclass
class Episode:
    """A batch of streams, ready but for the retention."""

    X: Tensor  # (B, n, F) raw, for the policies
    label: Tensor  # (B, n)
    channels: Tensor  # (B, n, F, CHANNELS)
    slot: Tensor  # (B, F)
    code: Tensor  # (B, C)


def prepare(streams: Streams, draw: Draws, slots: int, codes: int, C: int) -> Episode:
    """Features; column f on slot f and class c on code c, as at use.

    Columns and classes are in random order within a stream, and narrow streams and few classes are
    what is mostly met: so the first slots and codes learn most. Every slot and code at random for
    each stream was tried first: the same stream then scores up to 1.7 points apart by its slots.
    """
    B, _, width = streams.X.shape
    slot = torch.arange(width, device=draw.device) % slots
    # Tables wider than the slots share them: a few streams learn to bear that.
    slot = torch.where(draw.coin(0.03, B, 1), draw.ints(0, slots, B, width), slot)
    code = (torch.arange(C, device=draw.device) % codes).expand(B, -1)
    base = column_features(streams.X)
    # In the precision of the matrix product that follows: the largest array of a step.
    half = torch.is_autocast_enabled(base.device.type)
    channels = expand(base).to(torch.bfloat16 if half else base.dtype)
    return Episode(streams.X, streams.y, channels, slot, code)


def score(model: Rill, e: Episode, kept: Retention, attention: Attention) -> tuple[Tensor, Tensor]:
    """Scores (B, n, C) and the classes' counts in the context (B, n, C) at every query."""
    B, n = e.label.shape
    arrive = torch.arange(n, device=e.label.device).expand(B, n)
    rows = Rows(arrive, kept.promoted, kept.leaves, kept.position)
    count, age = class_standing(e.label, rows, e.code.shape[1])
    standing = standing_of(count, age)
    scores, _ = model(e.channels, e.slot, e.label, e.code, standing, rows, attention(rows, rows))
    return scores, count


@torch.no_grad()
def on_policy(
    model: Rill, e: Episode, lanes: Plan, attention: Attention, block: int = 32
) -> Retention:
    """The policies' course, CURE gated by the model's own entropies.

    The entropies come from a first pass over plain windows of the lanes' budgets, since the true ones
    depend on the very course they decide.
    """
    n, C = e.label.shape[1], e.code.shape[1]
    kept = windows(lanes, n)
    if bool((lanes.policy == FIFO).all()):
        return kept
    entropy = torch.ones_like(e.label, dtype=torch.float32)
    if bool((lanes.tau > 0).any()):
        entropy = normalised_entropy(*score(model, e, kept, attention))
    return simulate(lanes, e.X, e.label, entropy, C, block)


@dataclass
class Loss:
    """Mean cross-entropy and accuracy over rows that could be answered, and their number."""

    value: Tensor
    accuracy: Tensor
    rows: Tensor
    absent: Tensor  # rows whose class was not in the context: excluded


def loss_of(scores: Tensor, count: Tensor, label: Tensor) -> Loss:
    """Cross-entropy over the classes in the context, where there are two or more."""
    several = (count > 0).sum(-1) >= 2
    known = count.gather(2, label[..., None])[..., 0] > 0
    asked = several & known
    safe = torch.where(several[..., None], count, 1)
    log_p = log_probabilities(scores, safe)
    nll = F.nll_loss(log_p.transpose(1, 2), label, reduction="none")
    total = asked.sum().clamp(min=1)
    right = (log_p.argmax(-1) == label) & asked
    return Loss(
        torch.where(asked, nll, 0.0).sum() / total,
        right.sum() / total,
        asked.sum(),
        (several & ~known).sum(),
    )
