"""`StreamClassifier`: one context and one backbone behind the verbs of stream learning."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from millpond.backbones import Backbone, Prediction
from millpond.context import check_row
from millpond.errors import BadInput
from millpond.learner import DEFAULT_BACKBONE, ContextLearner, FloatArray
from millpond.policies import Policy

Row = Mapping[str, float] | ArrayLike

WAITING = 10_000
"""Predictions that may wait for their labels; the oldest is forgotten beyond it."""

_LANE = np.zeros(1, dtype=np.int64)


class StreamClassifier:
    """A stream classifier that adapts by its context and never trains.

    Parameters
    ----------
    backbone, policy, budget, short_ratio, tau
        The frozen model, and the context it sees: see `Context`.
    seed : int
        For backbones that draw random numbers.
    **options
        Details of the context (see `Context`) and options of the backbone.

    Notes
    -----
    Labels may be any hashable objects but None and NaN, which are missing labels; they are coded in
    order of first appearance. A row is a sequence of numbers, or a dict of them by feature name: the
    first row, predicted or learned, fixes the features and their order, a feature that a later dict
    lacks is missing (NaN), and one that it adds is an error.

    A row enters the context with the uncertainty of its own prediction: `learn_one` uses the pending
    prediction of that key, else the last one made for an equal row, and predicts first where there is
    none.

    Examples
    --------
    >>> classifier = StreamClassifier(backbone="knn", policy="cure", budget=100)
    >>> for t in range(50):
    ...     x = {"temperature": t % 7, "load": t % 2}
    ...     guess = classifier.predict_one(x)
    ...     classifier.learn_one(x, "high" if t % 2 else "low")
    >>> classifier.predict_one({"temperature": 3, "load": 1})
    'high'
    """

    def __init__(
        self,
        backbone: str | Backbone = DEFAULT_BACKBONE,
        policy: str | Policy = "cure",
        budget: int = 1000,
        short_ratio: float = 0.75,
        tau: float = 0.3,
        seed: int = 0,
        **options: Any,
    ) -> None:
        self.seed = seed
        self._learner = ContextLearner(
            1,
            backbone=backbone,
            policy=policy,
            budget=budget,
            short_ratio=short_ratio,
            tau=tau,
            **options,
        )
        self._names: tuple[str, ...] | None = None
        self._features: int | None = None
        self._codes: dict[Hashable, int] = {}
        self._labels: list[Hashable] = []
        # What rows will enter the context with, until their labels come.
        self._by_row: OrderedDict[bytes, float] = OrderedDict()
        self._by_key: OrderedDict[Hashable, tuple[NDArray[np.float32], float]] = OrderedDict()

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels seen so far, in order of first appearance."""
        classes = np.empty(len(self._labels), dtype=object)
        classes[:] = self._labels
        return classes

    # -- one row ---------------------------------------------------------------------------------

    def predict_proba_one(self, x: Row, *, key: Hashable | None = None) -> dict[Hashable, float]:
        """The probability of each class that is now in the context; {} while it is empty."""
        prediction = self._predict(x, key)
        return {
            self._labels[code]: float(p)
            for code, p in zip(prediction.classes, prediction.proba[0], strict=True)
        }

    def predict_one(self, x: Row, *, key: Hashable | None = None) -> Any:
        """The most likely label (the earlier seen on ties); None while the context is empty."""
        prediction = self._predict(x, key)
        return self._labels[int(prediction.best()[0])] if len(prediction.classes) else None

    def learn_one(
        self, x: Row | None = None, y: Any = None, *, key: Hashable | None = None
    ) -> None:
        """Add a labelled row to the context; with a key, the row that was predicted under it."""
        code = self._code(y)
        given = None if x is None else self._row(x)
        if key is not None and key in self._by_key:
            predicted, score = self._by_key[key]
            self._learn(predicted if given is None else given, code, score)
            del self._by_key[key]
        elif given is not None:
            self._learn(given, code, self._waiting_score(given))
            self._by_row.pop(_equal(given), None)
        else:
            raise BadInput(
                f"no prediction waits under key {key!r}: predict with key=... first, or give x"
            )
        if given is not None:
            self._fix_features(given, x)
        if code == len(self._labels):
            self._codes[y] = code
            self._labels.append(y)

    # -- many rows -------------------------------------------------------------------------------

    def partial_fit(self, X: ArrayLike, y: Sequence[Any]) -> StreamClassifier:
        """Learn rows one after the other. All rows are checked before the first is learned."""
        rows = self._rows(X)
        labels = list(y)
        if len(rows) != len(labels):
            raise BadInput(f"{len(rows)} rows but {len(labels)} labels")
        for label in labels:
            self._code(label)
        for row, label in zip(rows, labels, strict=True):
            self.learn_one(row, label)
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """(n, classes) in the order of ``classes_``; 0 for classes that are not in the context."""
        prediction = self._predict_rows(self._rows(X))
        return prediction.dense(len(self._labels))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """(n,) the most likely labels; needs at least one labelled row to have been learned."""
        rows = self._rows(X)
        if not self._labels:
            raise BadInput("nothing has been learned yet: call partial_fit or learn_one first")
        return self.classes_[self._predict_rows(rows).best()]

    # -- inside ----------------------------------------------------------------------------------

    def _predict(self, x: Row, key: Hashable | None) -> Prediction:
        row = self._row(x)
        prediction = self._predict_rows([row])
        score = float(self._learner.score([prediction], _LANE)[0, 0])
        self._fix_features(row, x)
        if key is None:
            _store(self._by_row, _equal(row), score)
        else:
            _store(self._by_key, key, (row, score))
        return prediction

    def _learn(self, row: NDArray[np.float32], code: int, score: float) -> None:
        self._learner.learn(0, row[None], np.array([code]), np.array([score]), _LANE)

    def _predict_rows(self, rows: Sequence[NDArray[np.float32]]) -> Prediction:
        if not len(rows) or not self._labels:
            codes = np.arange(len(self._labels))
            return Prediction(codes, np.empty((len(rows), len(codes))))
        return self._learner.predict(range(1), np.stack(rows)[None], _LANE)[0]

    def _waiting_score(self, row: NDArray[np.float32]) -> float:
        score = self._by_row.get(_equal(row))
        if score is not None:
            return score
        prediction = self._predict_rows([row])
        return float(self._learner.score([prediction], _LANE)[0, 0])

    def _row(self, x: Row) -> NDArray[np.float32]:
        if isinstance(x, Mapping):
            names = self._names
            if names is None:
                if self._features is not None:
                    raise BadInput(
                        "rows came as sequences so far; a dict cannot be matched to them"
                    )
                names = tuple(x)
            unknown = [name for name in x if name not in names]
            if unknown:
                raise BadInput(f"feature {unknown[0]!r} was not in the first row: {list(names)}")
            x = [x.get(name, np.nan) for name in names]
        return check_row(x, self._features)

    def _rows(self, X: ArrayLike) -> list[NDArray[np.float32]]:
        try:
            values = np.asarray(X)
        except ValueError as error:
            raise BadInput(f"rows must be of one length: {error}") from None
        if values.ndim != 2:
            raise BadInput(f"rows must come as a 2-D array, not shape {values.shape}")
        return [self._row(row) for row in values]

    def _code(self, y: Any) -> int:
        try:
            code = self._codes.get(y, len(self._labels))
        except TypeError:
            raise BadInput(f"a label must be hashable, not {type(y).__name__}") from None
        if y is None or y != y:
            raise BadInput(f"the label is missing ({y}): learn a row once its label is known")
        return code

    def _fix_features(self, row: NDArray[np.float32], x: Row | None) -> None:
        if self._features is None:
            self._features = len(row)
            self._names = tuple(x) if isinstance(x, Mapping) else None


def _equal(row: NDArray[np.float32]) -> bytes:
    """The same for rows that are equal: -0.0 + 0.0 is 0.0."""
    return (row + 0.0).tobytes()


def _store(waiting: OrderedDict[Any, Any], key: Hashable, value: Any) -> None:
    waiting[key] = value
    waiting.move_to_end(key)
    if len(waiting) > WAITING:
        waiting.popitem(last=False)
