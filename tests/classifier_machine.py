"""A state machine over the classifier's verbs, beside a model that computes everything anew.

Predictions and labels come by row and by key, late, twice or for keys that were never asked or were
dropped because too many waited; in between the classifier is saved, crashes and is loaded again. What a
backbone answers is said by a `Voice`.
"""

from __future__ import annotations

import copy
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from numpy.typing import NDArray

from millpond import StreamClassifier
from millpond.errors import BadInput
from oracle import BruteForceContext
from slow_loop import exact_vote

FEATURES = ("u", "kind", "late")
OPTIONS: dict[str, Any] = {"budget": 6, "short_ratio": 0.5, "tau": 0.57721}
MOST = 3

Row = dict[str, Any]
Vector = NDArray[np.float32]


class Voice(Protocol):
    """A backbone's definition."""

    def ask(self, context: BruteForceContext, x: Vector) -> dict[int, float]:
        """Code -> probability of each class in a context that is not empty."""

    def follow(self, delta: Any, x: Vector, code: int) -> None:
        """A row was learned: (its arrival number, those promoted, those that left)."""


class ExactVotes:
    """The definition of knn."""

    def ask(self, context: BruteForceContext, x: Vector) -> dict[int, float]:
        X, y, _ = context.arrays()
        return {code: float(p) for code, p in exact_vote(X, y, x, k=3).items()}

    def follow(self, delta: Any, x: Vector, code: int) -> None:
        pass


class Model:
    """What the documentation says, with plain dicts, the brute-force context and a backbone's voice."""

    def __init__(self, policy: str, voice: Voice) -> None:
        self.context, self.voice = BruteForceContext(policy=policy, **OPTIONS), voice
        self.labels: list[Any] = []
        self.kinds: list[str] = []
        self.by_row: OrderedDict[Any, list[float]] = OrderedDict()
        self.by_key: OrderedDict[Any, tuple[Row, list[float]]] = OrderedDict()

    def vector(self, row: Row) -> Any:
        kinds = [
            *self.kinds,
            *([row["kind"]] if row.get("kind") not in (None, *self.kinds) else []),
        ]
        cells = dict(row)
        if cells.get("kind") is not None:
            cells["kind"] = kinds.index(cells["kind"])
        return np.array(
            [np.nan if cells.get(f) is None else cells[f] for f in FEATURES], np.float32
        )

    def ask(self, row: Row) -> dict[Any, float]:
        if not self.context.seen:
            return {}
        answer = self.voice.ask(self.context, self.vector(row))
        return {self.labels[code]: p for code, p in answer.items()}

    def predict(self, row: Row, key: Any) -> dict[Any, float]:
        answer = self.ask(row)
        waiting, entry = (
            (self.by_row, list(answer.values()))
            if key is None
            else (self.by_key, (row, list(answer.values())))
        )
        place = _identity(row) if key is None else key
        waiting.pop(place, None)  # type: ignore[attr-defined]
        waiting[place] = entry  # type: ignore[index]
        if len(waiting) > MOST:
            waiting.popitem(last=False)
        return answer

    def learn(self, row: Row | None, label: Any, key: Any) -> bool:
        """Whether there was anything to learn."""
        if key in self.by_key:
            waited, proba = self.by_key.pop(key)
            row = waited if row is None else row
        elif row is None:
            return False
        else:
            proba = self.by_row.pop(_identity(row), None)
            proba = list(self.ask(row).values()) if proba is None else proba
        if label not in self.labels:
            self.labels.append(label)
        x = self.vector(row)
        if row.get("kind") is not None and row["kind"] not in self.kinds:
            self.kinds.append(row["kind"])
        code = self.labels.index(label)
        self.voice.follow(self.context.observe(x, code, proba or None), x, code)
        return True


def _identity(row: Row) -> Any:
    return frozenset((name, value) for name, value in row.items() if value is not None)


ROWS = st.fixed_dictionaries(
    {"u": st.sampled_from([None, 0, 1, 2.5, -1])},
    optional={"kind": st.sampled_from([None, "a", "b", "c", 7]), "late": st.integers(0, 2)},
)
"""The first row learned, below, makes u a number and kind a category, in which 7 is one more."""
KEYS = st.one_of(st.none(), st.integers(0, 5))
LABELS = st.sampled_from(["x", "y", 3, ("z", 1)])


class Machine(RuleBasedStateMachine):
    """Every verb goes to both; a crash loads the last save and replays what came after it."""

    backbone: str
    options: dict[str, Any]
    near: float
    """how far the probabilities may be from the model's"""

    def voice(self) -> Voice:
        raise NotImplementedError

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.path = Path(self._folder.name) / "saved"
        self.journal: list[tuple[str, tuple[Any, ...]]] = []

    def teardown(self) -> None:
        self._folder.cleanup()

    @initialize(policy=st.sampled_from(["cure", "cure_margin", "redundancy_only", "fifo"]))
    def begin(self, policy: str) -> None:
        options = OPTIONS | self.options
        self.classifier = StreamClassifier(self.backbone, policy, waiting=MOST, **options)
        self.model = Model(policy, self.voice())
        self.save()
        self.learn({"u": 0, "kind": "a"}, "x", None)

    def do(self, verb: str, *arguments: Any) -> Any:
        self.journal.append((verb, arguments))
        return getattr(self, f"_{verb}")(*arguments)

    def _predict(self, row: Row, key: Any) -> Any:
        return self.classifier.predict_proba_one(row, key=key)

    def _learn(self, row: Row | None, label: Any, key: Any) -> None:
        self.classifier.learn_one(row, label, key=key)

    @rule(row=ROWS, key=KEYS)
    def predict(self, row: Row, key: Any) -> None:
        expected, found = self.model.predict(row, key), self.do("predict", row, key)
        assert list(found) == list(expected)
        assert list(found.values()) == pytest.approx(list(expected.values()), abs=self.near)

    @rule(row=ROWS, label=LABELS, key=KEYS)
    def learn(self, row: Row, label: Any, key: Any) -> None:
        assert self.model.learn(row, label, key)
        self.do("learn", row, label, key)

    @rule(label=LABELS, key=KEYS)
    def late_or_duplicate(self, label: Any, key: Any) -> None:
        """A label for a key alone: one that waits, one that was learned, forgotten or never asked."""
        if self.model.learn(None, label, key):
            self.do("learn", None, label, key)
        else:
            before = self.classifier.fingerprint()
            with pytest.raises(BadInput):
                self.classifier.learn_one(y=label, key=key)
            assert self.classifier.fingerprint() == before

    @rule(row=ROWS, bad=st.sampled_from([{"u": "text"}, {"late": float("inf")}, {"new": [1]}]))
    def refused(self, row: Row, bad: Row) -> None:
        before = self.classifier.fingerprint()
        for x, y in (({**row, **bad}, "x"), (row, None)):
            with pytest.raises(BadInput):
                self.classifier.learn_one(x, y)
        with pytest.raises(BadInput):
            self.classifier.predict_one({**row, **bad}, key=1)
        assert self.classifier.fingerprint() == before

    @rule()
    def save(self) -> None:
        self.classifier.save(self.path)
        self.journal.clear()

    @rule()
    def crash(self) -> None:
        fingerprint = self.classifier.fingerprint()
        self.classifier = StreamClassifier.load(self.path)
        for verb, arguments in self.journal:
            getattr(self, f"_{verb}")(*arguments)
        assert self.classifier.fingerprint() == fingerprint

    @rule()
    def go_on_in_a_copy(self) -> None:
        self.classifier = copy.deepcopy(self.classifier)

    @invariant()
    def the_rows_are_the_models(self) -> None:
        if not hasattr(self, "model"):
            return
        contexts = self.classifier._learner.contexts
        slots = contexts.slots_of(0)
        assert contexts.arrival[0, slots].tolist() == self.model.context.arrivals("all")
        assert list(self.classifier.classes_) == self.model.labels
        X, y, _ = self.model.context.arrays()
        assert contexts.y[0, slots].tolist() == y
        places = self.classifier._intake.encoder._places
        for column, name in enumerate(FEATURES):
            if name in places:
                np.testing.assert_array_equal(contexts.X[0, slots, places[name]], X[:, column])
