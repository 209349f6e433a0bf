"""A learner that never trains: contexts on one side, a frozen backbone on the other, lane by lane."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones import Backbone, Prediction, get_backbone
from millpond.backbones.base import lane_session
from millpond.context import Contexts, make_details
from millpond.errors import OtherWeights
from millpond.policies import Details, Policy
from millpond.state import State, named, under

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

DEFAULT_BACKBONE = "rill"
DEFAULT_TAU = (
    "auto"  # a fixed share of candidates: docs/classifier.md sets it against fixed thresholds
)


class ContextLearner:
    """Contexts x backbone over many lanes: predict, score, learn.

    ``seconds`` takes the paper's three parts of a step apart: *fit* is telling the backbone what
    changed, *predict* the query, *evict* the update of the contexts.
    """

    def __init__(
        self,
        lanes: int = 1,
        /,
        *,
        backbone: str | Backbone = DEFAULT_BACKBONE,
        policy: str | Policy | Sequence[str | Policy] = "cure",
        budget: int | Sequence[int] = 1000,
        short_ratio: float | Sequence[float] = 0.75,
        tau: float | str | Sequence[float | str] = DEFAULT_TAU,
        **options: Any,
    ) -> None:
        """Options that are not details of a context go to the backbone."""
        known = {name: options.pop(name) for name in list(options) if name in _DETAILS}
        # They go into results and checkpoints, which hold text, not paths.
        self.options = {
            name: os.fspath(value) if isinstance(value, os.PathLike) else value
            for name, value in {**known, **options}.items()
        }
        self.details = known
        self.backbone = get_backbone(backbone, **options)
        self.contexts = Contexts(
            lanes,
            policy=policy,
            budget=budget,
            short_ratio=short_ratio,
            tau=tau,
            details=make_details(known),
        )
        self.session = self.backbone.open(self.contexts)
        self.seconds = {"fit": 0.0, "predict": 0.0, "evict": 0.0}

    def predict(self, rows: range, X: NDArray[np.float32], lanes: IntArray) -> list[Prediction]:
        """(n, k, d) queries -> what each of n lanes says of its k rows."""
        begin = time.perf_counter()
        predictions = self.session.predict(X, lanes)
        self.seconds["predict"] += time.perf_counter() - begin
        return predictions

    def score(self, predictions: list[Prediction], lanes: IntArray) -> FloatArray:
        """(n, k) the uncertainty that each row will enter its context with."""
        return np.array(
            [
                self.contexts.score_of(int(lane), prediction.proba)
                for lane, prediction in zip(lanes, predictions, strict=True)
            ]
        )

    def learn(
        self, row: int, X: NDArray[np.float32], y: IntArray, scores: FloatArray, lanes: IntArray
    ) -> None:
        """One labelled row for each of n lanes: (n, d), (n,), (n,)."""
        begin = time.perf_counter()
        deltas = self.contexts.observe(X, y, scores, lanes.tolist())
        middle = time.perf_counter()
        self.session.update(deltas)
        self.seconds["evict"] += middle - begin
        self.seconds["fit"] += time.perf_counter() - middle

    def banks(self, lane: int, n_classes: int) -> dict[str, Any]:
        """What a report shows of one lane's context."""
        banks = self.contexts.banks[lane]
        labels = self.contexts.y[lane, banks.long_slots()]
        return {
            "short": banks.n_short,
            "long": banks.n_long,
            "long_by_class": np.bincount(labels, minlength=n_classes).tolist(),
            "admitted": banks.admitted,
            "evicted": banks.seen - banks.n_short - banks.n_long,
        }

    def describe(self, lane: int) -> dict[str, Any]:
        banks = self.contexts.banks[lane]
        return {
            "name": f"{self.backbone.name} + {banks.policy.name}",
            "backbone": self.backbone.name,
            "policy": banks.policy.name,
            "budget": banks.budget,
            "short_ratio": banks.short_ratio,
            "tau": banks.threshold,
            **self.options,
        }

    def state(self) -> State:
        """Everything that decides the future, the backbone's caches included."""
        return named("contexts.", self.contexts.state()) | named("session.", self.session.state())

    def lane_state(self, lane: int) -> State:
        """One lane's part: the state of a learner of this lane alone."""
        state = named("contexts.", self.contexts.lane_state(lane))
        return state | named("session.", lane_session(self.session).lane_state(lane))

    def restore_lane(self, lane: int, state: State) -> None:
        """Put a lane's state, of as many features or fewer, in the place of another's."""
        self.contexts.restore_lane(lane, under("contexts.", state))
        lane_session(self.session).restore_lane(lane, under("session.", state))

    def restore(self, state: State, *, encode_anew: bool = False) -> None:
        """Go on where the state was saved, exactly; ``encode_anew`` lets other weights go on with it.

        Caches are then made again from the rows in the contexts, as far as the backbone can.
        """
        self.contexts.restore(under("contexts.", state))
        try:
            self.session.restore(under("session.", state))
        except OtherWeights:
            if not encode_anew:
                raise
            session: Any = self.backbone.open(self.contexts)
            session.encode_anew(under("session.", state))  # who raises this error can
            self.session = session


_DETAILS = frozenset(Details.__dataclass_fields__)
