"""Muon (Jordan et al. 2024) for matrices of equal shape together: one batched Newton-Schulz each.

Momentum is kept in bfloat16, in which the orthogonalisation runs anyway, so that a checkpoint
holds it exactly.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor


def orthogonalised(G: Tensor, rounds: int = 5) -> Tensor:
    """(k, rows, cols) -> the nearest semi-orthogonal matrices, roughly, in bfloat16."""
    a, b, c = 3.4445, -4.7750, 2.0315
    X = G.bfloat16()
    tall = X.shape[-2] > X.shape[-1]
    X = X.mT if tall else X
    X = X / (X.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(rounds):
        A = X @ X.mT
        X = a * X + (b * A + c * A @ A) @ X
    out: Tensor = X.mT if tall else X
    return out


class Muon:
    """Momentum, orthogonalise, scale by sqrt(max(1, rows / cols)), decay."""

    def __init__(self, matrices: Iterable[Tensor], momentum: float, decay: float) -> None:
        self.momentum, self.decay = momentum, decay
        by_shape: dict[torch.Size, list[Tensor]] = {}
        for p in matrices:
            by_shape.setdefault(p.shape, []).append(p)
        self.groups = list(by_shape.values())
        self.buffers = [
            torch.zeros(len(g), *g[0].shape, dtype=torch.bfloat16, device=g[0].device)
            for g in self.groups
        ]

    @torch.no_grad()
    def step(self, lr: float) -> None:
        for group, buffer in zip(self.groups, self.buffers, strict=True):
            grad = torch.stack([p.grad for p in group if p.grad is not None])
            buffer.lerp_(grad.bfloat16(), 1 - self.momentum)
            update = orthogonalised(grad.lerp(buffer.float(), self.momentum))
            rows, cols = group[0].shape
            scale = max(1.0, rows / cols) ** 0.5
            torch._foreach_mul_(group, 1 - lr * self.decay)
            torch._foreach_add_(group, list(update.float().unbind(0)), alpha=-lr * scale)
