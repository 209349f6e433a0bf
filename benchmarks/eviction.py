"""The cost of one `Context.observe` that ends in a CURE eviction, against brute force in the same run.

Brute force is the update written down as the paper states it, in plain NumPy: banks as lists of rows,
z-scores over the rows of the eviction, the (n, n, d) array of differences, the smallest distance. Both
see the same rows and must keep the same; they take turns, so that both meet the same machine.

    python benchmarks/eviction.py            # prints a table, writes benchmarks/results/eviction.json
"""

from __future__ import annotations

import time
from collections import deque

import numpy as np

from millpond import Context
from results import machine, write

RHO, CLASSES = 0.75, 2
STEPS = 300  # measured steps of each case, all of which end in an eviction
BLOCK = 20  # steps of one before the same steps of the other


class BruteForce:
    """CURE with tau = 0 and every decision made from scratch."""

    def __init__(self, budget: int) -> None:
        self.short_budget = round(budget * RHO)
        self.long_budget = budget - self.short_budget
        self.short: deque[tuple[np.ndarray, int]] = deque()
        self.long: list[tuple[np.ndarray, int]] = []

    def observe(self, x: np.ndarray, y: int) -> None:
        self.short.append((x, y))
        if len(self.short) > self.short_budget:
            self.long.append(self.short.popleft())
        if len(self.long) > self.long_budget:
            del self.long[self._redundant()]

    def _redundant(self) -> int:
        labels = np.array([y for _, y in self.long])
        counts = np.bincount(labels)
        majority = int(np.flatnonzero(counts == counts.max())[-1])
        members = np.flatnonzero(labels == majority)
        rows = np.stack([self.long[m][0] for m in members])
        recent = np.stack([x for x, y in self.short if y == majority])
        together = np.concatenate([rows, recent]).astype(np.float64)
        phi = (together - together.mean(axis=0)) / (together.std(axis=0) + 1e-6)
        own, centroid = phi[: len(rows)], phi[len(rows) :].mean(axis=0)
        distance = np.sqrt(((own[:, None] - own[None]) ** 2).sum(axis=-1))
        distance[np.tril_indices(len(own))] = np.inf
        i, j = np.unravel_index(np.argmin(distance), distance.shape)
        away = np.linalg.norm(own[[i, j]] - centroid, axis=1)
        return int(members[j if away[1] > away[0] else i])


def compare(budget: int, features: int) -> dict[str, float]:
    """Median microseconds of a step, ours and brute force's, and their ratio."""
    rng = np.random.default_rng(0)
    fill = budget + 10
    X = rng.standard_normal((fill + STEPS, features)).astype(np.float32)
    y = rng.integers(0, CLASSES, len(X))
    context, brute = (
        Context(policy="cure", budget=budget, short_ratio=RHO, tau=0.0),
        BruteForce(budget),
    )
    ours, theirs = [], []
    for start in range(0, len(X), BLOCK):
        block = range(start, min(start + BLOCK, len(X)))
        for t in block:
            begin = time.perf_counter()
            delta = context.observe(X[t], int(y[t]), [0.3, 0.7])
            if t >= fill:
                assert delta.evicted
                ours.append(time.perf_counter() - begin)
        for t in block:
            begin = time.perf_counter()
            brute.observe(X[t], int(y[t]))
            if t >= fill:
                theirs.append(time.perf_counter() - begin)
    kept = {x.tobytes() for x, _ in [*brute.long, *brute.short]}
    assert kept == {x.tobytes() for x in context.arrays()[0]}, "the two kept other rows"
    us, them = float(np.median(ours)) * 1e6, float(np.median(theirs)) * 1e6
    return {
        "budget": budget,
        "features": features,
        "millpond_us": round(us, 1),
        "brute_force_us": round(them, 1),
        "ratio": round(them / us, 1),
    }


def growth(rows: int = 30_000) -> dict[str, float]:
    """Median step of the last tenth of a stream over that of its second tenth: 1 if nothing grows."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((rows, 8)).astype(np.float32), rng.integers(0, CLASSES, rows)
    context, times = Context(policy="cure", budget=1000, tau=0.0), np.empty(rows)
    for t in range(rows):
        begin = time.perf_counter()
        context.observe(X[t], int(y[t]), [0.3, 0.7])
        times[t] = time.perf_counter() - begin
    tenth = rows // 10
    early, late = np.median(times[tenth : 2 * tenth]), np.median(times[-tenth:])
    return {"rows": rows, "late_over_early": round(float(late / early), 2)}


def main() -> None:
    cases = [compare(b, d) for b, d in ((100, 8), (1000, 8), (1000, 27), (1000, 96), (4000, 27))]
    print(f"{'B':>5} {'d':>4} {'millpond':>12} {'brute force':>14} {'ratio':>7}")
    for case in cases:
        print(
            f"{case['budget']:>5} {case['features']:>4} {case['millpond_us']:>9.0f} us "
            f"{case['brute_force_us']:>11.0f} us {case['ratio']:>7.1f}"
        )
    grown = growth()
    print(
        f"step time, last tenth of {grown['rows']:,} rows over the second: {grown['late_over_early']}"
    )
    write("eviction", {"cases": cases, "growth": grown, "machine": machine()})


if __name__ == "__main__":
    main()
