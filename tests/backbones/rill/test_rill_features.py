"""Column features against their definition, one column and one value at a time."""

from __future__ import annotations

import numpy as np
import pytest
from rill_slowly import SlowFeatures

from millpond.backbones.rill.features import (
    CHANNELS,
    REFERENCE,
    TRAINED_ORDER,
    Columns,
    enters_reference,
)
from millpond.backbones.rill.lanes import Lanes

ONE = Lanes(np.array([0]))


def stream(rows: int, seed: int = 0) -> np.ndarray:
    """Normal, drifting and large, tied, mostly missing, constant, infinite at times, late to vary."""
    rng = np.random.default_rng(seed)
    t = np.arange(rows)
    X = rng.standard_normal((rows, 7)).astype(np.float32)
    X[:, 1] = X[:, 1] * 1e30 + t * 1e28
    X[:, 2] = np.round(X[:, 2])
    X[rng.random(rows) < 0.7, 3] = np.nan
    X[:, 4] = 3.25
    X[rng.random(rows) < 0.1, 5] = np.inf
    X[rng.random(rows) < 0.1, 5] = -np.inf
    X[: rows // 2, 6] = 0.0
    return X


def in_trained_order(channels: np.ndarray) -> np.ndarray:
    """(n, k, CHANNELS, F) -> (n, k, F, CHANNELS)"""
    out = np.empty_like(channels)
    out[:, :, TRAINED_ORDER] = channels
    return out.swapaxes(2, 3)


# 700 rows turn the ring over; 4,400 reach the window and so exponential forgetting.
@pytest.mark.parametrize(("rows", "checked"), [(700, 1), (4400, 40)])
def test_features_are_those_of_the_definition(rows: int, checked: int) -> None:
    X = stream(rows)
    columns, slow = Columns(1, X.shape[1]), SlowFeatures(X.shape[1])
    for t, row in enumerate(X):
        if t % checked == 0:
            want = slow.channels(row)
            got = in_trained_order(columns.channels(row[None, None], ONE))[0, 0]
            np.testing.assert_allclose(got, want, atol=2e-5)
            assert np.isfinite(got).all()
        columns.learn(row[None], ONE)
        slow.learn(row)


def test_asking_changes_nothing_and_many_rows_are_asked_as_one() -> None:
    X = stream(300)
    columns = Columns(1, X.shape[1])
    for row in X:
        columns.learn(row[None], ONE)
    before = columns.state()
    together = columns.channels(X[None, :20], ONE)
    for k in range(20):
        alone = columns.channels(X[None, k : k + 1], ONE)
        np.testing.assert_allclose(together[:, k : k + 1], alone, atol=1e-6)
    assert all(np.array_equal(before[k], v, equal_nan=True) for k, v in columns.state().items())


def test_lanes_are_apart_and_a_saved_state_goes_on() -> None:
    X = np.stack([stream(400, seed) for seed in range(3)])
    together, alone = Columns(3, X.shape[2]), [Columns(1, X.shape[2]) for _ in range(3)]
    rng = np.random.default_rng(1)
    for t in range(400):
        some = np.flatnonzero(rng.random(3) < 0.7)
        if len(some):
            together.learn(X[some, t], Lanes(some))
        for lane in some:
            alone[lane].learn(X[lane : lane + 1, t], ONE)
        if t == 200:
            state, together = together.state(), Columns(3, X.shape[2])
            together.restore(state)
    got = together.channels(X[:, :5], Lanes(np.arange(3)))
    for lane in range(3):
        assert (got[lane] == alone[lane].channels(X[lane : lane + 1, :5], ONE)[0]).all()


def test_constant_columns_and_padding_are_invisible() -> None:
    rng = np.random.default_rng(0)
    narrow, wide = Columns(1, 2), Columns(1, 5)
    for _ in range(50):
        row = rng.standard_normal((1, 2)).astype(np.float32)
        padded = np.concatenate([row, np.float32([[0, 7, 0]])], axis=1)
        a, b = narrow.channels(row[None], ONE), wide.channels(padded[None], ONE)
        assert (a == b[..., :2]).all()
        assert not b[..., 2:].any()
        narrow.learn(row, ONE)
        wide.learn(padded, ONE)


def test_one_row_in_eight_enters_the_reference_sample_once_it_is_full() -> None:
    entering = enters_reference(np.arange(100_000))
    assert entering[:REFERENCE].all()
    assert entering[REFERENCE:].mean() == pytest.approx(1 / 8, rel=0.01)
    # No period of a stream is aligned with it: every residue gets its share.
    late = np.flatnonzero(entering[REFERENCE:]) + REFERENCE
    for period in range(2, 11):
        assert np.bincount(late % period) / len(late) == pytest.approx(1 / period, abs=0.01)


def test_the_trained_order_is_a_permutation() -> None:
    assert sorted(TRAINED_ORDER) == list(range(CHANNELS))
