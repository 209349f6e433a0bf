"""Learners that test and then train on a whole block of rows in one call.

A library with a loop of its own, outside Python, is slow where it is asked row by row. Such a learner
takes the place of `Learner.predict` and `Learner.learn` by one method; it needs the protocol that the
loop inside implies: every label right after its own row.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.base import Prediction
from millpond.state import State


@runtime_checkable
class BlockLearner(Protocol):
    """What the evaluation loop drives block by block, one lane at a time."""

    seconds: dict[str, float]
    block: int
    """Rows a call; between calls a run can be stopped and saved."""
    why_not_saved: str | None
    """Why a run of this learner starts over instead of being resumed; None where it can be."""

    def test_then_train(
        self, X: NDArray[np.float32], y: NDArray[np.int64], lane: int
    ) -> Prediction:
        """(k, d) rows and their (k,) labels -> what was predicted of each before it was learned."""

    def banks(self, lane: int, n_classes: int) -> dict[str, Any]: ...
    def describe(self, lane: int) -> dict[str, Any]: ...
    def versions(self) -> dict[str, str]: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...
