"""Long runs of one classifier: memory and step time from the first tenth to the last.

    python benchmarks/soak.py knn 10000000      # writes benchmarks/results/soak_knn.json after each tenth

Rows of five features (numbers, a category, a missing value now and then) in a drifting stream of four
classes; every row is predicted and learned, every third by key. The memory is the process's resident set
at the end of each tenth; a step's time is the tenth's processor time over its rows, as other programs
may use the machine.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from millpond import StreamClassifier
from results import machine, write

TENTHS = 10
BLOCK = 10_000


def resident() -> int:
    """Bytes of this process that are in memory (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def rows(start: int, n: int) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows start, start + 1, ... of the stream."""
    rng = np.random.default_rng([1, start])
    drift = start / 1e6
    X = rng.normal(size=(n, 4))
    labels = ((X[:, 0] + X[:, 1] * np.cos(drift) > 0) * 2 + (X[:, 2] > np.sin(drift))).tolist()
    kinds = rng.integers(0, 20, n).tolist()
    X[rng.random(X.shape) < 0.01] = np.nan
    made = [
        {"a": a, "b": b, "c": c, "d": d, "kind": f"kind {k}"}
        for (a, b, c, d), k in zip(X.tolist(), kinds, strict=True)
    ]
    return made, [f"class {label}" for label in labels]


def step(classifier: StreamClassifier, t: int, x: dict[str, Any], y: str) -> bool:
    key = t if t % 3 == 0 else None
    right = classifier.predict_one(x, key=key) == y
    classifier.learn_one(None if key is not None else x, y, key=key)
    return bool(right)


def main() -> None:
    backbone, n = sys.argv[1], int(sys.argv[2])
    classifier = StreamClassifier(backbone, "cure", budget=20, tau=0.3)
    tenths: list[dict[str, float]] = []
    for tenth in range(TENTHS):
        right, begin = 0, time.process_time()
        first, last = n * tenth // TENTHS, n * (tenth + 1) // TENTHS
        for start in range(first, last, BLOCK):
            made, labels = rows(start, min(BLOCK, last - start))
            for t, (x, y) in enumerate(zip(made, labels, strict=True), start):
                right += step(classifier, t, x, y)
        seconds = time.process_time() - begin
        tenths.append(
            {
                "rows": last,
                "resident_bytes": resident(),
                "microseconds_a_row": 1e6 * seconds / (last - first),
                "accuracy": right / (last - first),
            }
        )
        print(tenths[-1], flush=True)
        figures = {"backbone": backbone, "planned_rows": n, "budget": 20, "tenths": tenths}
        figures["memory_last_over_first"] = (
            tenths[-1]["resident_bytes"] / tenths[0]["resident_bytes"]
        )
        figures["time_last_over_first"] = (
            tenths[-1]["microseconds_a_row"] / tenths[0]["microseconds_a_row"]
        )
        write(f"soak_{backbone}", {**figures, "machine": machine()})


if __name__ == "__main__":
    main()
