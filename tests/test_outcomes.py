"""The table of outcomes in docs/classifier.md: each kind of bad input, and its one outcome."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millpond import StreamClassifier
from millpond.errors import BadInput

PAGE = Path(__file__).parents[1] / "docs" / "classifier.md"
NAN, INFINITY = float("nan"), float("inf")


def taught(**options: Any) -> StreamClassifier:
    """Two numbers and a category by name, two classes; one prediction waits under "waits"."""
    classifier = StreamClassifier(budget=10, short_ratio=0.5, tau=0.4, waiting=4, **options)
    for t in range(14):
        classifier.learn_one({"u": t % 5, "v": -t, "kind": "ab"[t % 2]}, "yx"[t % 2])
    classifier.predict_one({"u": 1.0, "v": 1.0}, key="waits")
    return classifier


REFUSED: dict[str, tuple[Any, str]] = {
    "infinity": ({"u": 1.0, "v": INFINITY}, "feature 'v' is inf"),
    "beyond float32": ({"u": -1e39}, r"feature 'u' is -1e\+39"),
    "too long": ([1.0, 2.0, "a", 3.0], "4 features, the rows before it had 3"),
    "too short": ([1.0, 2.0], "2 features, the rows before it had 3"),
    "text among numbers": ({"v": "high"}, "feature 'v' is 'high'"),
    "list": ({"kind": ["a"]}, "feature 'kind' is a list"),
    "date": ({"new": date(2020, 1, 1)}, "feature 'new' is a date"),
    "no row": (3.0, "a row must be"),
    "text as row": ("abc", "a row must be"),
    "empty": ([], "at least one feature"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refused(why: str) -> None:
    classifier = taught()
    x, message = REFUSED[why]
    before = classifier.fingerprint()
    for call in (
        lambda: classifier.predict_one(x),
        lambda: classifier.predict_proba_one(x, key="waits"),
        lambda: classifier.learn_one(x, "y"),
        lambda: classifier.learn_one(x, "new label"),
        lambda: classifier.learn_one(x, "y", key="waits"),
        lambda: classifier.partial_fit([{"u": 1.0}, x], ["y", "new label"]),
        lambda: classifier.predict([{"u": 1.0}, x]),
        lambda: classifier.predict_proba([x]),
    ):
        with pytest.raises(BadInput, match=message):
            call()
        assert classifier.fingerprint() == before


TABLES: dict[str, tuple[Any, Any]] = {
    "nothing": (None, []),
    "a dict": ({"u": [1.0]}, ["y"]),
    "text": ("ab", ["y", "y"]),
    "one dimension": (np.zeros(3), ["y"] * 3),
    "three dimensions": (np.zeros((1, 1, 3)), ["y"]),
    "no columns": (np.zeros((2, 0)), ["y"] * 2),
    "too few labels": ([{"u": 1.0}] * 3, ["new label"] * 2),
    "too many labels": ([{"u": 1.0}], ["y", "new label"]),
    "no labels": ([{"u": 1.0}], None),
    "the kind changes": ([{"new": 1.0}, {"new": "a"}], ["y", "y"]),
}


@pytest.mark.parametrize("why", TABLES)
def test_refused_tables(why: str) -> None:
    classifier = taught()
    X, y = TABLES[why]
    before = classifier.fingerprint()
    with pytest.raises(BadInput):
        classifier.partial_fit(X, y)
    assert classifier.fingerprint() == before


@pytest.mark.parametrize("label", [None, NAN, np.float32("nan"), np.datetime64("NaT"), ["a"], {}])
def test_refused_labels(label: Any) -> None:
    classifier = taught()
    before = classifier.fingerprint()
    for call in (
        lambda: classifier.learn_one({"u": 1.0}, label),
        lambda: classifier.learn_one(y=label, key="waits"),
        lambda: classifier.partial_fit([{"u": 1.0}, {"u": 2.0}], ["new label", label]),
    ):
        with pytest.raises(BadInput, match="label"):
            call()
        assert classifier.fingerprint() == before


TAKEN: dict[str, list[Any]] = {
    "all missing": [{"u": None, "v": NAN, "kind": None}, [None, NAN, None]],
    "empty dict": [{}],
    "missing column": [{"u": 1.0, "empty": None}, {"u": 2.0, "empty": NAN}],
    "constant column": [{"u": t, "constant": 1e9} for t in range(12)],
    "unseen category": [{"kind": "c"}, {"kind": "d", "u": 1}],
    "new feature": [{"u": 1.0, "w": 2.0}, {"w": 3, "z": "text"}],
    "gone feature": [{"u": float(t)} for t in range(12)],
    "number among text": [{"kind": 5}, {"kind": True}],
}


@pytest.mark.parametrize("why", TAKEN)
def test_taken(why: str) -> None:
    classifier = taught()
    for x in TAKEN[why]:
        before = classifier.predict_proba_one(x)
        assert sum(before.values()) == pytest.approx(1)
        classifier.learn_one(x, "x")
        assert classifier.predict_one(x) in {"x", "y"}
    assert classifier.fingerprint() != taught().fingerprint()


def test_missing_values_are_taken() -> None:
    one, other = taught(), taught()
    for classifier, missing in ((one, None), (other, NAN)):
        classifier.learn_one({"u": missing, "v": 1.0, "kind": missing}, "x")
    assert one.fingerprint() == other.fingerprint()
    assert np.isnan(one._learner.contexts.X).any()


def test_order_of_names_is_no_matter() -> None:
    one, other = taught(), taught()
    one.learn_one({"u": 1.0, "v": 2.0, "kind": "a"}, "x")
    other.learn_one({"kind": "a", "v": 2.0, "u": 1.0}, "x")
    assert one.fingerprint() == other.fingerprint()


def test_types_of_numbers_do_not_matter() -> None:
    found = set()
    for kind in (int, float, np.int8, np.uint64, np.float16, np.float64, np.float32):
        classifier = taught()
        classifier.learn_one({"u": kind(1), "v": kind(2)}, "x")
        found.add(classifier.fingerprint())
    assert len(found) == 1


def test_a_dict_after_sequences() -> None:
    classifier = StreamClassifier()
    classifier.learn_one([1.0, 2.0], "a")
    before = classifier.fingerprint()
    with pytest.raises(BadInput, match="a dict cannot be matched"):
        classifier.learn_one({"u": 1.0, "v": 2.0}, "a")
    assert classifier.fingerprint() == before


def test_one_class() -> None:
    classifier = StreamClassifier()
    classifier.partial_fit([[1.0], [2.0]], ["only", "only"])
    assert classifier.predict_proba_one([3.0]) == {"only": 1.0}
    assert classifier.predict([[3.0]]).tolist() == ["only"]


def test_a_hundred_classes() -> None:
    classifier = StreamClassifier(budget=250)
    for t in range(200):
        classifier.learn_one([float(t % 100)], f"class {t % 100}")
        assert len(classifier.predict_proba_one([0.0])) == min(t + 1, 100)
    assert classifier.predict_proba([[0.0]]).shape == (1, 100)
    near = StreamClassifier("knn", budget=250, k=1)
    near.partial_fit([[float(t)] for t in range(100)], range(100))
    assert near.predict([[float(t)] for t in range(100)]).tolist() == list(range(100))


def test_an_empty_chunk() -> None:
    classifier = taught()
    before = classifier.fingerprint()
    for nothing in ([], np.empty((0, 3)), np.empty((0, 3), object)):
        classifier.partial_fit(nothing, [])
        assert classifier.predict(nothing).shape == (0,)
        assert classifier.predict_proba(nothing).shape == (0, 2)
    assert classifier.fingerprint() == before


def test_questions_before_labels() -> None:
    classifier = StreamClassifier()
    before = classifier.fingerprint()
    with pytest.raises(BadInput, match="nothing has been learned yet"):
        classifier.predict([[1.0]])
    assert classifier.predict_proba([[1.0]]).shape == (1, 0)
    assert classifier.fingerprint() == before
    assert classifier.predict_one([1.0]) is None
    assert classifier.predict_proba_one([1.0]) == {}


def test_a_label_before_its_query() -> None:
    one, other = taught(), taught()
    one.learn_one({"u": 3.0}, "x")
    other.predict_one({"u": 3.0})
    other.learn_one({"u": 3.0}, "x")
    assert one.fingerprint() == other.fingerprint()


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("learned", "the label of key 'learned' was learned already"),
        ("forgotten", "under key 'forgotten' was forgotten: more than 4 waited"),
        ("never asked", "nothing was predicted under it"),
    ],
)
def test_keys_that_do_not_wait(key: str, why: str) -> None:
    classifier = taught()
    for name in ("learned", "forgotten", 1, 2, 3):
        classifier.predict_one({"u": 1.0}, key=name)
        if name == "learned":
            classifier.learn_one(y="x", key=name)
    classifier.predict_one({"u": 1.0}, key=4)
    before = classifier.fingerprint()
    with pytest.raises(BadInput, match=why):
        classifier.learn_one(y="new label", key=key)
    assert classifier.fingerprint() == before
    classifier.learn_one({"u": 1.0}, "x", key=key)
    assert classifier.fingerprint() != before


def test_labels_out_of_order() -> None:
    classifier = taught()
    for t in range(3):
        classifier.predict_one({"u": float(t)}, key=t)
    for t in (2, 0, 1):
        classifier.learn_one(y="x", key=t)
    contexts = classifier._learner.contexts
    assert contexts.X[0, contexts.slots_of(0, "short")][-3:, 0].tolist() == [2.0, 0.0, 1.0]


def test_keys_that_are_none() -> None:
    classifier = taught()
    before = classifier.fingerprint()
    for call in (
        lambda: classifier.predict_one({"u": 1.0}, key=[1]),
        lambda: classifier.learn_one({"u": 1.0}, "x", key=[1]),
        lambda: classifier.learn_one(y="x"),
    ):
        with pytest.raises(BadInput):
            call()
        assert classifier.fingerprint() == before


def test_a_key_asked_twice() -> None:
    classifier = taught()
    classifier.predict_one({"u": 7.0}, key="waits")
    classifier.learn_one(y="x", key="waits")
    contexts = classifier._learner.contexts
    assert contexts.X[0, contexts.slots_of(0)][-1, 0] == 7.0


def test_the_table_names_tests_that_are_there() -> None:
    """Each row of the table ends with its tests; each test of this file is in the table."""
    source, page = Path(__file__).read_text(), PAGE.read_text()
    table = page[page.index("| input | its one outcome | test |") :].splitlines()[2:]
    table = table[: table.index("")]
    assert all(line.rstrip(" |").endswith("`") for line in table)
    for file, name in re.findall(r"`(test_\w+\.py)::(test_\w+)`", "\n".join(table)):
        (path,) = Path(__file__).parent.rglob(file)
        assert f"def {name}(" in path.read_text(), f"{file} has no {name}"
    named = {name for line in table for name in re.findall(r"`(test_\w+)[`\[]", line)}
    there = set(re.findall(r"^def (test_\w+)", source, re.MULTILINE))
    assert named | {"test_the_table_names_tests_that_are_there"} == there
    ids = {name for line in table for name in re.findall(r"\[([a-z0-9 ]+)\]", line)}
    assert ids - {*REFUSED, *TAKEN} == {"learned", "forgotten", "never asked"}
    assert {*REFUSED, *TAKEN} <= ids
