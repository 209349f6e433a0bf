"""Column features: the batched form equals the step-by-step definition; oddities are harmless."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")

from pretraining.features import (  # noqa: E402
    REFERENCE,
    ColumnState,
    channels_of,
    column_features,
    enters_reference,
    expand,
    stream_base,
)

from pretraining import features  # noqa: E402


def awkward(rng, n=700):
    """Continuous, constant, tied, late, gappy, far-off and infinite columns."""
    X = rng.standard_normal((n, 7)).astype(np.float32)
    X[:, 1] = 3.25
    X[:, 2] = np.round(X[:, 2] * 2)
    X[:50, 3] = np.nan
    X[rng.random(n) < 0.2, 4] = np.nan
    X[:, 5] = X[:, 5] * 1e3 + 1e5
    X[rng.random(n) < 0.1, 6] = np.inf
    return X


def test_batches_equal_rows_one_by_one():
    X = np.stack([awkward(np.random.default_rng(i)) for i in range(3)])
    batch = column_features(torch.from_numpy(X).double()).numpy()
    single = np.stack([stream_base(x) for x in X])
    np.testing.assert_allclose(batch, single, atol=1e-5)
    np.testing.assert_allclose(column_features(torch.from_numpy(X)).numpy(), single, atol=1e-3)
    channels = expand(torch.from_numpy(single).double()).numpy()
    np.testing.assert_allclose(channels[1, 300], channels_of(single[1, 300].astype(float)))


def test_statistics_are_the_population_mean_and_variance():
    x = np.random.default_rng(0).standard_normal((500, 1)).astype(np.float32)
    state = ColumnState(1)
    for row in x:
        state.learn(row)
    assert state.mean[0] == pytest.approx(x.mean(dtype=np.float64))
    assert state.var[0] == pytest.approx(x.var(dtype=np.float64))


def test_old_rows_are_forgotten_beyond_the_window(monkeypatch):
    monkeypatch.setattr(features, "WINDOW", 100)
    state = ColumnState(1)
    for t in range(1000):
        state.learn([0.0 if t < 500 else 10.0 + t % 2])
    assert state.mean[0] == pytest.approx(10.5, abs=0.2)
    with pytest.raises(ValueError, match="at most 100 rows"):
        column_features(torch.zeros(1, 101, 1))


def test_ranks_are_those_of_the_reference_rows():
    x = np.random.default_rng(1).permutation(3000).astype(np.float32)[:, None]
    state, entered = ColumnState(1), []
    for t, row in enumerate(x):
        reference = np.array(entered[-REFERENCE:])
        if t in (1, 100, 255, 256, 2000, 2999):
            below = (reference < row[0]).sum()
            p = (below + 0.5) / (len(reference) + 1)
            assert state.base(row)[1, 0] == pytest.approx(np.log(p / (1 - p)) / 1.702)
        state.learn(row)
        if enters_reference(t):
            entered.append(row[0])
    assert 300 < len(entered) - REFERENCE < 380  # one in eight of the later rows


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.floats(width=32), min_size=3, max_size=3), min_size=1, max_size=30))
def test_features_are_finite_whatever_arrives(rows):
    state = ColumnState(3)
    with np.errstate(over="ignore"):
        for row in rows:
            out = channels_of(state.base(row))
            assert np.isfinite(out).all()
            state.learn(row)


def test_predicting_does_not_learn():
    state = ColumnState(2)
    state.learn([1.0, 2.0])
    before = {k: np.copy(v) for k, v in vars(state).items()}
    state.base([5.0, np.nan])
    for k, v in vars(state).items():
        np.testing.assert_array_equal(v, before[k])


def test_constant_columns_and_padding_are_invisible():
    x = np.random.default_rng(2).standard_normal((2, 40, 3)).astype(np.float32)
    wide = np.concatenate([x, np.full((2, 40, 2), 7.0, np.float32)], -1)
    a, b = (expand(column_features(torch.from_numpy(v))) for v in (x, wide))
    assert torch.equal(a, b[:, :, :3])
    assert not b[:, :, 3:].any()
