"""Seeded random draws on any device: everything random in pretraining comes from one of these."""

from __future__ import annotations

import torch


class Draws:
    """A generator with the few distributions that the prior needs."""

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self.generator = torch.Generator(self.device).manual_seed(seed)
        self.host = torch.Generator().manual_seed(seed ^ 0x5EED)

    def rand(self, *shape: int) -> torch.Tensor:
        return torch.rand(shape, generator=self.generator, device=self.device)

    def randn(self, *shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=self.generator, device=self.device)

    def coin(self, p: float, *shape: int) -> torch.Tensor:
        return self.rand(*shape) < p

    def ints(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Integers from low to high - 1."""
        return torch.randint(low, high, shape, generator=self.generator, device=self.device)

    def below(self, high: torch.Tensor | int, *shape: int) -> torch.Tensor:
        """Integers from 0 to high - 1, `high` broadcasting over the shape."""
        if isinstance(high, int):
            return self.ints(0, high, *shape)
        return (self.rand(*shape) * high).long().minimum(high - 1)

    def log_uniform(self, low: float, high: float, *shape: int) -> torch.Tensor:
        return low * (high / low) ** self.rand(*shape)

    def pick(self, weights: torch.Tensor, n: int) -> torch.Tensor:
        """(B, K) weights -> (B, n) indices drawn with replacement."""
        return torch.multinomial(weights, n, replacement=True, generator=self.generator)

    def permutation(self, *shape: int) -> torch.Tensor:
        """Random permutations of the last axis."""
        return self.rand(*shape).argsort(-1)

    def number(self, low: float, high: float, log: bool = False) -> float:
        """One number on the host (a choice made once for a whole batch)."""
        u = float(torch.rand((), generator=self.host))
        return low * (high / low) ** u if log else low + (high - low) * u
