"""The order of rows: sorted tables, runs of a class, classes that arrive late."""

from __future__ import annotations

import torch
from pretraining.draws import Draws
from torch import Tensor


def arrange(draw: Draws, X: Tensor, y: Tensor, classes: int) -> Tensor:
    """(B, n) the order in which rows arrive; most streams keep the order of their making."""
    B, n, _ = X.shape
    t = torch.arange(n, device=draw.device, dtype=X.dtype).expand(B, n)
    kind = draw.rand(B, 1)
    # Lexicographic by up to three coarse columns, more or less blurred.
    coarse = draw.log_uniform(0.5, 4, B, 1)
    scaled = (X[..., :3] - X[..., :3].mean(1, keepdim=True)) / (
        X[..., :3].std(1, keepdim=True) + 1e-4
    )
    steps = (scaled.nan_to_num(0.0).clamp(-9, 9) * coarse[..., None]).round()
    key = steps[..., 0] * 1e4 + steps[..., -1] * 1e2 * draw.coin(0.6, B, 1)
    key = key + scaled[..., min(1, X.shape[-1] - 1)].nan_to_num(0.0)
    key = key + draw.randn(B, n) * draw.log_uniform(0.1, 1e4, B, 1)
    t = torch.where(kind < 0.1, key, t)
    # Runs of one class: within blocks, rows are sorted by class, with strays.
    block = draw.log_uniform(8, n, B, 1).long()
    place = draw.rand(B, classes).gather(1, y) + draw.randn(B, n) * draw.log_uniform(0.01, 1, B, 1)
    runs = torch.arange(n, device=draw.device) // block * 1000.0 + place
    t = torch.where((kind >= 0.1) & (kind < 0.17), runs, t)
    # Late classes: their early rows come after the class's first day.
    start = n * (draw.rand(B, classes) * 1.2 - 0.5).clamp(0, 0.7)
    start = (start * draw.coin(0.5, B, classes)).gather(1, y)
    number = torch.arange(n, device=draw.device, dtype=X.dtype)
    late = torch.where(number < start, start + draw.rand(B, n) * (n - start), number)
    t = torch.where((kind >= 0.17) & (kind < 0.27), late, t)
    return t.argsort(dim=1, stable=True)
