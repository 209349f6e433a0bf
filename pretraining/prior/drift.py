"""How a stream changes with time: schedules between concepts, smooth paths, sources in turn."""

from __future__ import annotations

import math

import torch
from pretraining.draws import Draws
from torch import Tensor
from torch.nn.functional import interpolate


def paths(draw: Draws, B: int, n: int, k: int) -> Tensor:
    """(B, n, k) piecewise-linear random paths; one time scale a call, from 2 to n / 4 knots."""
    knots = int(draw.number(2, max(4, n / 4), log=True)) + 2
    return interpolate(draw.randn(B, k, knots), size=n, mode="linear", align_corners=True).mT


def schedule(draw: Draws, B: int, n: int, share: float) -> Tensor:
    """(B, n) in [0, 1]: how far the stream has gone from its first concept to its second.

    None (all but `share`), a sudden or sigmoid step, a visit and return, a regular alternation, or
    a ramp. Rules that cannot be blended take the second concept at random with this chance.
    """
    t = torch.linspace(0, 1, n, device=draw.device)[None]
    kind, a, b = draw.rand(B, 1) / share, draw.rand(B, 1), draw.rand(B, 1)
    width = draw.log_uniform(1e-3, 0.2, B, 1)
    step = ((t - a) / width * 2).sigmoid()
    visit = ((t > a.minimum(b)) & (t < a.maximum(b))).float()
    periods = draw.log_uniform(1, 12, B, 1)
    alternate = ((2 * math.pi * (periods * t + a)).sin() > 1 - 2 * b).float()
    ramp = ((t - a / 2).clamp(min=0) * b * 2).clamp(max=1)
    out = torch.zeros_like(step.expand(B, n))
    for path, low, high in (
        (step, 0.0, 0.4),
        (visit, 0.4, 0.6),
        (alternate, 0.6, 0.85),
        (ramp, 0.85, 1.0),
    ):
        out = torch.where((kind >= low) & (kind < high), path, out)
    return out


def choose(draw: Draws, alpha: Tensor) -> Tensor:
    """(B, n) schedule -> which concept each row follows, drawn row by row."""
    return draw.rand(*alpha.shape) < alpha


def sources(draw: Draws, B: int, n: int, k: Tensor) -> Tensor:
    """(B, n) source of each row, of k (B, 1): strictly in turn, at random, or in long runs."""
    t = torch.arange(n, device=draw.device)[None]
    turn = (t + draw.below(k, B, 1)) % k
    order = draw.permutation(B, int(k.max()))  # the turn's order is not the numbers' order
    order = torch.where(order < k, order, order % k)
    turn = torch.where(draw.coin(0.5, B, 1), turn, order.gather(1, turn))
    random = draw.below(k, B, n)
    run = draw.log_uniform(2, n / 2, B, 1).long()
    runs = random.gather(1, (t // run).clamp(max=n - 1))
    kind = draw.rand(B, 1)
    return torch.where(kind < 0.4, turn, torch.where(kind < 0.7, random, runs))
