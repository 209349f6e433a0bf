"""Scales, ticks and the part of an axis to draw."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.report.scale import Scale, fit, ticks

fractions = st.floats(0, 1)


def test_a_scale_maps_ends_to_ends_also_downwards() -> None:
    down = Scale(10, 20, 300, 100)
    assert (down(10), down(20), down(15)) == (300, 100, 200)
    assert Scale(5, 5, 0, 100)(5) == 50


@pytest.mark.parametrize(
    ("low", "high", "about", "expected"),
    [
        (0, 20000, 4, [0, 5000, 10000, 15000, 20000]),
        (0, 829201, 4, [0, 500000]),
        (0.6, 0.9, 6, [0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9]),
        (3, 3, 5, [3]),
    ],
)
def test_ticks(low: float, high: float, about: int, expected: list[float]) -> None:
    assert ticks(low, high, about) == pytest.approx(expected)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 10))
def test_ticks_are_round_even_and_not_too_many(low: float, span: float, about: int) -> None:
    values = ticks(low, low + span, about)
    assert len(values) <= about + 1
    slack = 1e-6 * span + 1e-9
    assert all(low - slack <= v <= low + span + slack for v in values)
    gaps = [b - a for a, b in itertools.pairwise(values)]
    assert all(gap == pytest.approx(gaps[0], rel=1e-4) for gap in gaps)


@given(st.lists(fractions, min_size=1, max_size=20), st.integers(3, 8))
def test_fit_holds_every_value_and_stays_within_0_and_1(values: list[float], about: int) -> None:
    low, high = fit(values, about)
    assert 0 <= low <= min(values)
    assert max(values) <= high <= 1
    assert low < high


def test_fit_follows_the_data() -> None:
    assert fit([0.84, 0.86], 6) == pytest.approx((0.835, 0.865))
    assert fit([0.0, 1.0], 6) == (0.0, 1.0)
