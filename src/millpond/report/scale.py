"""From data to pixels: linear scales and round tick values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] of the data onto [start, stop] of the picture."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        if span == 0:
            return (self.start + self.stop) / 2
        return self.start + (value - self.low) / span * (self.stop - self.start)


def step(span: float, about: int) -> float:
    """The 1, 2 or 5 times a power of ten that cuts `span` into at most about `about` parts."""
    rough = span / max(about, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= rough * (1 - 1e-9))


def ticks(low: float, high: float, about: int) -> list[float]:
    """Round values within [low, high]."""
    if not high > low:
        return [low]
    size = step(high - low, about)
    first, last = math.ceil(low / size - 1e-9), math.floor(high / size + 1e-9)
    return [round(k * size, 12) for k in range(first, last + 1)]


def fit(values: Iterable[float], about: int) -> tuple[float, float]:
    """The share of [0, 1] to draw for these fractions: some air, ends on round values."""
    known = list(values)
    low, high = min(known), max(known)
    air = max(0.04 * (high - low), 0.005)
    low, high = max(low - air, 0.0), min(high + air, 1.0)
    size = step(high - low, about)
    return (
        max(round(math.floor(low / size + 1e-9) * size, 12), 0.0),
        min(round(math.ceil(high / size - 1e-9) * size, 12), 1.0),
    )
