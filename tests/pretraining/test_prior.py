"""The prior: deterministic, within bounds, and learnable."""

import pytest

torch = pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")

from pretraining.prior import RULES, sample  # noqa: E402


@pytest.mark.parametrize(("F", "C"), [(2, 2), (16, 10), (128, 64)])
def test_a_seed_gives_the_same_streams_within_bounds(F, C):
    a, b, c = (sample(seed, 12, 128, F, C) for seed in (7, 7, 8))
    assert torch.equal(a.y, b.y)
    assert torch.equal(a.X.nan_to_num(1e9), b.X.nan_to_num(1e9))
    assert not torch.equal(a.y, c.y)
    assert not a.X.isinf().any()
    assert a.X.shape == (12, 128, F)
    assert ((a.y >= 0) & (a.y < C)).all()
    for x, y, width, classes in zip(a.X, a.y, a.columns, a.classes, strict=True):
        assert 2 <= width <= F
        assert 2 <= classes <= C
        assert len(y.unique()) <= classes
        assert not x[:, width:].any()  # padding is a constant column


@pytest.mark.parametrize("rule", list(RULES))
def test_a_neighbour_tells_more_than_the_majority(rule):
    s = sample(11, 64, 300, 10, 6, rule=rule)
    X = s.X.nan_to_num(0.0).double()
    X = (X - X.mean(1, keepdim=True)) / (X.std(1, keepdim=True) + 1e-6)
    later = torch.ones(300, 300, dtype=torch.bool).triu()
    near = torch.cdist(X, X).masked_fill(later, torch.inf)[:, 1:].argmin(-1)
    right = (s.y.gather(1, near) == s.y[:, 1:]).double().mean(1)
    chance = torch.stack([torch.bincount(y, minlength=6).double().square().sum() for y in s.y])
    assert (right - chance / 300**2).mean() > 0.04


def test_missing_values_and_constant_columns_occur():
    s = sample(3, 64, 128, 16, 10)
    assert s.X.isnan().any()
    assert (s.X.isnan().flatten(1).any(1)).double().mean() < 0.5
