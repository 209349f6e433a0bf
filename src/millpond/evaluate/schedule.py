"""When labels arrive: after how many rows, and which of them never.

Row t's label is learned once row t + delay has been predicted; with delay 0 and chunks of one that is
test-then-train. A chunk is predicted as a whole before any label that is due by then is learned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from millpond.errors import BadOption


@dataclass(frozen=True)
class Protocol:
    """The evaluation protocol: everything about a run that is neither the stream nor the learner."""

    warmup: int = 100
    """Rows at the start that are learned without being predicted."""
    chunk: int = 1
    """Rows predicted against one context before their labels are learned."""
    delay: int = 0
    """How many rows later a label arrives."""
    missing: float = 0.0
    """The share of labels, drawn by `seed`, that never arrive; their rows are scored all the same."""
    limit: int | None = None
    """Use the first rows only, warm-up included."""
    shuffle_within: int | None = None
    """Permute rows inside blocks of this many: the control for what the order of labels gives away."""
    window: int = 1000
    """Scored rows that windowed metrics look back on."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("warmup", 0), ("chunk", 1), ("delay", 0), ("window", 1), ("seed", 0)):
            _at_least(name, getattr(self, name), least)
        for name in ("limit", "shuffle_within"):
            if getattr(self, name) is not None:
                _at_least(name, getattr(self, name), 1)
        if not isinstance(self.missing, int | float) or not 0.0 <= self.missing < 1.0:
            raise BadOption(f"missing must lie in [0, 1), not {self.missing!r}")

    def chunks(self, start: int, rows: int, size: int | None = None) -> Iterator[range]:
        """Chunks, or blocks of another size, from a row on; none straddles the warm-up's end."""
        size = self.chunk if size is None else size
        while start < rows:
            border = self.warmup if start < self.warmup else rows
            stop = min(start + size, border, rows)
            yield range(start, stop)
            start = stop

    def arrives(self, rows: int) -> NDArray[np.bool_]:
        """(rows,) whether each label ever arrives."""
        draws = np.random.default_rng([self.seed, 1]).random(rows)
        return np.asarray(draws >= self.missing)


class Pending:
    """Rows that were predicted (or passed in the warm-up) and wait for their labels, oldest first."""

    def __init__(self, delay: int) -> None:
        self._delay = delay
        self._rows: deque[tuple[int, NDArray[np.float64]]] = deque()

    def add(self, row: int, scores: NDArray[np.float64]) -> None:
        """``scores`` (lanes,): what the row will enter the contexts with."""
        self._rows.append((row, scores))

    def due(self, predicted: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Take out the rows whose labels arrive now that rows below ``predicted`` are predicted."""
        while self._rows and self._rows[0][0] + self._delay < predicted:
            yield self._rows.popleft()

    def state(self, lanes: int) -> dict[str, NDArray[np.float64]]:
        rows = np.array([row for row, _ in self._rows], dtype=np.float64)
        scores = np.array([scores for _, scores in self._rows]).reshape(len(rows), lanes)
        return {"rows": rows, "scores": scores}

    def restore(self, state: dict[str, NDArray[np.float64]]) -> None:
        self._rows = deque(
            (int(row), scores.copy())
            for row, scores in zip(state["rows"], state["scores"], strict=True)
        )


def _at_least(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise BadOption(f"{name} must be a whole number of at least {least}, not {value!r}")
