"""tau="auto": admit a fixed share of the candidates, the most uncertain ones of the recent past.

A fixed tau means another admission rate on every stream, and for every backbone. Here the rate is fixed:
a candidate is admitted if, among the scores of the last `WINDOW` rows that left the short bank, itself
included, those above it and half of those equal to it are at most the rate. Half, so that a share of
equally certain rows larger than twice the rate is refused as a whole and not let in as a whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterable

from millpond.errors import BadOption

RATE = 0.3
WINDOW = 1000


class AutoTau:
    """The gate of one lane: a running quantile of the scores of past candidates."""

    def __init__(self, rate: float = RATE, scores: Iterable[float] = ()) -> None:
        self.rate = rate
        self._scores = deque(scores, maxlen=WINDOW)
        self._sorted = sorted(self._scores)

    def admits(self, score: float) -> bool:
        """Whether this candidate is among the uncertain ones; it counts for those that follow."""
        if len(self._scores) == WINDOW:
            del self._sorted[bisect_left(self._sorted, self._scores[0])]
        self._scores.append(score)
        insort(self._sorted, score)
        below, up_to = bisect_left(self._sorted, score), bisect_right(self._sorted, score)
        n = len(self._sorted)
        return (n - up_to) + (up_to - below) / 2 <= self.rate * n

    def scores(self) -> list[float]:
        """The scores in the window, in the order in which they came."""
        return list(self._scores)


def read_rate(tau: str) -> float:
    """The admission rate of ``"auto"`` or ``"auto:0.2"``."""
    name, colon, rate = tau.partition(":")
    try:
        value = float(rate) if colon else RATE
    except ValueError:
        value = -1.0
    if name != "auto" or not 0.0 < value <= 1.0:
        raise BadOption(
            f"tau must lie in [0, 1], be 'auto', or 'auto:RATE' with a rate in (0, 1], not {tau!r}"
        )
    return value
