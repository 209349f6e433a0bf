"""Learners that are not context x backbone, by the name that `--learner` takes."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.base import Prediction
from millpond.baselines import moa_jvm
from millpond.baselines.blocks import BlockLearner
from millpond.baselines.label_rules import RULES, LabelRuleLearner
from millpond.baselines.moa import MoaLearner
from millpond.baselines.options import ENSEMBLES, TREES
from millpond.baselines.river import RiverLearner
from millpond.errors import BadOption, MissingExtra, UnknownName
from millpond.learner import FloatArray, IntArray
from millpond.state import State
from millpond.streams import Stream

__all__ = ["LEARNERS", "BlockLearner", "Learner", "get_learner", "require"]

LEARNERS = (
    *RULES,
    *(f"{library}:{method}" for library in ("moa", "river") for method in (*TREES, *ENSEMBLES)),
)


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


def require(name: str) -> None:
    """Say at once, before a stream is read, that a learner is unknown or cannot run here."""
    if name not in LEARNERS:
        raise UnknownName("learner", name, LEARNERS)
    if name.startswith("moa:"):
        moa_jvm.require()
    if name.startswith("river:") and importlib.util.find_spec("river") is None:
        raise MissingExtra(name, "river")


def get_learner(
    name: str, streams: Sequence[Stream], seed: int = 0, /, **options: Any
) -> Learner | BlockLearner:
    """The learner of that name, with one lane for each stream."""
    require(name)
    library, _, method = name.partition(":")
    if library == "moa":
        return MoaLearner(method, streams, seed, **options)
    if library == "river":
        return RiverLearner(method, streams, seed, **options)
    if options:
        raise BadOption(f"the learner {name} takes no option {sorted(options)[0]!r}")
    return LabelRuleLearner(name, len(streams))
