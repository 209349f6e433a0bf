"""Class bookkeeping against counting rows by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.backbones.rill.classes import Classes
from millpond.backbones.rill.lanes import Lanes

COLUMNS = 9
CODES = st.integers(-3, 12) | st.integers(-(2**63), 2**63 - 1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), CODES), min_size=1, max_size=60), st.integers(0, 60))
def test_counts_ballots_and_last_arrivals_follow_the_rows(rows, saved_at) -> None:
    classes = Classes(3, COLUMNS)
    held: list[dict[int, int]] = [{}, {}, {}]  # column -> code
    last: list[dict[int, int]] = [{}, {}, {}]
    for position, (lane, code) in enumerate(rows):
        free = [c for c in range(1, COLUMNS) if c not in held[lane]]
        evicted = min(held[lane]) if len(free) == 1 else 0
        classes.learn(Lanes(np.array([lane])), *map(_one, (code, free[0], evicted, position)))
        held[lane][free[0]] = code
        held[lane].pop(evicted, None)
        last[lane][code] = position
        if position == saved_at:
            state, classes = classes.state(), Classes(3, COLUMNS)
            classes.restore(state)
    for lane in range(3):
        places = {code: place for place, code in enumerate(last[lane])}  # by first appearance
        for code, place in places.items():
            columns = [column for column, own in held[lane].items() if own == code]
            assert classes.code[lane, place] == code
            assert classes.count[lane, place] == len(columns)
            assert classes.last[lane, place] == last[lane][code]
            open_columns = sorted(held[lane])
            ballot = classes.ballot[lane, 0, open_columns, place]
            assert ballot.tolist() == [float(column in columns) for column in open_columns]
        assert classes.count[lane].sum() == len(held[lane])


def _one(value: int) -> np.ndarray:
    return np.array([value], dtype=np.int64)
