"""What a recorder does to columns: rounding, categories, tails, noise, gaps, constants, wear."""

from __future__ import annotations

import torch
from pretraining.draws import Draws
from pretraining.prior.drift import paths, schedule
from torch import Tensor


def record(draw: Draws, X: Tensor) -> Tensor:
    """(B, n, F) clean columns of unit scale -> columns as they would be recorded."""
    B, n, F = X.shape
    kind = draw.rand(B, 1, F)
    # Some streams are all of one kind (counts, words, pixels).
    kind = torch.where(draw.coin(0.2, B, 1, 1), kind[..., :1], kind)
    levels = draw.log_uniform(1, 20, B, 1, F)
    X = torch.where(kind < 0.15, (X * levels).round() / levels, X)
    X = torch.where((kind >= 0.15) & (kind < 0.25), (X.clamp(-4, 4) * levels / 3).exp(), X)
    X = torch.where((kind >= 0.25) & (kind < 0.29), X**3 / 4, X)
    # Categories: rounded, then numbered out of order.
    mixed = ((X * levels).round() * 12.9898 + 78.233 * kind).sin() * 43.7 % 1.0
    X = torch.where((kind >= 0.29) & (kind < 0.39), mixed, X)
    cut = draw.randn(B, 1, F) * 1.2
    X = torch.where((kind >= 0.39) & (kind < 0.48), X.gt(cut).float(), X)  # flags, often rare
    X = torch.where((kind >= 0.48) & (kind < 0.52), X.clamp(-0.7, 0.7), X)
    noise = (draw.rand(B, 1, F) - 0.6).clamp(min=0) ** 2 * 2 * draw.coin(0.4, B, 1, 1)
    X = X + draw.randn(B, n, F) * noise
    # Wear: slow changes of level and scale, or a recalibration.
    worn = draw.coin(0.1, B, 1, 1) & draw.coin(0.4, B, 1, F)
    level = paths(draw, B, n, F) * draw.log_uniform(0.1, 2, B, 1, F)
    X = torch.where(worn, X + level, X)
    reset = draw.coin(0.1, B, 1, 1) & draw.coin(0.3, B, 1, F)
    jump = schedule(draw, B, n, 1.0)[..., None] * draw.randn(B, 1, F) * 2
    X = torch.where(reset, X + jump, X)
    return X + draw.randn(B, 1, F)


def lose(draw: Draws, X: Tensor, y: Tensor) -> Tensor:
    """Constant columns and missing values: at random, by class, or in stretches."""
    B, n, F = X.shape
    constant = draw.coin(0.15, B, 1, 1) & draw.coin(0.15, B, 1, F)
    X = torch.where(constant, X[:, :1], X)
    rate = draw.rand(B, 1, F) ** 2 * 0.6 * draw.coin(0.6, B, 1, F)
    by_class = draw.coin(0.2, B, 1, F) & ((y % 2) == 0)[..., None]
    rate = torch.where(by_class, (rate * 2).clamp(max=0.9), rate)
    off = paths(draw, B, n, F) > 1.5
    gone = (draw.rand(B, n, F) < rate) | (off & draw.coin(0.2, B, 1, F))
    return torch.where(gone & draw.coin(0.12, B, 1, 1), torch.nan, X)
