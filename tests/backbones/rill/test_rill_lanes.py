"""Lanes: slices where numbers are consecutive, stretches that cover each lane once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from millpond.backbones.rill.lanes import Lanes

NUMBERS = st.lists(st.integers(0, 30), min_size=1, max_size=20, unique=True).map(sorted)


@given(NUMBERS)
def test_the_index_addresses_the_lanes_and_copies_only_where_it_must(numbers: list[int]) -> None:
    lanes, array = Lanes(np.array(numbers)), np.arange(100, 131)
    assert (array[lanes.index] == array[numbers]).all()
    consecutive = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert isinstance(lanes.index, slice) == consecutive


@given(NUMBERS, st.integers(1, 6))
def test_runs_are_short_stretches_of_consecutive_lanes(numbers: list[int], longest: int) -> None:
    lanes, found = Lanes(np.array(numbers)), []
    for here, there in lanes.runs(longest):
        assert 0 < here.stop - here.start == there.stop - there.start <= longest
        assert list(range(31))[there] == numbers[here]
        found += numbers[here]
    assert found == numbers
