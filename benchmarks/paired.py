"""The difference of two learners on the same rows, with an interval that respects their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.evaluate.steps import STEP

BLOCK = 100
"""Rows drawn together: right and wrong come in runs, which an interval of single rows would ignore."""
DRAWS = 10_000


def difference(
    one: NDArray[np.int32], other: NDArray[np.int32], y: NDArray[np.int64]
) -> dict[str, Any]:
    """Accuracy of `one` minus that of `other` in points, over the rows that both scored (codes >= 0).

    The 95% interval is a moving block bootstrap's: blocks of consecutive rows, starting anywhere,
    drawn until there are as many rows as before.
    """
    both = (one >= 0) & (other >= 0)
    gain = ((one == y).astype(np.float64) - (other == y))[both]
    n, block = len(gain), min(BLOCK, len(gain))
    sums = np.convolve(gain, np.ones(block), "valid")  # of the block from each start
    rng, blocks = np.random.default_rng(0), -(-n // block)
    means = [sums[rng.integers(0, len(sums), blocks)].mean() for _ in range(DRAWS)]
    low, high = np.quantile(means, [0.025, 0.975]) / block
    return {
        "points": round(100 * float(gain.mean()), 3),
        "interval_95": [round(100 * float(low), 3), round(100 * float(high), 3)],
        "rows": n,
        "answers_that_differ": int((one[both] != other[both]).sum()),
    }


def so_far(folder: Path, lanes: int) -> NDArray[np.void]:
    """(lanes, rows) what an unfinished run of `prequential` has logged up to now."""
    logs = [np.fromfile(folder / f"lane-{i:03d}" / "steps.log", STEP) for i in range(lanes)]
    rows = min(map(len, logs))
    return np.stack([log[:rows] for log in logs])
