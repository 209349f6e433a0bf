"""The label-only floors as learners: what can be reached without looking at a feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.base import Prediction
from millpond.evaluate.floors import Majority, NoChange, Period, Rule, Successor
from millpond.learner import FloatArray, IntArray
from millpond.state import State, named, under

RULES: dict[str, Callable[[], Rule]] = {
    "nochange": NoChange,
    "majority": Majority,
    "successor": Successor,
    "period": Period,
}


class LabelRuleLearner:
    """One label rule a lane. It is sure of its guess: probability 1 on one of the classes seen."""

    def __init__(self, rule: str, lanes: int = 1) -> None:
        self._name = rule
        self._rules = [RULES[rule]() for _ in range(lanes)]
        self._classes: list[set[int]] = [set() for _ in range(lanes)]
        self.seconds = {"fit": 0.0, "predict": 0.0, "evict": 0.0}

    def predict(self, rows: range, X: NDArray[np.float32], lanes: IntArray) -> list[Prediction]:
        predictions = []
        for lane in lanes.tolist():
            classes = np.array(sorted(self._classes[lane]), dtype=np.int64)
            guesses = np.array([self._rules[lane].predict(row) for row in rows])
            predictions.append(Prediction(classes, (guesses[:, None] == classes) * 1.0))
        return predictions

    def score(self, predictions: list[Prediction], lanes: IntArray) -> FloatArray:
        return np.zeros((len(predictions), len(predictions[0].proba)))

    def learn(
        self, row: int, X: NDArray[np.float32], y: IntArray, scores: FloatArray, lanes: IntArray
    ) -> None:
        for lane, label in zip(lanes.tolist(), y.tolist(), strict=True):
            self._rules[lane].learn(row, label)
            self._classes[lane].add(label)

    def banks(self, lane: int, n_classes: int) -> dict[str, Any]:
        return {}

    def describe(self, lane: int) -> dict[str, Any]:
        return {"name": self._name}

    def state(self) -> State:
        state: State = {}
        for lane, (rule, classes) in enumerate(zip(self._rules, self._classes, strict=True)):
            state |= named(f"{lane}.rule.", rule.state())
            state[f"{lane}.classes"] = np.array(sorted(classes), dtype=np.int64)
        return state

    def restore(self, state: State) -> None:
        for lane, rule in enumerate(self._rules):
            rule.restore(under(f"{lane}.rule.", state))
            self._classes[lane] = set(state[f"{lane}.classes"].tolist())
