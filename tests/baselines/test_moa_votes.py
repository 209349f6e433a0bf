"""Votes to probabilities: whatever the votes are, the largest probability is MOA's choice."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from millpond.baselines.moa import chosen, option_string, probabilities
from millpond.baselines.options import checked_options

votes = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats())


def max_index(row: list[float]) -> int:
    """`moa.core.Utils.maxIndex`, line by line."""
    largest, index = 0.0, 0
    for i, value in enumerate(row):
        if i == 0 or value > largest:
            index, largest = i, value
    return index


@given(votes)
@example(np.array([[1.0, 1.0 + 2**-52, 0.3]]))
@example(np.array([[np.nan, 1.0], [0.0, np.nan], [-1.0, -0.5], [np.inf, np.inf], [0.0, 0.0]]))
@example(np.array([[5e-324, 1e308], [1e308, 1.7e308], [5e-324, 0.0]]))
def test_the_largest_probability_is_moas_choice(found: np.ndarray) -> None:
    proba = probabilities(found)
    wanted = [max_index(row) for row in found.tolist()]
    assert chosen(found).tolist() == wanted
    assert proba.argmax(axis=1).tolist() == wanted
    assert (proba >= 0).all()
    assert np.allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def test_votes_are_shares() -> None:
    assert probabilities(np.array([[1.0, 3.0], [30.0, 10.0]])).tolist() == [
        [0.25, 0.75],
        [0.75, 0.25],
    ]


def test_no_vote_is_no_knowledge() -> None:
    assert probabilities(np.zeros((1, 4))).tolist() == [[0.25] * 4]
    assert probabilities(np.full((1, 4), math.nan)).tolist() == [[0.25] * 4]


def test_the_option_string_is_what_moas_command_line_takes() -> None:
    options = checked_options("moa:arf", {"grace_period": 400, "tie_threshold": 0.1})
    assert option_string("arf", options) == (
        "meta.AdaptiveRandomForest -l (ARFHoeffdingTree -e 2000000 "
        "-g 400 -c 1e-07 -t 0.1 -l NBAdaptive) -s 90"
    )
