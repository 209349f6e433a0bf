"""Long runs: memory and step time from the first tenth to the last.

    python benchmarks/soak.py knn 10000000     # one StreamClassifier: results/soak_knn.json
    python benchmarks/soak.py rill 1000000     # many lanes of contexts: results/soak_rill.json

knn: rows of five features (numbers, a category, a missing value now and then) in a drifting stream of
four classes, through a classifier of budget 20; every row is predicted and learned, every third by key.
Rill: 64 lanes with contexts of 100 rows, each lane a drifting stream of its own; a row is a lane's.

The memory is the process's resident set at the end of each tenth. A step's time is processor time, as
other programs may use the machine: the median over the tenth's blocks of rows, whose making is not timed.
The file is written after each tenth.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import numpy as np

from millpond import StreamClassifier
from millpond.learner import ContextLearner
from results import machine, write

TENTHS = 10


class Run(Protocol):
    """What is run: facts about it, and its next block of rows."""

    facts: dict[str, Any]
    block: int
    """rows in a block"""

    def go_on(self, start: int) -> tuple[int, float]:
        """Test, then train on a block: how many answers were right, and the processor seconds."""


class OneStream:
    """Rows by name through one classifier."""

    block = 10_000

    def __init__(self) -> None:
        self.facts = {"backbone": "knn", "lanes": 1, "budget": 20, "tau": 0.3}
        self._classifier = StreamClassifier("knn", "cure", budget=20, tau=0.3)

    def go_on(self, start: int) -> tuple[int, float]:
        made, labels = self._rows(start)
        right, begin = 0, time.process_time()
        for t, (x, y) in enumerate(zip(made, labels, strict=True), start):
            key = t if t % 3 == 0 else None
            right += self._classifier.predict_one(x, key=key) == y
            self._classifier.learn_one(None if key is not None else x, y, key=key)
        return right, time.process_time() - begin

    def _rows(self, start: int) -> tuple[list[dict[str, Any]], list[str]]:
        rng = np.random.default_rng([1, start])
        drift, n = start / 1e6, self.block
        X = rng.normal(size=(n, 4))
        labels = ((X[:, 0] + X[:, 1] * np.cos(drift) > 0) * 2 + (X[:, 2] > np.sin(drift))).tolist()
        kinds = rng.integers(0, 20, n).tolist()
        X[rng.random(X.shape) < 0.01] = np.nan
        made = [
            {"a": a, "b": b, "c": c, "d": d, "kind": f"kind {k}"}
            for (a, b, c, d), k in zip(X.tolist(), kinds, strict=True)
        ]
        return made, [f"class {label}" for label in labels]


class ManyLanes:
    """One step of 64 streams at a time: what a fleet does."""

    lanes = np.arange(64)
    block = 100 * len(lanes)

    def __init__(self) -> None:
        self.facts = {"backbone": "rill", "lanes": len(self.lanes), "budget": 100, "tau": 0.3}
        self._learner = ContextLearner(
            len(self.lanes), backbone="rill", policy="cure", budget=100, tau=0.3
        )

    def go_on(self, start: int) -> tuple[int, float]:
        lanes, rng = self.lanes, np.random.default_rng([2, start])
        X = rng.normal(size=(100, len(lanes), 1, 5)).astype(np.float32)
        angle = lanes + start / 2e5
        labels = (X[..., 0, 0] + X[..., 0, 1] * np.cos(angle) > X[..., 0, 2] * np.sin(angle)) * 1
        right, begin = 0, time.process_time()
        for t, (x, y) in enumerate(zip(X, labels, strict=True), start):
            predictions = self._learner.predict(range(t, t + 1), x, lanes)
            scores = self._learner.score(predictions, lanes)
            for prediction, label in zip(predictions, y.tolist(), strict=True):
                right += len(prediction.classes) > 0 and int(prediction.best()[0]) == label
            self._learner.learn(t, x[:, 0], y, scores[:, 0], lanes)
        return right, time.process_time() - begin


def resident() -> int:
    """Bytes of this process that are in memory (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    backbone, n = sys.argv[1], int(sys.argv[2])
    run: Run = {"knn": OneStream, "rill": ManyLanes}[backbone]()
    blocks = -(-n // (TENTHS * run.block))
    tenths: list[dict[str, float]] = []
    for tenth in range(TENTHS):
        rows = range(tenth * blocks * run.block, (tenth + 1) * blocks * run.block, run.block)
        right, seconds = zip(*map(run.go_on, rows), strict=True)
        tenths.append(
            {
                "rows": rows.stop,
                "resident_bytes": resident(),
                "microseconds_a_row": 1e6 * median(seconds) / run.block,
                "accuracy": sum(right) / (blocks * run.block),
            }
        )
        print(tenths[-1], flush=True)
        first, last = tenths[0], tenths[-1]
        figures = {
            **run.facts,
            "planned_rows": TENTHS * blocks * run.block,
            "tenths": tenths,
            "memory_last_over_first": last["resident_bytes"] / first["resident_bytes"],
            "time_last_over_first": last["microseconds_a_row"] / first["microseconds_a_row"],
        }
        write(f"soak_{backbone}", {**figures, "machine": machine()})


if __name__ == "__main__":
    main()
