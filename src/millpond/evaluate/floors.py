"""What a learner that sees only the labels can reach: the floors under every accuracy.

A rule sees class codes and the indices of their rows in the stream, never a feature:
`predict(row)` gives a class code (-1 if nothing was learnt yet), `learn(row, y)` hands over the
label of a row. Labels may arrive late, out of order or never; a row's label arrives at most once.
A model that knows the order of its context can profit from the order of labels alone (RIALTO's
labels are the row index modulo 10), so a figure means little without these beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from millpond.errors import BadInput, BadOption, CheckpointError

State = dict[str, NDArray[Any]]
Codes = NDArray[np.int64]


class Rule(Protocol):
    """The interface of a label-only rule. `state` and `restore` continue it exactly."""

    def predict(self, row: int) -> int: ...
    def learn(self, row: int, y: int) -> None: ...
    def follow(self, labels: Codes) -> Codes:
        """`predict` and `learn` on each of the next rows, (k,) labels -> (k,) predictions, at once."""

    def state(self) -> State: ...
    def restore(self, state: Mapping[str, NDArray[Any]]) -> None: ...


class NoChange:
    """The label that arrived last."""

    def __init__(self) -> None:
        self._last = -1

    def predict(self, row: int) -> int:
        return self._last

    def learn(self, row: int, y: int) -> None:
        self._last = y

    def follow(self, labels: Codes) -> Codes:
        guesses = np.concatenate([[self._last], labels[:-1]])
        self._last = int(labels[-1])
        return guesses

    def state(self) -> State:
        return {"last": np.array(self._last, np.int64)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self._last = int(state["last"])


class _Mode:
    """The most frequent code of those counted; ties to the larger; -1 before the first."""

    __slots__ = ("best", "counts")

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.best = -1

    def count(self, y: int, times: int = 1) -> None:
        counts = self.counts
        counts[y] = seen = counts.get(y, 0) + times
        # Counts only rise: a code other than y cannot become the best one here.
        lead = counts.get(self.best, 0)
        if seen > lead or (seen == lead and y > self.best):
            self.best = y

    def follow(self, labels: Codes) -> Codes:
        """(k,) codes that are counted one after the other -> (k,) the best before each."""
        # Backwards, so that of equals the larger code comes first.
        codes = np.array(sorted({*self.counts, *labels.tolist()}, reverse=True), np.int64)
        known = np.array([self.counts.get(code, 0) for code in codes.tolist()], np.int64)
        hot = labels[:, None] == codes
        lead = np.cumsum(hot, axis=0, dtype=np.int32) - hot
        lead += np.maximum(known - known.max(), -len(labels) - 1).astype(np.int32)
        best = codes[lead.argmax(axis=1)]
        if not known.any():
            best[0] = -1
        for code, times in zip(codes.tolist(), hot.sum(axis=0).tolist(), strict=True):
            if times:
                self.count(code, times)
        return np.asarray(best)


class Majority:
    """The label that arrived most often; ties to the larger code."""

    def __init__(self) -> None:
        self._mode = _Mode()

    def predict(self, row: int) -> int:
        return self._mode.best

    def learn(self, row: int, y: int) -> None:
        self._mode.count(y)

    def follow(self, labels: Codes) -> Codes:
        return self._mode.follow(labels)

    def state(self) -> State:
        return {"counts": _table(sorted(self._mode.counts.items()), 2)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        mode = _Mode()
        for y, times in state["counts"].tolist():
            mode.count(y, times)
        self._mode = mode


class Successor:
    """The label that most often arrived next after the one that arrived last; ties to the larger.

    Before that label has had a successor, the majority.
    """

    def __init__(self) -> None:
        self._last = -1
        self._after: dict[int, _Mode] = {}
        self._majority = Majority()

    def predict(self, row: int) -> int:
        after = self._after.get(self._last)
        return after.best if after is not None else self._majority.predict(row)

    def learn(self, row: int, y: int) -> None:
        if self._last >= 0:
            after = self._after.get(self._last)
            if after is None:
                after = self._after[self._last] = _Mode()
            after.count(y)
        self._last = y
        self._majority.learn(row, y)

    def follow(self, labels: Codes) -> Codes:
        lasts = np.concatenate([[self._last], labels[:-1]])
        guesses = self._majority.follow(labels)
        for last in set(lasts.tolist()) - {-1}:
            rows = np.flatnonzero(lasts == last)
            best = self._after.setdefault(last, _Mode()).follow(labels[rows])
            guesses[rows] = np.where(best >= 0, best, guesses[rows])
        self._last = int(labels[-1])
        return guesses

    def state(self) -> State:
        pairs = [
            (last, y, times)
            for last, after in sorted(self._after.items())
            for y, times in sorted(after.counts.items())
        ]
        return {
            "last": np.array(self._last, np.int64),
            "pairs": _table(pairs, 3),
            **self._majority.state(),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        after: dict[int, _Mode] = {}
        for last, y, times in state["pairs"].tolist():
            after.setdefault(last, _Mode()).count(y, times)
        self._majority.restore(state)
        self._last, self._after = int(state["last"]), after


class Period:
    """The period p whose rule "the label of p rows ago" was right most often; ties to the smaller.

    For row t it predicts the label of the newest arrived row among t - p, t - 2p, ... (where none
    of them has arrived, that of the newest arrived row). It remembers the `10 * longest` rows up to
    the newest arrived one: a label that arrives later than that is not used.
    """

    def __init__(self, longest: int = 100) -> None:
        if longest < 1:
            raise BadOption(f"longest is {longest}; the shortest period is 1 row")
        self._longest = longest
        self._span = 10 * longest
        self._newest = -1
        self._best = 1
        # Entry p - 1 counts how often the rule of period p was right.
        self._right: NDArray[np.int64] = np.zeros(longest, np.int64)
        # The label of row r in slots r % span and r % span + span, -1 where it has not arrived:
        # twice, so that the rows before any row lie side by side.
        self._labels: NDArray[np.int64] = np.full(2 * self._span, -1, np.int64)

    @property
    def period(self) -> int:
        """The period that predicts now."""
        return self._best

    def predict(self, row: int) -> int:
        newest, span, p = self._newest, self._span, self._best
        if newest < 0:
            return -1
        # The nearest row a multiple of p before `row` that is not beyond the newest arrived one.
        back = row - p if row - p <= newest else row - p * -((newest - row) // p)
        while back > newest - span:  # rows below 0 were never learnt: their slots are empty
            y = self._labels.item(back % span)
            if y >= 0:
                return y
            back -= p
        return self._labels.item(newest % span)

    def learn(self, row: int, y: int) -> None:
        newest, span = self._newest, self._span
        if row <= newest - span:
            return
        if row > newest:
            if row > newest + 1:
                self._forget(newest + 1, row)
            self._newest = row
        slot = row % span
        self._labels[slot] = self._labels[slot + span] = y
        # Rows row - 1, row - 2, ..., row - longest.
        before = self._labels[slot + span - self._longest : slot + span][::-1]
        if row < newest:
            before = before.copy()
            before[max(0, row - self._newest + span - 1) :] = -1  # forgotten rows' slots
            ahead = np.arange(row + 1, min(row + self._longest, newest) + 1)
            self._right[: len(ahead)] += self._labels[ahead % span] == y
        self._right += before == y
        self._best = int(self._right.argmax()) + 1

    def follow(self, labels: Codes) -> Codes:
        first, longest, span = self._newest + 1, self._longest, self._span
        rows = np.arange(first - longest, first)
        before = np.where(rows < 0, -1, self._labels[rows % span])
        line = np.concatenate([before, labels]).astype(np.int32)  # half the bytes to go through
        # (k, longest): the labels 1, 2, ... rows ago.
        ago = np.lib.stride_tricks.sliding_window_view(line[:-1], longest)[:, ::-1]
        hits = ago == line[longest:, None]
        total = np.count_nonzero(hits, axis=0)
        # Only these can lead before the last of the rows: the others stay behind today's leader.
        leaders = np.flatnonzero(self._right + total >= self._right.max())
        led = hits[:, leaders]
        right = np.cumsum(led, axis=0, dtype=np.int32) - led
        right += (self._right[leaders] - self._right.max()).astype(np.int32)  # at most k behind
        best = leaders[right.argmax(axis=1)]
        guesses = ago[np.arange(len(labels)), best]

        self._right += total
        self._best = int(self._right.argmax()) + 1
        self._newest += len(labels)
        kept = labels[-span:]
        slots = np.arange(self._newest + 1 - len(kept), self._newest + 1) % span
        self._labels[slots] = self._labels[slots + span] = kept
        return np.where(guesses >= 0, guesses, ago[:, 0])

    def _forget(self, start: int, stop: int) -> None:
        """Clear the slots of rows start..stop-1, which have not arrived."""
        rows = np.arange(max(start, stop - self._span), stop) % self._span
        self._labels[rows] = self._labels[rows + self._span] = -1

    def state(self) -> State:
        return {
            "newest": np.array(self._newest, np.int64),
            "right": self._right.copy(),
            "labels": self._labels[: self._span].copy(),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        right, labels = state["right"], state["labels"]
        if len(right) != self._longest or len(labels) != self._span:
            raise CheckpointError(
                f"the saved floors know periods up to {len(right)}, this run up to "
                f"{self._longest}: they are damaged, or from another run"
            )
        self._newest = int(state["newest"])
        self._right = right.copy()
        self._labels = np.concatenate([labels, labels])
        self._best = int(right.argmax()) + 1


class LabelFloors:
    """All four rules on one stream, and the share of the scored rows each of them had right.

    `predict(row)` asks every rule and remembers the answers until `score(row, y)` compares them
    with the true label (or, with `y=None`, drops them: the row is not scored). `learn(row, y)`
    hands a label to the rules when it arrives.
    """

    def __init__(self, n_classes: int) -> None:
        if n_classes < 1:
            raise BadOption(f"n_classes is {n_classes}; a stream has at least one class")
        self.n_classes = n_classes
        self.n = 0
        self.rules: dict[str, Rule] = {
            "nochange": NoChange(),
            "majority": Majority(),
            "successor": Successor(),
            "period": Period(),
        }
        self._hits = [0] * len(self.rules)
        self._pending: dict[int, list[int]] = {}

    def grow(self, n_classes: int) -> None:
        """Allow class codes below `n_classes`; never makes it smaller."""
        self.n_classes = max(self.n_classes, n_classes)

    def predict(self, row: int) -> None:
        """Let every rule predict the row from the labels learnt so far."""
        self._pending[row] = [rule.predict(row) for rule in self.rules.values()]

    def score(self, row: int, y: int | None) -> None:
        """Compare a predicted row's answers with its label, or drop them where `y` is None."""
        if y is not None:
            self._check(y)
        answers = self._pending.pop(row, None)
        if answers is None:
            raise BadInput(
                f"row {row} waits for no score: call predict({row}) first, score it once"
            )
        if y is None:
            return
        self.n += 1
        for i, answer in enumerate(answers):
            if answer == y:
                self._hits[i] += 1

    def learn(self, row: int, y: int) -> None:
        """Hand the label of a row to every rule."""
        self._check(y)
        for rule in self.rules.values():
            rule.learn(row, y)

    def follow(self, labels: Codes, scored: bool) -> None:
        """The next rows, each predicted and scored, then learnt before the next: many at once.

        For streams whose every label arrives right after its row, from row 0 on.
        """
        if not len(labels):
            return
        self._check(int(labels.min()))
        self._check(int(labels.max()))
        for i, rule in enumerate(self.rules.values()):
            hits = int((rule.follow(labels) == labels).sum())
            if scored:
                self._hits[i] += hits
        if scored:
            self.n += len(labels)

    def accuracies(self) -> dict[str, float]:
        """The share of the scored rows that each rule had right; NaN before the first one."""
        n = self.n
        return {
            name: hits / n if n else math.nan
            for name, hits in zip(self.rules, self._hits, strict=True)
        }

    def best(self) -> tuple[str, float]:
        """The strongest floor and its accuracy; ties to the simpler rule."""
        strongest = self._hits.index(max(self._hits))
        return list(self.accuracies().items())[strongest]

    def state(self) -> State:
        """Everything that decides the future, as arrays."""
        waiting = [(row, *answers) for row, answers in sorted(self._pending.items())]
        return {
            "counts": np.array([self.n_classes, self.n, *self._hits], np.int64),
            "pending": _table(waiting, 1 + len(self.rules)),
            **{
                f"{name}.{key}": array
                for name, rule in self.rules.items()
                for key, array in rule.state().items()
            },
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned."""
        restored = LabelFloors(1)
        try:
            counts = state["counts"].reshape(2 + len(self.rules)).tolist()
            restored.n_classes, restored.n, *restored._hits = counts
            for row, *answers in state["pending"].reshape(-1, 1 + len(self.rules)).tolist():
                restored._pending[row] = answers
            for name, rule in restored.rules.items():
                prefix = f"{name}."
                rule.restore(
                    {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
                )
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"the saved floors are damaged ({error})") from error
        vars(self).update(vars(restored))

    def _check(self, y: int) -> None:
        if not 0 <= y < self.n_classes:
            raise BadInput(
                f"class code {y} is outside 0..{self.n_classes - 1}; "
                f"call grow() when a class is new"
            )


def _table(rows: Sequence[tuple[int, ...]], width: int) -> NDArray[np.int64]:
    """Rows of integers as an array (len(rows), width), also where there are none."""
    return np.array(rows, np.int64).reshape(-1, width)
