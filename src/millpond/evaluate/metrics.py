"""The metrics of one lane, updated at each scored row at a cost that does not grow with the stream.

`PrequentialMetrics` keeps integer counts (exact), compensated float sums (no drift) and a ring of
the last `window` rows, so that every metric can be had over all scored rows or over the newest.
Where scikit-learn has the metric, the value is scikit-learn's on the full arrays; the definitions
of the others, and what is undefined when, are in `docs/metrics.md`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.errors import BadInput, BadOption, CheckpointError

Counts = NDArray[np.int64]
Probabilities = NDArray[np.floating[Any]]

BINS = 15
"""Equal-width bins (low, high] of the largest probability, for calibration."""

CLIP = float(np.finfo(np.float64).eps)
"""Log loss takes the true class's probability into [CLIP, 1 - CLIP]: 36.04 nats at the most."""

# The bins' upper ends but the last: the first one at or above a confidence is the confidence's bin.
_INNER_EDGES = [b / BINS for b in range(1, BINS)]
# Softmax in float32 overshoots 1 by a few units in the last place; more than this is a mistake.
_OVERSHOOT = 1e-6


class PrequentialMetrics:
    """Accuracy, chance-corrected agreement, proper scores and calibration of one lane.

    Parameters
    ----------
    n_classes : how many class codes there are now; `grow` makes room for more.
    window : how many of the newest scored rows `windowed` looks at.
    """

    def __init__(self, n_classes: int, window: int = 1000) -> None:
        if n_classes < 1:
            raise BadOption(f"n_classes is {n_classes}; metrics need at least one class")
        if window < 1:
            raise BadOption(f"window is {window}; it must hold at least one row")
        self.n_classes = n_classes
        self.window = window
        self.n = 0
        # Rows = true class, columns = predicted; allocated ahead, so that classes which turn up one
        # by one do not cost a copy each.
        self._confusion: Counts = np.zeros((n_classes, n_classes), np.int64)
        self._residual = np.empty(n_classes)  # scratch: probabilities minus the one-hot truth
        self._repeats = 0  # rows whose label equals the previous row's
        self._loss = _Sum()
        self._brier = _Sum()
        self._bin_n = [0] * BINS
        self._bin_hits = [0] * BINS
        self._bin_confidence = [_Sum() for _ in range(BINS)]
        self._ring = _Ring(window)

    def grow(self, n_classes: int) -> None:
        """Make room for class codes below `n_classes`; never makes it smaller."""
        if n_classes <= self.n_classes:
            return
        if n_classes > len(self._confusion):
            wider = np.zeros((max(n_classes, 2 * self.n_classes),) * 2, np.int64)
            wider[: self.n_classes, : self.n_classes] = self.confusion
            self._confusion = wider
        self.n_classes = n_classes
        self._residual = np.empty(n_classes)

    def update(self, y: int, pred: int, proba: Probabilities, previous: int) -> None:
        """Count one scored row.

        Parameters
        ----------
        y, pred : the true and the predicted class code.
        proba : (n_classes,) the probabilities given at prediction.
        previous : the label of the row before it in the stream, -1 if there is none (for kappa-T).
        """
        residual = self._residual
        if not (0 <= y < self.n_classes and 0 <= pred < self.n_classes):
            raise BadInput(self._outside(y if 0 <= pred < self.n_classes else pred))
        if proba.shape != residual.shape:
            raise BadInput(self._misshaped(proba.shape, (self.n_classes,)))
        residual[:] = proba  # float64 from here on
        # argmax and argmin stop at a NaN, which then fails the comparison; much cheaper than max().
        confidence = residual.item(residual.argmax())
        if not (residual.item(residual.argmin()) >= 0.0 and confidence <= 1.0 + _OVERSHOOT):
            raise BadInput(_NOT_PROBABILITIES)
        of_truth = residual.item(y)
        loss = -math.log(min(max(of_truth, CLIP), 1.0 - CLIP))
        residual[y] = of_truth - 1.0
        brier = float(residual.dot(residual))
        repeat = 1 if y == previous else 0

        self._ring.put(self.n % self.window, y, pred, repeat, loss, brier, confidence)
        self.n += 1
        self._confusion[y, pred] += 1
        self._repeats += repeat
        self._loss.add(loss)
        self._brier.add(brier)
        b = bisect_left(_INNER_EDGES, confidence)
        self._bin_n[b] += 1
        if y == pred:
            self._bin_hits[b] += 1
        self._bin_confidence[b].add(confidence)

    def update_many(
        self,
        y: NDArray[np.integer[Any]],
        pred: NDArray[np.integer[Any]],
        proba: Probabilities,
        previous: NDArray[np.integer[Any]],
    ) -> None:
        """Count k scored rows, oldest first: `update` on each, up to the last bits of float sums.

        Shapes: y, pred, previous (k,); proba (k, n_classes). All rows are counted or, after an
        error, none.
        """
        y, pred, previous = np.asarray(y), np.asarray(pred), np.asarray(previous)
        proba = np.asarray(proba, np.float64)
        k = len(y)
        for codes in (y, pred, previous):
            if codes.shape != (k,) or codes.dtype.kind not in "iu":
                raise BadInput(
                    f"y, pred and previous must be integer arrays of one length; "
                    f"got {codes.dtype} {codes.shape} beside {k} labels"
                )
        if proba.shape != (k, self.n_classes):
            raise BadInput(self._misshaped(proba.shape, (k, self.n_classes)))
        if k == 0:
            return
        for codes in (y, pred):
            if codes.min() < 0 or codes.max() >= self.n_classes:
                raise BadInput(self._outside(int(codes.min() if codes.min() < 0 else codes.max())))
        confidence = proba.max(axis=1)
        if not (proba.min() >= 0.0 and confidence.max() <= 1.0 + _OVERSHOOT):
            raise BadInput(_NOT_PROBABILITIES)

        each = np.arange(k)
        of_truth = proba[each, y]
        loss = -np.log(np.clip(of_truth, CLIP, 1.0 - CLIP))
        residual = proba.copy()
        residual[each, y] = of_truth - 1.0
        brier = np.vecdot(residual, residual)
        repeat = y == previous

        newest = slice(max(0, k - self.window), k)
        slots = (self.n + each[newest]) % self.window
        columns = (y, pred, repeat, loss, brier, confidence)
        self._ring.put(slots, *(column[newest] for column in columns))
        self.n += k
        np.add.at(self._confusion, (y, pred), 1)
        self._repeats += int(repeat.sum())
        self._loss.add(math.fsum(loss.tolist()))
        self._brier.add(math.fsum(brier.tolist()))
        bins = np.searchsorted(_INNER_EDGES, confidence, side="left")
        in_bin = np.bincount(bins, minlength=BINS)
        hits = np.bincount(bins[y == pred], minlength=BINS)
        sums = np.bincount(bins, confidence, BINS)
        for b in np.flatnonzero(in_bin).tolist():
            self._bin_n[b] += int(in_bin[b])
            self._bin_hits[b] += int(hits[b])
            self._bin_confidence[b].add(float(sums[b]))

    @property
    def confusion(self) -> Counts:
        """(n_classes, n_classes) a copy of the counts; rows = true class, columns = predicted."""
        return self._confusion[: self.n_classes, : self.n_classes].copy()

    @property
    def accuracy(self) -> float:
        """Accuracy over all scored rows alone, for a progress line; NaN before the first row."""
        return _ratio(sum(self._bin_hits), self.n)

    @property
    def window_accuracy(self) -> float:
        """Accuracy over the last `window` scored rows alone; NaN before the first row."""
        m = min(self.n, self.window)
        return _ratio(int((self._ring.truth[:m] == self._ring.guess[:m]).sum()), m)

    def cumulative(self) -> dict[str, float]:
        """Every metric over all scored rows, and their number `n`."""
        confusion = self._confusion[: self.n_classes, : self.n_classes]
        gaps = [
            abs(hits - total.value)
            for hits, total in zip(self._bin_hits, self._bin_confidence, strict=True)
        ]
        return _scores(
            truths=confusion.sum(axis=1),
            guesses=confusion.sum(axis=0),
            hits=confusion.diagonal(),
            repeats=self._repeats,
            loss=self._loss.value,
            brier=self._brier.value,
            calibration_gap=math.fsum(gaps),
        )

    def windowed(self) -> dict[str, float]:
        """Every metric over the last `window` scored rows, and their number `n`.

        Computed from the rows themselves at each call: nothing is carried along that could drift.
        """
        ring, m = self._ring, min(self.n, self.window)
        y, pred, confidence = ring.truth[:m], ring.guess[:m], ring.confidence[:m]
        hit = y == pred
        bins = np.searchsorted(_INNER_EDGES, confidence, side="left")
        gaps = np.bincount(bins, hit - confidence, BINS)
        return _scores(
            truths=np.bincount(y, minlength=self.n_classes),
            guesses=np.bincount(pred, minlength=self.n_classes),
            hits=np.bincount(y[hit], minlength=self.n_classes),
            repeats=int(ring.repeat[:m].sum()),
            loss=float(ring.loss[:m].sum()),
            brier=float(ring.brier[:m].sum()),
            calibration_gap=float(np.abs(gaps).sum()),
        )

    def reliability(self) -> list[dict[str, float]]:
        """The reliability diagram over all scored rows: a dict a bin, NaN where it is empty."""
        return [
            {
                "low": b / BINS,
                "high": (b + 1) / BINS,
                "n": n,
                "confidence": _ratio(self._bin_confidence[b].value, n),
                "accuracy": _ratio(self._bin_hits[b], n),
            }
            for b, n in enumerate(self._bin_n)
        ]

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides the future, as arrays; `restore` continues from it to the bit."""
        sums = [self._loss, self._brier, *self._bin_confidence]
        return {
            "confusion": self.confusion,
            "counts": np.array([self.n, self._repeats], np.int64),
            "bins": np.array([self._bin_n, self._bin_hits], np.int64),
            "sums": np.array([(s.total, s.carry) for s in sums], np.float64),
            **{f"ring_{name}": column.copy() for name, column in self._ring.columns().items()},
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned, in an object with the same `window`."""
        self._check(state)
        self.n_classes = len(state["confusion"])
        self._confusion = state["confusion"].copy()
        self._residual = np.empty(self.n_classes)
        self.n, self._repeats = state["counts"].tolist()
        self._bin_n, self._bin_hits = state["bins"].tolist()
        self._loss, self._brier, *self._bin_confidence = (_Sum(*s) for s in state["sums"].tolist())
        for name, column in self._ring.columns().items():
            column[:] = state[f"ring_{name}"]

    def _check(self, state: Mapping[str, NDArray[Any]]) -> None:
        confusion = state.get("confusion")
        n_classes = 1 if confusion is None else max(len(confusion), 1)
        for name, like in PrequentialMetrics(n_classes, self.window).state().items():
            found = state.get(name)
            if found is None or found.shape != like.shape or found.dtype != like.dtype:
                what = "nothing" if found is None else f"{found.dtype} {found.shape}"
                raise CheckpointError(
                    f"the saved metrics hold {what} for {name!r} where {like.dtype} {like.shape} "
                    f"was expected: they are damaged, or from a run with another window"
                )

    def _outside(self, code: int) -> str:
        return (
            f"class code {code} is outside 0..{self.n_classes - 1}; call grow() when a class is new"
        )

    def _misshaped(self, shape: tuple[int, ...], wanted: tuple[int, ...]) -> str:
        return f"the probabilities have shape {shape}; expected {wanted}, one for each class code"


_NOT_PROBABILITIES = "the probabilities hold NaN or values outside [0, 1]; check the backbone"


class _Sum:
    """A running sum that carries its rounding errors along (Neumaier), for values >= 0."""

    __slots__ = ("carry", "total")

    def __init__(self, total: float = 0.0, carry: float = 0.0) -> None:
        self.total = total
        self.carry = carry

    def add(self, value: float) -> None:
        total = self.total
        after = total + value
        if total >= value:
            self.carry += (total - after) + value
        else:
            self.carry += (value - after) + total
        self.total = after

    @property
    def value(self) -> float:
        return self.total + self.carry


class _Ring:
    """The facts of the last `window` scored rows; the row with number i lies in slot i % window."""

    def __init__(self, window: int) -> None:
        self.truth = np.zeros(window, np.int32)
        self.guess = np.zeros(window, np.int32)
        self.repeat = np.zeros(window, np.bool_)
        self.loss = np.zeros(window)
        self.brier = np.zeros(window)
        self.confidence = np.zeros(window)

    def put(
        self, slot: Any, y: Any, pred: Any, repeat: Any, loss: Any, brier: Any, confidence: Any
    ) -> None:
        """Store one row in a slot, or (m,) rows in (m,) slots."""
        self.truth[slot] = y
        self.guess[slot] = pred
        self.repeat[slot] = repeat
        self.loss[slot] = loss
        self.brier[slot] = brier
        self.confidence[slot] = confidence

    def columns(self) -> dict[str, NDArray[Any]]:
        return vars(self)


def _scores(
    *,
    truths: NDArray[np.integer[Any]],
    guesses: NDArray[np.integer[Any]],
    hits: NDArray[np.integer[Any]],
    repeats: int,
    loss: float,
    brier: float,
    calibration_gap: float,
) -> dict[str, float]:
    """The metrics from (n_classes,) counts by true class, by predicted class and of hits, and sums.

    Ratios are taken of whole counts, so that each value is rounded once.
    """
    n, correct = int(truths.sum()), int(hits.sum())
    seen, named = truths > 0, truths + guesses > 0
    recall = hits[seen] / truths[seen]
    f1 = 2 * hits[named] / (truths + guesses)[named]
    by_chance = int(truths @ guesses)  # agreement expected by chance, times n squared
    most = int(truths.max())
    return {
        "accuracy": _ratio(correct, n),
        "balanced_accuracy": _ratio(float(recall.sum()), len(recall)),
        "macro_f1": _ratio(float(f1.sum()), len(f1)),
        "kappa": _ratio(n * correct - by_chance, n * n - by_chance),
        "kappa_m": _ratio(correct - most, n - most),
        "kappa_t": _ratio(correct - repeats, n - repeats),
        "log_loss": _ratio(loss, n),
        "brier": _ratio(brier, n),
        "ece": _ratio(calibration_gap, n),
        "n": n,
    }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
