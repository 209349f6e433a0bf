"""Tests of significance against SciPy's, brute force, and the tables of Demsar's paper."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from millpond.evaluate.significance import (
    block_interval,
    chi2_tail,
    cliques,
    critical_difference,
    friedman,
    holm,
    mcnemar,
    range_quantile,
    rank_rows,
    wilcoxon,
)

stats = pytest.importorskip("scipy.stats")

TABLES = arrays(
    np.float64,
    st.tuples(st.integers(2, 8), st.integers(3, 7)),
    elements=st.integers(0, 6).map(float),
)


@given(TABLES)
def test_ranks_are_scipys(table: np.ndarray) -> None:
    np.testing.assert_array_equal(rank_rows(table), stats.rankdata(-table, axis=1))


@given(TABLES)
def test_friedman_is_scipys(table: np.ndarray) -> None:
    found = friedman(table)
    if (table == table[:, :1]).all():
        assert (found.statistic, found.p) == (0.0, 1.0)
        return
    expected = stats.friedmanchisquare(*table.T)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)


@given(st.floats(0, 200), st.integers(1, 30))
def test_the_tail_of_chi_squared_is_scipys(x: float, df: int) -> None:
    assert chi2_tail(x, df) == pytest.approx(stats.chi2.sf(x, df), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("k", [2, 3, 6, 7, 10, 20])
@pytest.mark.parametrize("probability", [0.9, 0.95, 0.99])
def test_the_range_of_normals_is_scipys(k: int, probability: float) -> None:
    expected = stats.studentized_range.ppf(probability, k, np.inf)
    assert range_quantile(probability, k) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (6, 2.850), (7, 2.949), (10, 3.164)]
)
def test_critical_differences_are_those_of_demsars_table(k: int, q: float) -> None:
    assert critical_difference(k, 6) == pytest.approx(q * math.sqrt(k * (k + 1) / 36), abs=2e-3)


def test_cliques_of_a_diagram() -> None:
    assert cliques([1.0, 2.0, 3.5, 1.5], 1.0) == [(0, 3, 1)]
    assert cliques([3.0, 1.0, 2.0], 1.0) == [(1, 2), (2, 0)]
    assert cliques([1.0, 5.0], 1.0) == []


@given(st.lists(st.integers(-4, 4), max_size=9))
@settings(max_examples=60)
def test_wilcoxon_is_every_way_to_give_signs(values: list[int]) -> None:
    kept = [v for v in values if v]
    if not kept:
        assert wilcoxon(values) == 1.0
        return
    ranks = stats.rankdata(np.abs(kept))
    seen = ranks[np.array(kept) > 0].sum()
    sums = np.array(
        [
            sum(r for r, s in zip(ranks, signs, strict=True) if s)
            for signs in itertools.product([0, 1], repeat=len(kept))
        ]
    )
    one = min((sums <= seen + 1e-9).mean(), (sums >= seen - 1e-9).mean())
    assert wilcoxon(values) == pytest.approx(min(1.0, 2 * one))


@pytest.mark.parametrize("seed", range(5))
def test_wilcoxon_without_ties_is_scipys(seed: int) -> None:
    values = np.random.default_rng(seed).normal(0.3, 1, 14)
    assert wilcoxon(values.tolist()) == pytest.approx(stats.wilcoxon(values, method="exact").pvalue)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 20))
def test_mcnemar_is_scipys_binomial_test(b: int, c: int, both: int) -> None:
    one = np.r_[np.ones(b, bool), np.zeros(c, bool), np.ones(both, bool)]
    other = np.r_[np.zeros(b, bool), np.ones(c, bool), np.ones(both, bool)]
    expected = stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar(one, other) == pytest.approx(expected)


def test_mcnemar_of_a_long_stream() -> None:
    one, other = np.zeros((2, 900_000), bool)
    one[:30_100], other[30_100:60_000] = True, True
    assert mcnemar(one, other) == pytest.approx(stats.binomtest(30_100, 60_000).pvalue, rel=1e-6)


def test_an_interval_is_as_wide_as_independent_rows_say() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.random((2, 20_000)) < np.array([[0.83], [0.80]])
    found = block_interval(one, other, 50)
    deviation = np.std(one.astype(float) - other) / math.sqrt(20_000)
    assert found.value == pytest.approx(one.mean() - other.mean())
    assert found.high - found.low == pytest.approx(2 * 1.96 * deviation, rel=0.1)
    assert found.beyond_zero
    assert block_interval(one, one, 50).beyond_zero is False


def test_intervals_cover_the_truth_where_neighbours_depend() -> None:
    """Rows that come in runs of 20 alike: blocks of 200 cover at their level, single rows do not."""
    rng = np.random.default_rng(1)
    covered = {1: 0, 200: 0}
    for trial in range(100):
        one, other = (np.repeat(rng.random(200) < 0.7, 20) for _ in range(2))
        for block in covered:
            found = block_interval(one, other, block, seed=trial)
            covered[block] += found.low <= 0 <= found.high
    assert covered[200] >= 84
    assert covered[1] <= 60


def test_a_last_block_counts_by_its_rows() -> None:
    one = np.r_[np.zeros(100, bool), np.ones(1, bool)]
    found = block_interval(one, np.zeros(101, bool), 100)
    assert found.low == 0.0
    assert found.high == 1.0  # one draw in four takes that row alone
