"""`StreamClassifier`: one context and one backbone behind the verbs of stream learning."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from millpond import saved
from millpond.backbones import Backbone, Prediction
from millpond.checks import check_whole
from millpond.errors import BadInput, BadOption, CheckpointError, MillpondError
from millpond.intake import Intake, check_key, check_label
from millpond.learner import DEFAULT_BACKBONE, DEFAULT_TAU, ContextLearner, FloatArray
from millpond.policies import Policy
from millpond.reading import Cells, read_rows
from millpond.state import fingerprint, named, under

Row = Mapping[Any, Any] | ArrayLike

WAITING = 10_000

_LANE = np.zeros(1, dtype=np.int64)


class StreamClassifier:
    """A stream classifier that adapts by its context and never trains.

    Parameters
    ----------
    backbone, policy, budget, short_ratio, tau
        The frozen model, and the context it sees: see `Context`.
    seed : int
        For backbones that draw random numbers.
    waiting : int
        How many predictions may wait for their labels; beyond it the oldest is forgotten.
    **options
        Details of the context (see `Context`) and options of the backbone.

    Notes
    -----
    A row is a dict by feature name, a sequence, an array, or a row of a frame. Its values are numbers,
    booleans, categories (text and other hashables) or missing (None, NaN). Features may come and go by
    name: those that a row lacks are missing. Categories are coded as they are learned. Predicting changes
    nothing but what waits for a label.

    Labels may be any hashable objects but None and NaN, which are missing labels; they are coded in
    order of first appearance.

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
        tau: float | str = DEFAULT_TAU,
        seed: int = 0,
        waiting: int = WAITING,
        **options: Any,
    ) -> None:
        self.seed = check_whole("seed", seed, 0)
        self._learner = ContextLearner(
            1,
            backbone=backbone,
            policy=policy,
            budget=budget,
            short_ratio=short_ratio,
            tau=tau,
            **options,
        )
        self._arguments = {
            "backbone": backbone if isinstance(backbone, str) else None,
            "policy": self._learner.contexts.banks[0].policy.name,
            "budget": budget,
            "short_ratio": short_ratio,
            "tau": self._learner.contexts.banks[0].threshold,
            "seed": seed,
            "waiting": waiting,
            **options,
        }
        self._intake = Intake(waiting)

    def __repr__(self) -> str:
        made = {**self._arguments, "backbone": self._learner.backbone.name}
        return f"StreamClassifier({', '.join(f'{name}={value!r}' for name, value in made.items())})"

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels seen so far, in order of first appearance."""
        labels = self._intake.labels
        classes = np.empty(len(labels), dtype=object)
        classes[:] = labels
        return classes

    @property
    def forgotten_(self) -> int:
        """How many predictions with a key were forgotten because too many waited."""
        return self._intake.waiting.forgotten

    # -- one row ---------------------------------------------------------------------------------

    def predict_proba_one(self, x: Row, *, key: Hashable | None = None) -> dict[Hashable, float]:
        """The probability of each class that is now in the context; {} while it is empty."""
        prediction = self._predict(x, key)
        return {
            self._intake.labels[code]: float(p)
            for code, p in zip(prediction.classes, prediction.proba[0], strict=True)
        }

    def predict_one(self, x: Row, *, key: Hashable | None = None) -> Any:
        """The most likely label (the earlier seen on ties); None while the context is empty."""
        prediction = self._predict(x, key)
        return self._intake.labels[int(prediction.best()[0])] if len(prediction.classes) else None

    def learn_one(
        self, x: Row | None = None, y: Any = None, *, key: Hashable | None = None
    ) -> None:
        """Add a labelled row to the context; with a key, the row that was predicted under it."""
        label = check_label(y)
        row = self._intake.to_learn(None if x is None else self._intake.read(x), label, key)
        score = self._ask_score(row.cells) if row.score is None else row.score
        self._learn(row.cells, row.label, score)
        self._intake.waiting.learned(key, row.cells)

    # -- many rows -------------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: Sequence[Any]) -> StreamClassifier:
        """Learn rows one after the other. All rows are checked before the first is learned."""
        rows = read_rows(X, self._intake.encoder.by_name)
        try:
            labels = [check_label(label) for label in y]
        except TypeError:
            raise BadInput(
                f"labels must come one for each row, not as {type(y).__name__}"
            ) from None
        if len(rows) != len(labels):
            raise BadInput(f"{len(rows)} rows but {len(labels)} labels")
        self._intake.encoder.check(rows)
        for cells, label in zip(rows, labels, strict=True):
            score = self._intake.waiting.score_of(cells)
            self._learn(cells, label, self._ask_score(cells) if score is None else score)
            self._intake.waiting.learned(None, cells)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """(n, classes) in the order of ``classes_``; 0 for classes that are not in the context."""
        prediction = self._ask(read_rows(X, self._intake.encoder.by_name))
        return prediction.dense(len(self._intake.labels))

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) the most likely labels; needs at least one labelled row to have been learned."""
        rows = read_rows(X, self._intake.encoder.by_name)
        if not self._intake.labels:
            raise BadInput("nothing has been learned yet: call partial_fit or learn_one first")
        return self.classes_[self._ask(rows).best()]

    # -- saving ----------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything that decides the future into one file, whole or not at all."""
        name = self._learner.backbone.name
        meta = {
            "arguments": _plain_options(self._arguments),
            "backbone": name,
            **self._intake.state(),
        }
        saved.write(path, meta, named("learner.", self._learner.state()))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        backbone: Backbone | None = None,
        policy: Policy | None = None,
    ) -> StreamClassifier:
        """A saved classifier; it goes on exactly as the one that was saved would have.

        A backbone or a policy of your own that it was made with has to be passed again.
        """
        meta, arrays = saved.read(path)
        try:
            arguments = dict(meta["arguments"])
            _check_passed(meta["backbone"], arguments["backbone"], backbone)
            arguments["backbone"] = backbone or arguments["backbone"]
            if policy is not None and policy.name != arguments["policy"]:
                raise BadOption(f"it was saved with the policy {arguments['policy']}")
            arguments["policy"] = policy or arguments["policy"]
            if arrays["learner.contexts.arrival"].shape != (1, arguments["budget"] + 1):
                raise CheckpointError(f"{path} cannot be taken up: its context has another budget")
            classifier = cls(**arguments)
            classifier._intake.restore(meta)
            classifier._learner.restore(under("learner.", arrays), encode_anew=True)
        except MillpondError:
            raise
        except Exception as error:  # whole, but its parts do not fit together
            raise CheckpointError(f"{path} cannot be taken up: {error!r}") from error
        return classifier

    def fingerprint(self) -> str:
        """SHA-256 of all that decides the answers: rows, labels, scores, encodings, what waits."""
        return fingerprint(self._intake.state(), self._learner.contexts.facts())

    # -- inside ----------------------------------------------------------------------------------

    def _predict(self, x: Row, key: Hashable | None) -> Prediction:
        cells = self._intake.read(x)
        prediction = self._ask([cells])
        score = float(self._learner.score([prediction], _LANE)[0, 0])
        self._intake.waiting.add(check_key(key), cells, score)
        return prediction

    def _ask(self, rows: Sequence[Cells]) -> Prediction:
        encoder = self._intake.encoder
        if not self._intake.labels:
            return Prediction(np.arange(0), np.empty((len(rows), 0)))
        X = np.empty((1, len(rows), encoder.width), np.float32)
        for place, cells in enumerate(rows):
            X[0, place] = encoder.vector(cells)
        return self._learner.predict(range(1), X, _LANE)[0]

    def _ask_score(self, cells: Cells) -> float:
        """The uncertainty of a prediction made now."""
        return float(self._learner.score([self._ask([cells])], _LANE)[0, 0])

    def _learn(self, cells: Cells, label: Hashable, score: float) -> None:
        """Learn a row that was checked: nothing can be wrong with it any more."""
        row, code = self._intake.learn(cells, label)
        if self._learner.contexts.X.shape[2]:
            self._learner.contexts.widen(len(row))
        self._learner.learn(0, row[None], np.array([code]), np.array([score]), _LANE)


def _check_passed(name: str, by_name: str | None, backbone: Backbone | None) -> None:
    """A backbone by name is made again; an instance of the user's own is passed again."""
    if by_name is None and (backbone is None or backbone.name != name):
        raise BadOption(
            f"it was saved with a backbone of your own, {name!r}: pass it, load(path, backbone=...)"
        )
    if by_name is not None and backbone is not None:
        raise BadOption(f"it was saved with the backbone {by_name!r}, which needs not be passed")


def _plain_options(arguments: dict[str, Any]) -> dict[str, Any]:
    """Options as JSON holds them, or BadOption."""
    plain = {}
    for name, value in arguments.items():
        if isinstance(value, np.generic):
            value = value.item()
        elif isinstance(value, os.PathLike):
            value = os.fspath(value)
        if not isinstance(value, str | int | float | None):
            raise BadOption(
                f"the option {name}={value!r} cannot be saved: it is a {type(value).__name__}"
            )
        plain[name] = value
    return plain
