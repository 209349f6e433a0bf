"""`StreamClassifier`: the verbs of stream learning, and what their errors leave untouched."""

from __future__ import annotations

import copy
import doctest
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import millpond.classifier
from backbones_made import Voting, VotingSession
from millpond import StreamClassifier
from millpond.backbones import Prediction
from millpond.classifier import WAITING
from millpond.context import Contexts
from millpond.errors import BadInput, BadOption, UnknownName
from millpond.waiting import Waiting
from oracle import BruteForceContext, entropy
from slow_loop import made_stream, plain_vote


class Spy(Voting):
    """Every answer differs from all before it, so that a stored score tells whose it is."""

    def __init__(self) -> None:
        super().__init__(self.answer)
        self.answers: list[list[float]] = []
        self.session: VotingSession

    def open(self, contexts: Contexts) -> VotingSession:
        self.session = super().open(contexts)
        return self.session

    def answer(self, X: Any, y: list[int], query: Any) -> dict[int, float]:
        classes = sorted(set(y))
        rest = 0.5 / (2 + len(self.answers))
        proba = [rest] * (len(classes) - 1)
        self.answers.append([1 - sum(proba), *proba])
        return dict(zip(classes, self.answers[-1], strict=True))

    def stored(self) -> list[float]:
        return [score for _, _, score in self.session.stored]


def taught(backbone: Any = "knn", **options: Any) -> StreamClassifier:
    """A classifier that has learned two classes by feature name."""
    classifier = StreamClassifier(backbone, budget=10, short_ratio=0.5, tau=0.4, **options)
    for t in range(14):
        classifier.learn_one({"u": t % 5, "v": -t}, "odd" if t % 2 else "even")
    return classifier


def snapshot(classifier: StreamClassifier) -> tuple[Any, ...]:
    """The state's arrays, caches included, and all else that decides what comes next."""
    state = classifier._learner.state()
    return (
        {name: (array.shape, array.tobytes()) for name, array in state.items()},
        classifier.classes_.tolist(),
        classifier._intake.encoder.state(),
        classifier._intake.waiting.state(),
        classifier.fingerprint(),
    )


# ---- What is predicted ---------------------------------------------------------------------------


def test_an_empty_context_says_nothing() -> None:
    classifier = StreamClassifier()
    assert classifier.predict_proba_one([1.0, 2.0]) == {}
    assert classifier.predict_one([1.0, 2.0]) is None
    assert classifier.predict_proba([[1.0, 2.0], [3.0, 4.0]]).shape == (2, 0)
    assert classifier.classes_.tolist() == []
    with pytest.raises(BadInput, match="nothing has been learned"):
        classifier.predict([[1.0, 2.0]])


def test_one_class_is_certain() -> None:
    classifier = StreamClassifier()
    classifier.learn_one([1.0, 2.0], "only")
    assert classifier.predict_proba_one([5.0, 5.0]) == {"only": 1.0}
    assert classifier.predict_one([5.0, 5.0]) == "only"
    assert classifier.predict([[5.0, 5.0]]).tolist() == ["only"]
    assert classifier.predict_proba([[5.0, 5.0]]).tolist() == [[1.0]]


LABELS: list[Any] = ["b", 3, ("a", 1), frozenset({2}), False, b"x", 2.5, "a", ("a", 2)]


def test_labels_may_be_anything_hashable_and_are_coded_as_they_appear() -> None:
    classifier = StreamClassifier(budget=100)
    for t, label in enumerate(LABELS * 2):
        classifier.learn_one([float(t % len(LABELS))], label)
    assert list(classifier.classes_) == LABELS
    for t in range(len(LABELS)):
        proba = classifier.predict_proba_one([float(t)])
        assert list(proba) == LABELS
        assert sum(proba.values()) == pytest.approx(1)
    near = StreamClassifier("knn", budget=100, k=1)
    near.partial_fit([[float(t)] for t in range(len(LABELS))], LABELS)
    assert [near.predict_one([float(t)]) for t in range(len(LABELS))] == LABELS
    assert list(near.predict([[float(t)] for t in range(len(LABELS))])) == LABELS


def test_labels_that_are_equal_are_one() -> None:
    classifier = StreamClassifier()
    classifier.partial_fit([[0.0], [1.0], [2.0]], np.array([1, 0, 1]))
    classifier.learn_one([3.0], 1.0)
    classifier.learn_one([3.0], np.int8(0))
    assert classifier.classes_.tolist() == [1, 0]


def test_only_the_classes_in_the_context_have_a_probability() -> None:
    classifier = StreamClassifier(policy="fifo", budget=3)
    classifier.partial_fit([[0.0], [1.0], [2.0], [3.0]], ["gone", "a", "b", "a"])
    assert classifier.predict_proba_one([1.0]).keys() == {"a", "b"}
    proba = classifier.predict_proba([[1.0]])
    assert proba.shape == (1, 3)
    assert proba[0, 0] == 0.0
    assert classifier.classes_.tolist() == ["gone", "a", "b"]


def test_of_equally_likely_labels_the_earlier_seen_is_named() -> None:
    def even(X: Any, y: list[int], query: Any) -> dict[int, float]:
        return dict.fromkeys(sorted(set(y)), 1 / len(set(y)))

    classifier = StreamClassifier(Voting(even))
    classifier.partial_fit([[0.0], [1.0], [2.0]], ["z", "a", "m"])
    assert classifier.predict_one([0.0]) == "z"


# ---- Against the protocol written down -----------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    policy=st.sampled_from(["cure", "cure_margin", "fifo", "entropy_only"]),
    levels=st.sampled_from([0, 3]),
    asked=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_test_then_train_is_the_protocol(seed: int, policy: str, levels: int, asked: float) -> None:
    """Whether a row is predicted before it is learned or not: learning predicts it then."""
    stream = made_stream(seed, 60, classes=3, levels=levels)
    rng = np.random.default_rng(seed)
    options: dict[str, Any] = {"policy": policy, "budget": 8, "short_ratio": 0.5, "tau": 0.57721}
    oracle, codes = BruteForceContext(**options), {}
    classifier = StreamClassifier(Voting(), **options)
    for x, y in stream:
        label = f"class {y}"
        X, held, _ = oracle.arrays()
        expected = plain_vote(X, held, x) if held else {}
        if rng.random() < asked:
            names = {code: name for name, code in codes.items()}
            found = classifier.predict_proba_one(x)
            assert found == {names[code]: p for code, p in expected.items()}
        classifier.learn_one(x.tolist(), label)
        oracle.observe(x, codes.setdefault(label, len(codes)), list(expected.values()) or None)
    contexts = classifier._learner.contexts
    arrivals = contexts.arrival[0, contexts.slots_of(0)].tolist()
    assert arrivals == oracle.arrivals("all")


def test_many_rows_are_the_one_row_verbs() -> None:
    stream = made_stream(1, 200, classes=3, missing=0.1)
    labels = np.array(["x", "y", "z"])[stream.y]
    one, many = (StreamClassifier("knn", budget=30, short_ratio=0.5) for _ in range(2))
    for start in range(0, 200, 25):
        rows = slice(start, start + 25)
        assert many.partial_fit(stream.X[rows], labels[rows]) is many
        for x, label in zip(stream.X[rows], labels[rows], strict=True):
            one.learn_one(x, label)
        assert snapshot(one) == snapshot(many)
        queries = stream.X[::7]
        probas = [one.predict_proba_one(x) for x in queries]
        dense = [[proba.get(label, 0.0) for label in one.classes_] for proba in probas]
        assert many.predict_proba(queries).tolist() == dense
        assert many.predict(queries).tolist() == [one.predict_one(x) for x in queries]
        one._intake.waiting = Waiting(WAITING)


def test_no_rows_are_no_rows() -> None:
    classifier = taught()
    before = snapshot(classifier)
    assert classifier.predict(np.empty((0, 2))).shape == (0,)
    assert classifier.predict_proba(np.empty((0, 2))).shape == (0, 2)
    classifier.partial_fit(np.empty((0, 2)), [])
    assert snapshot(classifier) == before


# ---- The prediction that a row enters with -------------------------------------------------------


def spied(rows: int = 6, **options: Any) -> tuple[StreamClassifier, Spy]:
    spy = Spy()
    classifier = StreamClassifier(spy, budget=50, **options)
    for t in range(rows):
        classifier.learn_one([float(t)], t % 3)
    return classifier, spy


def test_a_row_that_was_not_predicted_is_predicted_first() -> None:
    classifier, spy = spied(3)
    assert len(spy.answers) == 2  # the first row met an empty context
    before = len(spy.answers)
    classifier.learn_one([9.0], 1)
    assert len(spy.answers) == before + 1
    assert spy.stored()[-1] == pytest.approx(entropy(spy.answers[-1]))


def test_an_equal_row_enters_with_its_last_prediction() -> None:
    classifier, spy = spied()
    classifier.predict_one([7.0])
    classifier.predict_one([8.0])
    classifier.predict_proba_one(np.array([7.0], np.float64))
    asked = len(spy.answers)
    classifier.learn_one((7,), 0)
    assert len(spy.answers) == asked
    assert spy.stored()[-1] == pytest.approx(entropy(spy.answers[-1]))
    classifier.learn_one([8], 0)
    assert len(spy.answers) == asked
    assert spy.stored()[-1] == pytest.approx(entropy(spy.answers[-2]))
    classifier.learn_one([7.0], 0)  # that prediction has been used
    assert len(spy.answers) == asked + 1


@pytest.mark.parametrize(
    ("asked", "learned"),
    [([0.0], [-0.0]), ([float("nan")], [float("nan")]), ([1 / 3], [np.float32(1 / 3)])],
)
def test_rows_are_equal_by_value(asked: list[float], learned: list[float]) -> None:
    classifier, spy = spied()
    classifier.predict_one(asked)
    before = len(spy.answers)
    classifier.learn_one(learned, 0)
    assert len(spy.answers) == before


def test_a_key_names_the_prediction() -> None:
    classifier, spy = spied()
    for key in ("first", "second", "third"):
        classifier.predict_one([4.0], key=key)
    answers = spy.answers[-3:]
    classifier.learn_one(y=1, key="second")
    classifier.learn_one([4.0], 1, key="first")
    classifier.learn_one(y=2, key="third")
    assert len(spy.answers) == 5 + 3
    expected = [entropy(answers[k]) for k in (1, 0, 2)]
    assert spy.stored()[-3:] == pytest.approx(expected)
    X, y = classifier._learner.contexts.X[0], classifier._learner.contexts.y[0]
    assert X[6:9].tolist() == [[4.0]] * 3
    assert y[6:9].tolist() == [1, 1, 2]
    with pytest.raises(BadInput, match="key 'second' was learned already"):
        classifier.learn_one(y=1, key="second")


def test_predictions_with_and_without_a_key_wait_apart() -> None:
    classifier, spy = spied()
    classifier.predict_one([4.0])
    classifier.predict_one([4.0], key=1)
    plain, keyed = spy.answers[-2:]
    classifier.learn_one([4.0], 0, key=1)
    classifier.learn_one([4.0], 0)
    assert spy.stored()[-2:] == pytest.approx([entropy(keyed), entropy(plain)])
    assert len(spy.answers) == 5 + 2


def test_a_key_under_which_nothing_waits_falls_back_to_the_row() -> None:
    classifier, spy = spied()
    classifier.predict_one([4.0])
    classifier.learn_one([4.0], 0, key="other")
    assert len(spy.answers) == 5 + 1
    assert spy.stored()[-1] == pytest.approx(entropy(spy.answers[-1]))


def test_with_a_key_the_row_that_comes_with_the_label_is_learned() -> None:
    classifier, spy = spied()
    classifier.predict_one([4.0], key=1)
    classifier.learn_one([5.0], 0, key=1)
    assert classifier._learner.contexts.X[0, 6].tolist() == [5.0]
    assert spy.stored()[-1] == pytest.approx(entropy(spy.answers[-1]))


def test_a_prediction_of_the_empty_context_scores_0() -> None:
    spy = Spy()
    classifier = StreamClassifier(spy)
    classifier.predict_one([1.0], key="k")
    for t in range(3):
        classifier.learn_one([float(t)], t)
    classifier.learn_one(y=0, key="k")
    assert spy.stored()[0] == spy.stored()[-1] == 0.0


def test_what_waits_is_bounded() -> None:
    classifier, _ = spied(waiting=3)
    for t in range(5):
        classifier.predict_one([100.0 + t], key=t)
        classifier.predict_one([100.0 + t])
    assert len(classifier._intake.waiting) == 6
    assert classifier.forgotten_ == 2
    with pytest.raises(BadInput, match="key 1 was forgotten: more than 3 waited"):
        classifier.learn_one(y=0, key=1)
    classifier.learn_one(y=0, key=2)
    with pytest.raises(BadInput, match="key 2 was learned already"):
        classifier.learn_one(y=0, key=2)
    with pytest.raises(BadInput, match=r"nothing was predicted under it \(or was forgotten"):
        classifier.learn_one(y=0, key=77)
    classifier.predict_one([102.0])  # asked again: the newest
    classifier.predict_one([200.0])
    row = np.array([102.0], np.float32)
    assert classifier._intake.waiting.score_of(row) is not None
    assert classifier._intake.waiting.score_of(row + 1) is None


@pytest.mark.parametrize("waiting", [0, -1, 2.5, "many", None])
def test_at_least_one_prediction_may_wait(waiting: Any) -> None:
    with pytest.raises(BadOption, match="waiting must be a whole number"):
        StreamClassifier(waiting=waiting)


@pytest.mark.parametrize("seed", ["1", 1.5, None, -1])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(BadOption, match="seed must be a whole number of at least 0"):
        StreamClassifier("knn", seed=seed)


def test_it_says_how_it_was_made() -> None:
    made = "StreamClassifier(backbone='knn', policy='fifo', budget=5, short_ratio=0.75, "
    made += "tau='auto:0.2', seed=0, waiting=10000, k=3)"
    assert repr(StreamClassifier("knn", "fifo", 5, tau="auto:0.2", k=3)) == made
    assert repr(eval(made)) == made


def test_a_prediction_under_the_same_key_replaces_the_one_before() -> None:
    classifier, spy = spied()
    classifier.predict_one([4.0], key="k")
    classifier.predict_one([5.0], key="k")
    classifier.learn_one(y=1, key="k")
    assert spy.stored()[-1] == pytest.approx(entropy(spy.answers[-1]))
    assert classifier._learner.contexts.X[0, 6].tolist() == [5.0]
    classifier.predict_one([6.0], key="k")  # a key may be used again
    classifier.learn_one(y=1, key="k")
    assert classifier._learner.contexts.X[0, 7].tolist() == [6.0]


# ---- Rows by feature name ------------------------------------------------------------------------


def test_keys_may_come_in_any_order() -> None:
    one, other = taught(), taught()
    for x in ({"u": 1.0, "v": 2.0}, {"v": 2.0, "u": 1.0}, [1.0, 2.0], np.array([1, 2])):
        one.learn_one(x, "odd")
        other.learn_one([1.0, 2.0], "odd")
    assert snapshot(one)[0] == snapshot(other)[0]
    assert one.predict_proba_one({"v": 0.5, "u": 3}) == one.predict_proba_one([3, 0.5])


def test_a_feature_that_is_absent_is_missing() -> None:
    classifier = taught()
    classifier.learn_one({"v": 2.0}, "odd")
    classifier.learn_one({}, "odd")
    classifier.learn_one({"u": None, "v": float("nan")}, "odd")
    contexts = classifier._learner.contexts
    rows = contexts.X[0, contexts.slots_of(0)][-3:]
    np.testing.assert_array_equal(rows, [[np.nan, 2.0], [np.nan, np.nan], [np.nan, np.nan]])


def test_rows_by_name_match_however_they_came() -> None:
    classifier = StreamClassifier()
    classifier.predict_one({"u": 1.0, "v": 2.0}, key="k")
    classifier.predict_one({"v": 5.0, "u": 6.0}, key="l")
    classifier.learn_one(y="a", key="l")
    classifier.learn_one(y="b", key="k")
    assert classifier._learner.contexts.X[0, :2].tolist() == [[5.0, 6.0], [2.0, 1.0]]
    assert classifier.predict_proba_one({"v": 1.0}).keys() == {"a", "b"}
    assert classifier.predict_proba_one({"w": 1.0}).keys() == {"a", "b"}


def test_a_feature_by_a_new_name_makes_the_rows_wider() -> None:
    classifier = StreamClassifier("knn", budget=6, short_ratio=0.5, tau=0.0)
    for t in range(5):
        classifier.learn_one({"u": t}, t % 2)
    before = classifier.predict_proba_one({"u": 3.0})
    assert classifier.predict_proba_one({"u": 3.0, "new": 9.0}) == before
    classifier.learn_one({"new": 9.0, "u": 3.0}, 1)
    contexts = classifier._learner.contexts
    rows = contexts.X[0, contexts.slots_of(0)]
    assert rows[-1].tolist() == [3.0, 9.0]
    assert np.isnan(rows[:-1, 1]).all()
    for t in range(20):  # the old rows leave; nothing is missing any more
        classifier.learn_one({"u": t, "new": -t}, t % 2)
    assert np.isfinite(contexts.X[0, contexts.slots_of(0)]).all()


def test_predicting_changes_nothing_but_what_waits() -> None:
    classifier = taught()
    encoder = classifier._intake.encoder.state()
    facts = {name: a.tobytes() for name, a in classifier._learner.contexts.facts().items()}
    classifier.predict_one({"u": 1.0, "v": 2.0, "w": "new", "x": 1.0}, key=1)
    classifier.predict_one({"y": True})
    assert classifier._intake.encoder.state() == encoder
    after = {name: a.tobytes() for name, a in classifier._learner.contexts.facts().items()}
    assert after == facts


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    policy=st.sampled_from(["cure", "cure_margin", "redundancy_only", "cure_global_nn"]),
)
def test_growing_rows_are_rows_that_missed_values_before(seed: int, policy: str) -> None:
    """Columns that come later, against the oracle that had them as NaN from the start."""
    rng = np.random.default_rng(seed)
    options: dict[str, Any] = {"policy": policy, "budget": 8, "short_ratio": 0.5, "tau": 0.4321}
    classifier, oracle = StreamClassifier(Voting(), **options), BruteForceContext(**options)
    for t in range(60):
        x = rng.normal(size=4).round(1).astype(np.float32)
        x[1:][(t < np.array([25, 25, 45])) | (rng.random(3) < 0.2)] = np.nan
        row = {f"f{k}": value for k, value in enumerate(x.tolist()) if value == value}
        proba, y = classifier.predict_proba_one(row), int(rng.integers(3))
        classifier.learn_one(row, y)
        oracle.observe(x, classifier._intake._codes[y], list(proba.values()) or None)
        contexts = classifier._learner.contexts
        assert contexts.arrival[0, contexts.slots_of(0)].tolist() == oracle.arrivals("all")


# ---- Errors change nothing -----------------------------------------------------------------------

INFINITE = float("inf")
BAD_ROWS: dict[str, Any] = {
    "infinity": [0.0, INFINITE],
    "infinity by name": {"u": -INFINITE, "v": 0.0},
    "too large for float32": [1e39, 0.0],
    "too short": [0.0],
    "too long": [0.0, 1.0, 2.0],
    "empty": [],
    "a number": 1.0,
    "words": ["a", "b"],
    "a word by name": {"u": "high", "v": 1.0},
    "text": "ab",
    "a set": {1.0, 2.0},
    "nothing that has a length": iter([1.0, 2.0]),
    "a date": {"u": date(2020, 1, 1), "v": 1.0},
    "an integer too large": [10**400, 1.0],
    "an integer too large by name": {"u": "high", "v": 10**400},
    "complex": [1j, 1.0],
    "a list by name": {"u": [1.0, 2.0], "v": 1.0},
    "two dimensions": [[0.0, 1.0]],
    "ragged": [[0.0], [1.0, 2.0]],
}
BAD_TABLES: dict[str, Any] = {
    "infinity in the last row": [[0.0, 1.0], [0.0, INFINITE]],
    "ragged": [[0.0, 1.0], [0.0]],
    "too wide": [[0.0, 1.0, 2.0]],
    "one row": [0.0, 1.0],
    "three dimensions": [[[0.0, 1.0]]],
    "words": [["a", "b"]],
    "nothing": None,
}


@pytest.mark.parametrize("why", BAD_ROWS)
@pytest.mark.parametrize("backbone", ["knn", Voting()], ids=["knn", "voting"])
def test_a_bad_row_changes_nothing(why: str, backbone: Any) -> None:
    classifier = taught(backbone)
    classifier.predict_one([1.0, 1.0], key="waits")
    before = snapshot(classifier)
    for call in (
        lambda x: classifier.learn_one(x, "odd"),
        lambda x: classifier.learn_one(x, "new label"),
        lambda x: classifier.learn_one(x, "odd", key="waits"),
        classifier.predict_one,
        classifier.predict_proba_one,
        lambda x: classifier.predict_one(x, key="waits"),
    ):
        with pytest.raises(BadInput):
            call(BAD_ROWS[why])
        assert snapshot(classifier) == before


@pytest.mark.parametrize("why", BAD_TABLES)
def test_a_bad_table_changes_nothing(why: str) -> None:
    classifier, table = taught(), BAD_TABLES[why]
    before = snapshot(classifier)
    for call in (
        classifier.predict,
        classifier.predict_proba,
        lambda X: classifier.partial_fit(X, ["odd"] * 2),
    ):
        with pytest.raises(BadInput):
            call(table)
        assert snapshot(classifier) == before


@pytest.mark.parametrize("label", [["a"], {"a": 1}, np.array([1, 2]), None, float("nan"), np.nan])
def test_a_bad_label_changes_nothing(label: Any) -> None:
    classifier = taught()
    classifier.predict_one([1.0, 1.0], key="waits")
    before = snapshot(classifier)
    with pytest.raises(BadInput, match="label"):
        classifier.learn_one([0.0, 1.0], label)
    with pytest.raises(BadInput, match="label"):
        classifier.learn_one(y=label, key="waits")
    with pytest.raises(BadInput, match="label"):
        classifier.partial_fit([[0.0, 1.0], [2.0, 3.0]], ["odd", label])
    assert snapshot(classifier) == before


def test_a_label_that_was_forgotten_is_an_error() -> None:
    with pytest.raises(BadInput, match="label is missing"):
        taught().learn_one([0.0, 1.0])


@pytest.mark.parametrize("labels", [[], ["odd"], ["odd"] * 3])
def test_as_many_labels_as_rows(labels: list[str]) -> None:
    classifier = taught()
    before = snapshot(classifier)
    with pytest.raises(BadInput, match=f"2 rows but {len(labels)} labels"):
        classifier.partial_fit([[0.0, 1.0], [2.0, 3.0]], labels)
    assert snapshot(classifier) == before


def test_no_row_and_no_key() -> None:
    classifier = taught()
    before = snapshot(classifier)
    with pytest.raises(BadInput, match="nothing to learn"):
        classifier.learn_one(y="odd")
    with pytest.raises(BadInput, match="no prediction waits under key 7"):
        classifier.learn_one(y="new", key=7)
    assert snapshot(classifier) == before


def test_a_bad_first_row_fixes_nothing() -> None:
    classifier = StreamClassifier()
    for x in ([0.0, INFINITE], {"u": INFINITE}, []):
        for call in (classifier.predict_one, lambda x: classifier.learn_one(x, "a")):
            with pytest.raises(BadInput):
                call(x)
    classifier.learn_one({"a": 1.0, "b": 2.0, "c": 3.0}, "a")
    assert classifier.predict_one({"c": 1.0}) == "a"


def test_names_do_not_follow_sequences() -> None:
    classifier = StreamClassifier()
    classifier.learn_one([1.0, 2.0], "a")
    with pytest.raises(BadInput, match="a dict cannot be matched"):
        classifier.predict_one({"u": 1.0, "v": 2.0})


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"budget": 1}, BadOption),
        ({"short_ratio": 0}, BadOption),
        ({"short_ratio": 1.0}, BadOption),
        ({"tau": 1.5}, BadOption),
        ({"k": 0}, BadOption),
        ({"neighbours": 1}, BadOption),
        ({"warm_fill": "no"}, BadOption),
        ({"policy": "cuer"}, UnknownName),
        ({"backbone": "nknn"}, UnknownName),
    ],
    ids=str,
)
def test_wrong_options(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        StreamClassifier(**options)


def test_nothing_outside_is_shared() -> None:
    one, other = taught(), taught()
    x: NDArray[np.float32] = np.array([1.0, 2.0], np.float32)
    one.predict_one(x, key="k")
    other.predict_one(x.copy(), key="k")
    one.classes_[0] = "changed"
    one.predict_proba_one(x).clear()
    other.predict_proba_one(x)
    x[:] = 0
    one.learn_one(y="odd", key="k")
    other.learn_one(y="odd", key="k")
    assert snapshot(one) == snapshot(other)


def test_a_copy_goes_its_own_way() -> None:
    one = taught()
    other = copy.deepcopy(one)
    before = snapshot(one)
    other.learn_one([3.0, 3.0], "new")
    assert snapshot(one) == before
    one.learn_one([3.0, 3.0], "new")
    assert snapshot(one) == snapshot(other)


def test_predictions_are_over_the_seams_type() -> None:
    prediction = Prediction(np.array([1, 3]), np.array([[0.5, 0.5], [0.25, 0.75]]))
    assert prediction.best().tolist() == [1, 3]
    assert prediction.dense(4).tolist() == [[0, 0.5, 0, 0.5], [0, 0.25, 0, 0.75]]


def test_the_examples_in_the_docstrings() -> None:
    assert doctest.testmod(millpond.classifier).failed == 0
