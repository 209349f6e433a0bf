"""How a fleet is doing now: rates, latencies, accuracy and drift. Shown only; nothing depends on it.

A key's accuracy is prequential: a label that arrives is compared with the last prediction of its row.
Drift is marked where the error rate of a key has risen above its lowest, by the drift detection method
of Gama et al. (2004): p + s >= p_min + 4 s_min with s = sqrt(p (1 - p) / n), over the labels since the
last mark, once there are 100. (With the published 3 and 30, a third of all streams that make one mistake
in ten and do not drift are marked within 400 labels; here 2 or 3 in a hundred.) A mark changes nothing
but the page.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from millpond.errors import MillpondError
from millpond.fleet import Answer, Operation

KEYS = 500
GUESSES = 100_000
WINDOW = 200
POINTS = 200
SECONDS = 120
LATENCIES = 2000
SEEN = 100
"""Labels before a drift can be marked"""
SPREADS = 4
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Histogram:
    """Counts of seconds, as Prometheus has them, and the last ones for quantiles."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.total = 0.0
        self._last: deque[float] = deque(maxlen=LATENCIES)

    def add(self, seconds: float) -> None:
        place = next((i for i, bound in enumerate(BUCKETS) if seconds <= bound), len(BUCKETS))
        self.counts[place] += 1
        self.total += seconds
        self._last.append(seconds)

    def quantiles(self, *shares: float) -> list[float | None]:
        last = sorted(self._last)
        if not last:
            return [None for _ in shares]
        return [last[min(len(last) - 1, int(share * len(last)))] for share in shares]


class Drift:
    """The drift detection method on a stream of mistakes."""

    def __init__(self) -> None:
        self._n = self._wrong = 0
        self._lowest = (math.inf, 0.0)

    def add(self, wrong: bool) -> bool:
        """Whether this is where a drift is found; the count begins anew there."""
        self._n += 1
        self._wrong += wrong
        p = self._wrong / self._n
        s = math.sqrt(p * (1 - p) / self._n)
        if self._n < SEEN:
            return False
        if p + s < sum(self._lowest):
            self._lowest = (p, s)
        if s > 0 and p + s >= self._lowest[0] + SPREADS * self._lowest[1] and p > self._lowest[0]:
            self._n = self._wrong = 0
            self._lowest = (math.inf, 0.0)
            return True
        return False


class Key:
    """How one key is doing."""

    def __init__(self) -> None:
        self.predictions = self.labels = self.scored = self.right = 0
        self.drifts: list[int] = []
        self.points: list[tuple[int, float]] = []
        """(labels scored, accuracy over the last ones)"""
        self._drift = Drift()
        self._window: deque[bool] = deque(maxlen=WINDOW)
        self._stride = 1

    def score(self, right: bool) -> bool:
        """A label was compared with its prediction; whether that marks a drift."""
        self.scored += 1
        self.right += right
        self._window.append(right)
        if self.scored % self._stride == 0:
            self.points.append((self.scored, round(self.recent, 4)))
            if len(self.points) > POINTS:
                del self.points[::2]
                self._stride *= 2
        found = self._drift.add(not right)
        if found:
            self.drifts = [*self.drifts[-49:], self.scored]
        return found

    @property
    def recent(self) -> float:
        return sum(self._window) / len(self._window)


class Watch:
    """Follows the batches of a fleet."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self.began = now()
        self.done = {"predict": 0, "learn": 0}
        self.repeated = {"predict": 0, "learn": 0}
        self.refused = {"predict": 0, "learn": 0}
        self.scored = self.right = self.drifts = 0
        self.requests, self.batches = Histogram(), Histogram()
        self.status: dict[int, int] = {}
        self._keys: OrderedDict[Hashable, Key] = OrderedDict()
        self._guesses: OrderedDict[tuple[Hashable, str], Any] = OrderedDict()
        self._seconds: deque[list[Any]] = deque(maxlen=SECONDS)

    def batch(
        self,
        operations: Sequence[Operation],
        answers: Sequence[Answer | MillpondError],
        seconds: float,
    ) -> None:
        """What was asked together, and what came of it."""
        self.batches.add(seconds)
        second = self._second()
        for operation, answer in zip(operations, answers, strict=True):
            verb = operation.verb
            if isinstance(answer, MillpondError):
                self.refused[verb] += 1
            elif answer.repeated:
                self.repeated[verb] += 1
            else:
                self.done[verb] += 1
                second[1 if verb == "predict" else 2] += 1
                self._note(operation, answer)

    def request(self, seconds: float, status: int) -> None:
        self.requests.add(seconds)
        self.status[status] = self.status.get(status, 0) + 1
        second = self._second()
        second[3] = max(second[3], seconds)

    def keys(self) -> list[tuple[Hashable, Key]]:
        """The keys that were used last, the latest first."""
        return list(reversed(self._keys.items()))

    def history(self) -> list[list[Any]]:
        """[second, predictions, labels, slowest request] of the last seconds that had any."""
        return [list(second) for second in self._seconds]

    def rates(self, seconds: int = 10) -> tuple[float, float]:
        """(predictions, labels) a second, lately."""
        now = int(self._now())
        span = max(1, min(seconds, now - int(self.began)))
        recent = [each for each in self._seconds if now - span <= each[0] < now]
        return sum(each[1] for each in recent) / span, sum(each[2] for each in recent) / span

    def forget(self, key: Hashable) -> None:
        self._keys.pop(key, None)

    def _note(self, operation: Operation, answer: Answer) -> None:
        key = self._keys.get(operation.key)
        if key is None:
            key = self._keys[operation.key] = Key()
            if len(self._keys) > KEYS:
                self._keys.popitem(last=False)
        self._keys.move_to_end(operation.key)
        row = repr(operation.id if operation.id is not None else operation.x)
        if operation.verb == "predict":
            key.predictions += 1
            if answer.probabilities:
                self._guesses[operation.key, row] = answer.label
                if len(self._guesses) > GUESSES:
                    self._guesses.popitem(last=False)
            return
        key.labels += 1
        guess = self._guesses.pop((operation.key, row), None)
        if guess is not None:
            self.scored += 1
            self.right += guess == operation.y
            self.drifts += key.score(bool(guess == operation.y))

    def _second(self) -> list[Any]:
        now = int(self._now())
        if not self._seconds or self._seconds[-1][0] != now:
            self._seconds.append([now, 0, 0, 0.0])
        return self._seconds[-1]
