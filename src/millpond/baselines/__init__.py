"""Learners that are not context x backbone, by the name that `--learner` takes."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.base import Prediction
from millpond.baselines.label_rules import RULES, LabelRuleLearner
from millpond.errors import BadOption, UnknownName
from millpond.learner import FloatArray, IntArray
from millpond.state import State

__all__ = ["LEARNERS", "Learner", "get_learner"]

LEARNERS = tuple(RULES)


class Learner(Protocol):
    """What the evaluation loop drives, over one or many lanes; `ContextLearner` is the main one."""

    seconds: dict[str, float]

    def predict(self, rows: range, X: NDArray[np.float32], lanes: IntArray) -> list[Prediction]: ...
    def score(self, predictions: list[Prediction], lanes: IntArray) -> FloatArray: ...
    def learn(
        self, row: int, X: NDArray[np.float32], y: IntArray, scores: FloatArray, lanes: IntArray
    ) -> None: ...
    def banks(self, lane: int, n_classes: int) -> dict[str, Any]: ...
    def describe(self, lane: int) -> dict[str, Any]: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...


def get_learner(name: str, lanes: int, /, **options: Any) -> Learner:
    if name not in LEARNERS:
        raise UnknownName("learner", name, LEARNERS)
    if options:
        raise BadOption(f"the learner {name} takes no option {sorted(options)[0]!r}")
    return LabelRuleLearner(name, lanes)
