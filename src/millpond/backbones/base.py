"""The seam's other side: a backbone turns (context, query) into class probabilities.

A backbone is frozen. It opens a *session* over contexts; the session is told what changed (`update`)
and answers queries (`predict`). One that encodes the whole context at each query has nothing to do in
`update`; one that keeps caches by slot follows the deltas. A backbone of your own needs these two small
classes and nothing else: pass its instance wherever a name is taken.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from millpond.context import Contexts, Deltas
from millpond.errors import BadOption

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Session(Protocol):
    """A frozen model over the contexts of one or many lanes, stepped together."""

    def update(self, deltas: Deltas) -> None:
        """Rows were added to, promoted in and evicted from the contexts, which hold them by slot."""

    def predict(self, X: NDArray[np.float32], lanes: IntArray) -> list[Prediction]:
        """(n, k, d) queries to n lanes -> for each lane what its k rows are, given its context."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Caches that a resumed session needs to continue bit for bit."""

    def restore(self, state: dict[str, NDArray[Any]]) -> None: ...


class LaneSession(Session, Protocol):
    """A session whose lanes can be taken out and put in one by one, as a fleet of keys does.

    A session that keeps nothing between calls (its `state` is empty) needs none of this.
    """

    def lane_state(self, lane: int) -> dict[str, NDArray[Any]]:
        """One lane's part of the state: what a session of this lane alone would have."""

    def restore_lane(self, lane: int, state: dict[str, NDArray[Any]]) -> None:
        """Put a lane's state in the place of another's, after its context was. Its rows may have had
        fewer columns than the context has now: the columns beyond were never seen."""


class _Stateless:
    """The lanes of a session that keeps nothing."""

    def lane_state(self, lane: int) -> dict[str, NDArray[Any]]:
        return {}

    def restore_lane(self, lane: int, state: dict[str, NDArray[Any]]) -> None:
        pass


def lane_session(session: Session) -> LaneSession | _Stateless:
    """The session as one whose lanes can be moved, or BadOption."""
    if hasattr(session, "lane_state") and hasattr(session, "restore_lane"):
        return cast(LaneSession, session)
    if session.state():
        raise BadOption(
            f"the lanes of a {type(session).__name__} cannot be taken out one by one: "
            "it has no lane_state and restore_lane"
        )
    return _Stateless()


class Backbone(Protocol):
    """A frozen in-context model that can open sessions."""

    name: str

    def open(self, contexts: Contexts) -> Session: ...


class Prediction:
    """The probabilities of k rows over the classes that are now in one lane's context."""

    __slots__ = ("classes", "proba")

    def __init__(self, classes: IntArray, proba: FloatArray) -> None:
        self.classes = classes
        """(C,) codes in ascending order; empty where the context is empty"""
        self.proba = proba
        """(k, C), rows sum to one"""

    def best(self) -> IntArray:
        """(k,) the most likely codes, the smaller one on ties; needs at least one class."""
        return np.asarray(self.classes[self.proba.argmax(axis=1)])

    def dense(self, n_classes: int) -> FloatArray:
        """(k, n_classes) over codes 0, 1, ...; classes absent from the context have probability 0."""
        dense = np.zeros((len(self.proba), n_classes))
        dense[:, self.classes] = self.proba
        return dense
