"""A slow prequential loop and a slow nearest-neighbour vote, to compare the library with.

Nothing is shared with the library but the `Stream` type: the loop is the paper's protocol written down
(predict, score, then learn; a warm-up that is learned and not predicted), the context is the brute-force
one of `oracle`, and the vote works with exact fractions, so that no tie is decided by rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond import Stream
from oracle import BruteForceContext, entropy, margin

Rows = NDArray[Any]
Vote = Callable[[Rows, Sequence[int], Rows], dict[int, float]]
"""X (n, d) and labels (n,) in order of arrival, one query (d,) -> probability of each class in them"""


def made_stream(
    seed: int,
    rows: int,
    *,
    features: int = 3,
    classes: int = 2,
    levels: int = 0,
    missing: float = 0.0,
    late: bool = False,
    name: str = "made",
) -> Stream:
    """Rows whose class can be learned, and drifts; on a grid of `levels` values where that is not 0.

    With `late`, class c is not seen before row c * rows / (2 * classes).
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    if late:
        y = np.minimum(y, 2 * classes * np.arange(rows) // max(rows, 1))
    centres = 2 * rng.normal(size=(2, classes, features))
    X = centres[(np.arange(rows) > rows // 2).astype(int), y] + rng.normal(size=(rows, features))
    if levels:
        X = np.clip(np.round(X), 0, levels - 1)
    X[rng.random(X.shape) < missing] = np.nan
    names = tuple(f"x{j}" for j in range(features))
    return Stream(name, X.astype(np.float32), y, names, tuple("abcdefgh"[:classes]))


# ---- Votes ---------------------------------------------------------------------------------------


def exact_vote(X: Rows, y: Sequence[int], query: Rows, k: int = 10) -> dict[int, float]:
    """What `knn` documents: k nearest in z-scores, the newest on ties, one vote shared by frequency."""
    frequency = Counter(y)
    if len(frequency) < 2:
        return dict.fromkeys(frequency, 1.0)
    distances = [Fraction(0)] * len(y)
    for column, asked in zip(X.T, query, strict=True):
        there = [Fraction(float(v)) for v in column if not np.isnan(v)]
        if not there:
            continue
        mean = sum(there) / len(there)
        # A missing value stands at the mean, also among the rows that the spread is taken over.
        spread = sum((v - mean) ** 2 for v in there) / len(there)
        if not spread:
            continue
        point = mean if np.isnan(asked) else Fraction(float(asked))
        for i, value in enumerate(column):
            stands = mean if np.isnan(value) else Fraction(float(value))
            distances[i] += (stands - point) ** 2 / spread
    nearest = sorted(range(len(y)), key=lambda i: (distances[i], -i))[:k]
    votes = Counter(y[i] for i in nearest)
    return {
        c: float((votes[c] + Fraction(n, len(y))) / (len(nearest) + 1))
        for c, n in sorted(frequency.items())
    }


def plain_vote(X: Rows, y: Sequence[int], query: Rows) -> dict[int, float]:
    """Every row votes by its closeness: what a row says depends on all rows, and on nothing else."""
    weights = dict.fromkeys(sorted(set(y)), 0.0)
    for row, label in zip(X, y, strict=True):
        distance = 0.0
        for a, b in zip(row.tolist(), query.tolist(), strict=True):
            distance += 0.0 if np.isnan(a - b) else (a - b) ** 2
        weights[label] += 1.0 / (1.0 + distance) ** 2
    total = sum(weights.values())
    return {label: weight / total for label, weight in weights.items()}


# ---- The loop ------------------------------------------------------------------------------------


@dataclass
class Run:
    """What the loop found: one entry for each row."""

    predictions: list[int] = field(default_factory=list)
    why: list[str] = field(default_factory=list)
    probas: list[dict[int, float]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    sizes: list[tuple[int, int]] = field(default_factory=list)
    retained: list[int] = field(default_factory=list)

    def accuracy(self, labels: Sequence[int]) -> float | None:
        right = [p == y for p, y in zip(self.predictions, labels, strict=True) if p >= 0]
        return sum(right) / len(right) if right else None


def slow_prequential(
    stream: Stream,
    vote: Vote,
    *,
    policy: str = "cure",
    budget: int = 10,
    short_ratio: float = 0.5,
    tau: float = 0.3,
    warmup: int = 100,
    chunk: int = 1,
    delay: int = 0,
    lost: Collection[int] = (),
    limit: int | None = None,
) -> Run:
    """Test, then train. The labels of the `lost` rows never arrive."""
    rows = len(stream) if limit is None else min(limit, len(stream))
    context = BruteForceContext(policy, budget, short_ratio, tau)
    run, learned, start = Run(), 0, 0
    while start < rows:
        end = start + 1 if start < warmup else min(start + chunk, rows)
        held = context.arrays()
        for t in range(start, end):
            run.sizes.append((len(context.short), len(context.long)))
            run.probas.append({} if t < warmup else vote(held[0], held[1], stream.X[t]))
            run.why.append(
                "warmup" if t < warmup else "one_class" if len(set(held[1])) < 2 else "scored"
            )
            proba = list(run.probas[t].values())
            if run.why[t] != "scored":
                run.predictions.append(-1)
                run.scores.append(0.0)
            else:
                best = max(proba)
                run.predictions.append(min(c for c, p in run.probas[t].items() if p == best))
                run.scores.append(margin(proba) if policy == "cure_margin" else entropy(proba))
        while learned + delay < end:  # row `learned + delay` has been predicted: the label is here
            if learned not in lost:
                context.observe(
                    stream.X[learned],
                    int(stream.y[learned]),
                    list(run.probas[learned].values()) or None,
                )
            learned += 1
        start = end
    run.retained = context.arrivals("all")
    return run
