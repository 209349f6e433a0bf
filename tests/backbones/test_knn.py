"""The knn backbone against exact fractions and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from millpond import StreamClassifier
from millpond.backbones import Prediction, get_backbone
from millpond.backbones.knn import KNN
from millpond.context import Contexts
from millpond.errors import BadOption, UnknownName
from slow_loop import exact_vote


def asked(X: Any, y: Any, queries: Any, **options: Any) -> Prediction:
    """What knn says of some queries when its context holds these rows, oldest first."""
    X, queries = (np.asarray(rows, dtype=np.float32) for rows in (X, queries))
    contexts = Contexts(1, policy="fifo", budget=max(len(X), 2))
    session = KNN(**options).open(contexts)
    for x, label in zip(X, y, strict=True):
        session.update(contexts.observe(x[None], np.array([label]), np.zeros(1), (0,)))
    (prediction,) = session.predict(queries[None], np.array([0]))
    return prediction


def votes(prediction: Prediction, y: Any, k: int) -> NDArray[np.float64]:
    """(queries, classes) whole votes: the probabilities less the shared vote."""
    share = np.array([np.mean(np.asarray(y) == c) for c in prediction.classes])
    return prediction.proba * (min(k, len(y)) + 1) - share


@pytest.mark.parametrize("k", [1, 3, 10, 40, 500])
@pytest.mark.parametrize("classes", [2, 5])
def test_votes_are_scikit_learns_on_data_without_ties(k: int, classes: int) -> None:
    rng = np.random.default_rng(k)
    X = (rng.normal(size=(200, 6)) * [1, 100, 1e-3, 1, 1, 5] + [0, 1e4, 0, 0, -3, 0]).astype("f4")
    y = rng.integers(0, classes, 200) * 3
    queries = X[rng.integers(0, 200, 50)] + rng.normal(size=(50, 6)).astype("f4") * 0.1
    scaler = StandardScaler().fit(X.astype(float))
    theirs = KNeighborsClassifier(min(k, 200), algorithm="brute").fit(scaler.transform(X), y)
    prediction = asked(X, y, queries, k=k)
    np.testing.assert_array_equal(prediction.classes, theirs.classes_)
    expected = theirs.predict_proba(scaler.transform(queries)) * min(k, 200)
    np.testing.assert_allclose(votes(prediction, y, k), expected, atol=1e-9)


values = st.one_of(
    st.integers(-2, 2).map(float), st.sampled_from([float("nan"), 0.1, 1000.0, 1001.0])
)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), n=st.integers(1, 14), d=st.integers(1, 4), k=st.integers(1, 6))
def test_probabilities_are_those_of_exact_arithmetic(
    data: st.DataObject, n: int, d: int, k: int
) -> None:
    """On grids full of ties, with missing values and constant columns."""
    row = st.lists(values, min_size=d, max_size=d)
    X = np.array(data.draw(st.lists(row, min_size=n, max_size=n)), dtype=np.float32)
    y = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    queries = np.array(data.draw(st.lists(row, min_size=1, max_size=3)), dtype=np.float32)
    prediction = asked(X, y, queries, k=k)
    for query, proba in zip(queries, prediction.proba, strict=True):
        expected = exact_vote(X, y, query, k)
        assert prediction.classes.tolist() == list(expected)
        assert proba.tolist() == pytest.approx(list(expected.values()), abs=1e-12)


def test_the_newest_of_tied_rows_vote() -> None:
    prediction = asked([[0.0], [1], [-1], [1], [-1], [3]], [0, 1, 1, 2, 3, 0], [[0.0]], k=3)
    assert votes(prediction, [0, 1, 1, 2, 3, 0], 3)[0] == pytest.approx([1, 0, 1, 1])


def test_no_rounding_decides_between_tied_rows() -> None:
    """Columns that hold nothing change the sums' rounding, not the votes."""
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 4, (60, 7)) * 0.1).astype(np.float32)
    y, queries = rng.integers(0, 3, 60), (rng.integers(0, 4, (40, 7)) * 0.1).astype(np.float32)
    alone = asked(X, y, queries)
    for padding in (1, 4, 9, 30):
        padded = [np.pad(rows, ((0, 0), (0, padding))) for rows in (X, queries)]
        np.testing.assert_array_equal(asked(padded[0], y, padded[1]).proba, alone.proba)


def test_scale_and_offset_of_a_column_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(-50, 50, (80, 3)).astype(np.float32)
    y, queries = rng.integers(0, 2, 80), rng.integers(-50, 50, (30, 3)).astype(np.float32)
    plain = asked(X, y, queries)
    moved = [rows * np.float32([1024, 0.5, 1]) + np.float32([0, 512, 0]) for rows in (X, queries)]
    np.testing.assert_allclose(asked(moved[0], y, moved[1]).proba, plain.proba)


@pytest.mark.parametrize("constant", [0.0, 0.1, 16_777_216.0, -3e38, float("nan")])
def test_a_constant_column_says_nothing_even_when_the_query_leaves_it(constant: float) -> None:
    X = [[constant, 0.0], [constant, 1], [constant, 2], [constant, 3]] * 25
    y = [0, 0, 1, 1] * 25
    for query in (constant, 0.0, 1e6, float("nan")):
        prediction = asked(X, y, [[query, 0.2]], k=5)
        assert votes(prediction, y, 5)[0] == pytest.approx([5, 0])


def test_a_missing_value_stands_at_the_mean() -> None:
    X = [[0.0, 0], [10, 0], [np.nan, 1], [0, 1], [10, 1]]
    prediction = asked(X, [0, 0, 1, 2, 2], [[5.0, 1], [np.nan, 1]], k=1)
    assert prediction.best().tolist() == [1, 1]


def test_every_class_in_the_context_has_some_probability_and_all_sum_to_one() -> None:
    rng = np.random.default_rng(2)
    y = np.r_[np.zeros(90, int), [1] * 9, [7]]
    prediction = asked(rng.normal(size=(100, 2)), y, rng.normal(size=(20, 2)))
    assert prediction.classes.tolist() == [0, 1, 7]
    assert (prediction.proba > 0).all()
    np.testing.assert_allclose(prediction.proba.sum(axis=1), 1.0)


def test_an_empty_context_and_one_class() -> None:
    contexts = Contexts(1, policy="fifo", budget=4)
    session = KNN().open(contexts)
    (prediction,) = session.predict(np.zeros((1, 3, 2), np.float32), np.array([0]))
    assert (prediction.classes.tolist(), prediction.proba.shape) == ([], (3, 0))
    one = asked([[1.0], [2.0]], [5, 5], [[0.0], [9.0]])
    assert (one.classes.tolist(), one.proba.tolist()) == ([5], [[1.0], [1.0]])


@pytest.mark.parametrize("k", [0, -1, 2.0, "3", None, True])
def test_k_must_be_a_whole_number(k: Any) -> None:
    with pytest.raises(BadOption, match="k must be"):
        KNN(k=k)


def test_backbones_by_name() -> None:
    assert get_backbone("knn", k=3).k == 3  # type: ignore[attr-defined]
    own = KNN(k=4)
    assert get_backbone(own) is own
    with pytest.raises(BadOption, match="instance"):
        get_backbone(own, k=3)
    with pytest.raises(UnknownName, match="did you mean knn"):
        get_backbone("kn")
    with pytest.raises(BadOption, match="no option 'neighbours'; it takes k"):
        get_backbone("knn", neighbours=3)
    with pytest.raises(BadOption, match="no option 'neighbours'"):
        StreamClassifier(backbone="knn", neighbours=3)
