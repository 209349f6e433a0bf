"""What the evaluation keeps of one lane: metrics, floors, trajectory, predictions, per-step log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones import Prediction
from millpond.evaluate.floors import LabelFloors
from millpond.evaluate.metrics import PrequentialMetrics
from millpond.evaluate.schedule import Protocol
from millpond.evaluate.steps import STEP, UNSCORED, StepLog
from millpond.state import State, named, under
from millpond.streams import Stream

POINTS = 400  # of a trajectory, at the most

WARMUP, ONE_CLASS = "warmup", "one_class"


class Lane:
    """One stream under evaluation."""

    def __init__(self, stream: Stream, protocol: Protocol) -> None:
        self.stream = stream
        self._warmup = protocol.warmup
        self.rows = len(stream)
        self.n_classes = len(stream.classes)
        self.metrics = PrequentialMetrics(self.n_classes, protocol.window)
        self.floors = LabelFloors(self.n_classes)
        self.arrives = protocol.arrives(self.rows)
        self.predictions: NDArray[np.int32] = np.full(self.rows, UNSCORED, dtype=np.int32)
        self.unscored = {WARMUP: 0, ONE_CLASS: 0}
        self.trajectory: dict[str, list[Any]] = {}
        self._stride = -(-self.rows // POINTS)
        self._next_point = self._stride
        self.log: StepLog | None = None
        self._logged: str | None = None  # the digest of the rows that a restored lane has logged

    def open_log(self, path: Path, rows: int) -> None:
        """Append to the log behind its first rows, whose predictions are taken from it."""
        self.log = StepLog(path, rows, self._logged)
        self.predictions[:rows] = self.log.records()["prediction"]

    def pass_over(self, rows: range, banks: dict[str, Any]) -> None:
        """Rows of the warm-up: learned, not predicted."""
        self._leave_out(rows, WARMUP, np.zeros(len(rows)), banks)

    def score(
        self,
        rows: range,
        prediction: Prediction,
        scores: NDArray[np.float64],
        banks: dict[str, Any],
    ) -> None:
        """Compare predicted rows with their labels. Fewer than two classes leave nothing to predict."""
        for row in rows:
            self.floors.predict(row)
        labels = self._labels(rows)
        if len(prediction.classes) < 2:
            for row in rows:
                self.floors.score(row, None)
            self._leave_out(rows, ONE_CLASS, scores, banks)
            return
        proba = prediction.dense(self.n_classes)
        guesses = prediction.best()
        for k, row in enumerate(rows):
            label = int(labels[k])
            previous = int(self.stream.y[row - 1]) if row else -1
            self.metrics.update(label, int(guesses[k]), proba[k], previous)
            self.floors.score(row, label)
        self._write(rows, guesses, proba, scores, banks)

    def follow(self, rows: range, prediction: Prediction) -> None:
        """Rows of which each was learned right after it was predicted (or passed in the warm-up)."""
        left_out = WARMUP if rows.start < self._warmup else None
        if left_out is None and len(prediction.classes) < 2:
            left_out = ONE_CLASS
        self.floors.follow(self._labels(rows), scored=left_out is None)
        proba, guesses = prediction.dense(self.n_classes), prediction.best()
        start = rows.start
        while start < rows.stop:  # up to the next point of the trajectory
            part = range(start, min(rows.stop, self._next_point))
            own = slice(part.start - rows.start, part.stop - rows.start)
            if left_out is None:
                self._score_many(part, guesses[own], proba[own])
            else:
                self._leave_out(part, left_out, np.zeros(len(part)), {})
            self.note_point(part.stop, {})
            start = part.stop

    def _leave_out(
        self, rows: range, why: str, scores: NDArray[np.float64], banks: dict[str, Any]
    ) -> None:
        self.unscored[why] += len(rows)
        self._write(rows, np.full(len(rows), UNSCORED), None, scores, banks)

    def _score_many(
        self, rows: range, guesses: NDArray[np.int64], proba: NDArray[np.float64]
    ) -> None:
        before = self.stream.y[rows.start - 1 : rows.stop - 1]
        previous = before if rows.start else np.concatenate([[-1], self.stream.y[: rows.stop - 1]])
        self.metrics.update_many(self._labels(rows), guesses, proba, previous)
        self._write(rows, guesses, proba, np.zeros(len(rows)), {})

    def _labels(self, rows: range) -> NDArray[np.int64]:
        return self.stream.y[rows.start : rows.stop]

    def note_point(self, stop: int, banks: dict[str, Any]) -> None:
        """Add a point to the trajectory every few rows (and at the end), wherever chunks end."""
        if stop < self._next_point and stop < self.rows:
            return
        self._next_point = (stop // self._stride + 1) * self._stride
        point = {
            "row": stop,
            "accuracy": self.metrics.accuracy,
            "window_accuracy": self.metrics.window_accuracy,
            **banks,
        }
        for name, value in point.items():
            self.trajectory.setdefault(name, []).append(value)

    def _write(
        self,
        rows: range,
        guesses: NDArray[np.integer[Any]],
        proba: NDArray[np.float64] | None,
        scores: NDArray[np.float64],
        banks: dict[str, Any],
    ) -> None:
        self.predictions[rows.start : rows.stop] = guesses
        if self.log is None:
            return
        records = np.zeros(len(rows), dtype=STEP)
        labels = self._labels(rows)
        records["prediction"], records["label"], records["score"] = guesses, labels, scores
        if proba is None:
            records["p_label"] = records["confidence"] = np.nan
        else:
            records["p_label"] = proba[np.arange(len(rows)), labels]
            records["confidence"] = proba.max(axis=1)
        records["short"], records["long"] = banks.get("short", 0), banks.get("long", 0)
        self.log.append(records)

    # -- saving ----------------------------------------------------------------------------------

    def meta(self) -> dict[str, Any]:
        return {
            "unscored": self.unscored,
            "trajectory": self.trajectory,
            "next_point": self._next_point,
            "logged": None if self.log is None else self.log.digest(),
        }

    def arrays(self) -> State:
        return named("metrics.", self.metrics.state()) | named("floors.", self.floors.state())

    def restore(self, meta: dict[str, Any], arrays: State) -> None:
        self.unscored = meta["unscored"]
        self.trajectory = meta["trajectory"]
        self._next_point = meta["next_point"]
        self._logged = meta["logged"]
        self.metrics.restore(under("metrics.", arrays))
        self.floors.restore(under("floors.", arrays))
