"""Streaming metrics against scikit-learn and brute force on the full arrays."""

from __future__ import annotations

import doctest
import io
import math
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import metrics as sk

from millpond.errors import BadInput, BadOption, CheckpointError
from millpond.evaluate.metrics import BINS, PrequentialMetrics

Rows = tuple[NDArray, NDArray, NDArray, NDArray]  # y, pred, proba, previous


def brute_force(y: NDArray, pred: NDArray, proba: NDArray, previous: NDArray) -> dict[str, float]:
    """Every metric from the full arrays, by scikit-learn or by the definitions in the docs."""
    n, labels = len(y), np.arange(proba.shape[1])
    accuracy = sk.accuracy_score(y, pred)
    most = max(np.mean(y == c) for c in labels)
    repeats = np.mean([a == b for a, b in zip(y, previous, strict=True)])
    ece = 0.0
    for b in range(BINS):
        inside = [
            t
            for t in range(n)
            if (b / BINS < max(proba[t]) <= (b + 1) / BINS) or (b == 0 and max(proba[t]) == 0)
        ]
        if inside:
            gap = np.mean(y[inside] == pred[inside]) - np.mean(proba[inside].max(axis=1))
            ece += len(inside) / n * abs(gap)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes only predicted; one class in all
        return {
            "accuracy": accuracy,
            "balanced_accuracy": sk.balanced_accuracy_score(y, pred),
            "macro_f1": sk.f1_score(y, pred, average="macro", zero_division=0),
            "kappa": sk.cohen_kappa_score(y, pred),
            "kappa_m": (accuracy - most) / (1 - most) if most < 1 else math.nan,
            "kappa_t": (accuracy - repeats) / (1 - repeats) if repeats < 1 else math.nan,
            "log_loss": sk.log_loss(y, proba, labels=labels),
            "brier": sk.brier_score_loss(y, proba, labels=labels, scale_by_half=False),
            "ece": ece,
            "n": n,
        }


@st.composite
def streams(draw: st.DrawFn, most: int = 40) -> Rows:
    """Short streams: few or absent classes, certain predictions, confidences on bin edges."""
    n_classes = draw(st.integers(2, 6))
    codes = st.integers(0, draw(st.integers(0, n_classes - 1)))
    # Weights that sum to 15 or 30 put confidences on the bins' edges; zeros make certain misses.
    weights = st.one_of(
        st.lists(st.integers(0, 15), min_size=n_classes, max_size=n_classes).filter(any),
        st.integers(0, 15).map(lambda w: [w, 15 - w] + [0] * (n_classes - 2)),
    )
    rows = draw(st.lists(st.tuples(codes, codes, weights), min_size=1, max_size=most))
    y, pred = (np.array(column) for column in list(zip(*rows, strict=True))[:2])
    weight = np.array([row[2] for row in rows], float)
    first = draw(st.integers(-1, n_classes - 1))
    return y, pred, weight / weight.sum(axis=1, keepdims=True), np.concatenate([[first], y[:-1]])


def count(metrics: PrequentialMetrics, rows: Rows, start: int = 0) -> PrequentialMetrics:
    """Count the rows from `start` on, one by one."""
    for y, pred, proba, previous in list(zip(*rows, strict=True))[start:]:
        metrics.update(int(y), int(pred), proba, int(previous))
    return metrics


def new(rows: Rows, window: int = 7) -> PrequentialMetrics:
    return PrequentialMetrics(rows[2].shape[1], window)


def assert_same_state(a: PrequentialMetrics, b: PrequentialMetrics) -> None:
    one, other = a.state(), b.state()
    assert one.keys() == other.keys()
    for name, array in one.items():
        assert array.dtype == other[name].dtype
        assert array.tobytes() == other[name].tobytes(), name


def close(expected: dict[str, float]) -> object:
    return pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


@given(streams(), st.integers(1, 50))
def test_every_metric_equals_the_oracle_over_all_rows_and_over_the_window(
    rows: Rows, window: int
) -> None:
    metrics = count(new(rows, window), rows)
    assert metrics.cumulative() == close(brute_force(*rows))
    last = tuple(column[-window:] for column in rows)
    assert metrics.windowed() == close(brute_force(*last))
    assert metrics.accuracy == metrics.cumulative()["accuracy"]
    assert metrics.window_accuracy == metrics.windowed()["accuracy"]


@given(streams(), st.integers(1, 12), st.data())
def test_chunks_count_the_same_as_rows(rows: Rows, window: int, data: st.DataObject) -> None:
    one_by_one, in_chunks = count(new(rows, window), rows), new(rows, window)
    start = 0
    while start < len(rows[0]):
        stop = start + data.draw(st.integers(0, 20))
        in_chunks.update_many(*(column[start:stop] for column in rows))
        start = stop
    for name, array in one_by_one.state().items():
        other = in_chunks.state()[name]
        if name == "sums":  # totals and what rounding took from them
            array, other = array.sum(axis=1), other.sum(axis=1)
        if array.dtype.kind == "f":
            np.testing.assert_allclose(array, other, rtol=1e-13, atol=1e-13)
        else:
            np.testing.assert_array_equal(array, other)
    assert in_chunks.cumulative() == close(one_by_one.cumulative())
    assert in_chunks.windowed() == close(one_by_one.windowed())


@given(streams())
def test_confusion_and_reliability_equal_a_count_by_hand(rows: Rows) -> None:
    y, pred, proba, _ = rows
    metrics = count(new(rows), rows)
    expected = sk.confusion_matrix(y, pred, labels=np.arange(proba.shape[1]))
    assert metrics.confusion.tolist() == expected.tolist()
    diagram = metrics.reliability()
    assert [b["low"] for b in diagram[1:]] == [b["high"] for b in diagram[:-1]]
    assert (diagram[0]["low"], diagram[-1]["high"]) == (0.0, 1.0)
    confidence = proba.max(axis=1)
    for b in diagram:
        inside = (b["low"] < confidence) & (confidence <= b["high"])
        assert b["n"] == inside.sum()
        if inside.any():
            assert b["confidence"] == pytest.approx(confidence[inside].mean(), rel=1e-12)
            assert b["accuracy"] == pytest.approx(np.mean(y[inside] == pred[inside]), rel=1e-12)
        else:
            assert math.isnan(b["confidence"])
            assert math.isnan(b["accuracy"])


@given(streams(), st.integers(1, 12), st.integers(0, 40))
def test_a_restored_state_continues_to_the_bit(rows: Rows, window: int, cut: int) -> None:
    whole = count(new(rows, window), rows)
    first = count(new(rows, window), tuple(column[:cut] for column in rows))
    file = io.BytesIO()
    np.savez(file, **first.state())
    file.seek(0)
    second = PrequentialMetrics(n_classes=1, window=window)
    second.restore(dict(np.load(file, allow_pickle=False)))
    assert_same_state(count(second, rows, start=cut), whole)
    assert repr(second.cumulative()) == repr(whole.cumulative())
    assert repr(second.windowed()) == repr(whole.windowed())


def test_a_state_is_a_copy() -> None:
    metrics = PrequentialMetrics(2, window=3)
    metrics.update(0, 1, np.array([0.4, 0.6]), -1)
    before = metrics.state()
    other = PrequentialMetrics(2, window=3)
    other.restore(before)
    other.update(1, 1, np.array([0.4, 0.6]), 0)
    other.confusion[0, 0] = 99
    assert before["counts"].tolist() == [1, 0]
    assert before["ring_truth"].tolist() == [0, 0, 0]
    assert other.confusion.tolist() == [[0, 1], [0, 1]]


@given(streams(), st.data())
def test_classes_that_turn_up_late_change_nothing_else(rows: Rows, data: st.DataObject) -> None:
    known_before = count(new(rows), rows)
    grown, n_classes = PrequentialMetrics(1, window=7), 1
    for y, pred, proba, previous in zip(*rows, strict=True):
        needed = max(int(y), int(pred), int(np.flatnonzero(proba)[-1])) + 1
        n_classes = max(n_classes, data.draw(st.integers(needed, len(proba))))
        grown.grow(n_classes)
        grown.update(int(y), int(pred), proba[:n_classes], int(previous))
    grown.grow(rows[2].shape[1])
    grown.grow(1)  # never smaller
    assert grown.confusion.tolist() == known_before.confusion.tolist()
    assert grown.cumulative() == close(known_before.cumulative())
    assert grown.windowed() == close(known_before.windowed())


def test_float_sums_do_not_drift() -> None:
    n = 100_000
    losses = []
    naive = 0.0
    metrics = PrequentialMetrics(2, window=5)
    for p in np.random.default_rng(0).uniform(0.5, 0.6, n).tolist():
        metrics.update(0, 0, np.array([p, 1 - p]), 0)
        losses.append(-math.log(p))
        naive += losses[-1]
    exact = sum(map(Fraction, losses))
    assert naive / n != float(exact / n)  # else this test would show nothing
    assert metrics.cumulative()["log_loss"] == float(exact) / n
    # The ring has been written over 20,000 times; its sums are of its five rows alone.
    assert metrics.windowed()["log_loss"] == pytest.approx(math.fsum(losses[-5:]) / 5, rel=1e-15)


def test_a_huge_sum_still_takes_small_losses() -> None:
    metrics = PrequentialMetrics(2, window=1)
    state = metrics.state()
    state["sums"][0] = (2.0**53, 0.0)  # adding 1 to it is lost in a float64
    metrics.restore(state)
    p = math.exp(-1)
    for _ in range(10):
        metrics.update(0, 0, np.array([p, 1 - p]), -1)
    assert metrics.cumulative()["log_loss"] == math.fsum([2.0**53, *[-math.log(p)] * 10]) / 10


def test_a_large_loss_does_not_swallow_the_small_ones_before_it() -> None:
    metrics = PrequentialMetrics(2, window=1)
    certain, losses = np.array([1.0, 0.0]), []
    for y in [0] * 14 + [1] + [0] * 14:  # 14 rows at 2**-52: half of the last bit of 36.04
        metrics.update(y, 0, certain, -1)
        losses += metrics.state()["ring_loss"].tolist()
    assert sum(losses) != math.fsum(losses)
    assert metrics.state()["sums"][0].sum() == math.fsum(losses)


def test_a_class_absent_from_the_context_costs_36_nats() -> None:
    metrics = PrequentialMetrics(2)
    metrics.update(1, 0, np.array([1.0, 0.0]), 0)
    assert metrics.cumulative()["log_loss"] == pytest.approx(36.0437, abs=1e-4)
    metrics.update(0, 0, np.array([1.0, 0.0], np.float32), 1)
    assert metrics.windowed()["log_loss"] == pytest.approx(36.0437 / 2, abs=1e-4)


def test_what_is_undefined_is_nan() -> None:
    def undefined(metrics: PrequentialMetrics) -> set[str]:
        now = metrics.cumulative()
        assert repr(now) == repr(metrics.windowed())
        return {name for name, value in now.items() if math.isnan(value)}

    metrics = PrequentialMetrics(2)
    assert undefined(metrics) == set(metrics.cumulative()) - {"n"}
    assert math.isnan(metrics.accuracy)
    metrics.update(1, 1, np.array([0.0, 1.0]), 1)
    assert undefined(metrics) == {"kappa", "kappa_m", "kappa_t"}
    metrics.update(1, 0, np.array([1.0, 0.0]), 1)
    assert undefined(metrics) == {"kappa_m", "kappa_t"}
    metrics.update(1, 1, np.array([0.0, 1.0]), -1)
    assert undefined(metrics) == {"kappa_m"}
    metrics.update(0, 1, np.array([0.0, 1.0]), 1)
    assert undefined(metrics) == set()


BAD_ROWS = {
    "a class that is not known": (2, 0, [0.5, 0.5], 0),
    "a negative class": (-1, 0, [0.5, 0.5], 0),
    "no prediction": (0, -1, [0.5, 0.5], 0),
    "a prediction beyond the classes": (0, 2, [0.5, 0.5], 0),
    "too few probabilities": (0, 0, [1.0], 0),
    "too many probabilities": (0, 0, [0.5, 0.5, 0.0], 0),
    "NaN": (0, 0, [math.nan, 0.5], 0),
    "infinity": (0, 0, [math.inf, 0.5], 0),
    "a negative probability": (0, 0, [1.0, -0.1], 0),
    "more than 1": (0, 0, [1.1, 0.0], 0),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_a_bad_row_is_refused_and_changes_nothing(case: str) -> None:
    y, pred, proba, previous = BAD_ROWS[case]
    metrics, untouched = PrequentialMetrics(2, window=4), PrequentialMetrics(2, window=4)
    good = (0, 1, np.array([0.25, 0.75]), 1)
    metrics.update(*good)
    untouched.update(*good)
    with pytest.raises(BadInput):
        metrics.update(y, pred, np.array(proba), previous)
    chunk = (np.array([0, y]), np.array([0, pred]), np.array([proba, proba]), np.array([0, 0]))
    chunk[2][0] = 1 / len(proba)  # a good row before the bad one
    with pytest.raises(BadInput):
        metrics.update_many(*chunk)
    assert_same_state(metrics, untouched)


def test_chunks_of_unequal_lengths_or_fractional_classes_are_refused() -> None:
    metrics = PrequentialMetrics(2)
    half = np.full((2, 2), 0.5)
    with pytest.raises(BadInput, match="one length"):
        metrics.update_many(np.array([0, 1]), np.array([0]), half, np.array([0, 0]))
    with pytest.raises(BadInput, match="integer"):
        metrics.update_many(np.array([0.0, 1.5]), np.array([0, 1]), half, np.array([0, 0]))
    assert metrics.n == 0


def test_options_outside_their_range() -> None:
    with pytest.raises(BadOption, match="n_classes"):
        PrequentialMetrics(0)
    with pytest.raises(BadOption, match="window"):
        PrequentialMetrics(2, window=0)


def test_a_state_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    metrics = PrequentialMetrics(3, window=5)
    metrics.update(2, 1, np.array([0.25, 0.5, 0.25]), 1)
    before = metrics.state()
    with pytest.raises(CheckpointError, match="another window"):
        metrics.restore(PrequentialMetrics(3, window=6).state())
    for name in before:
        damaged = dict(before)
        del damaged[name]
        with pytest.raises(CheckpointError, match="nothing"):
            metrics.restore(damaged)
        damaged[name] = before[name][:0]
        with pytest.raises(CheckpointError):
            metrics.restore(damaged)
    for name, array in before.items():
        assert array.tobytes() == metrics.state()[name].tobytes()


def test_the_examples_in_the_docs() -> None:
    docs = Path(__file__).parents[2] / "docs" / "metrics.md"
    tried = doctest.testfile(str(docs), module_relative=False)
    assert tried.failed == 0
    assert tried.attempted > 10
