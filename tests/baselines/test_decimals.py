"""`shortest_decimals` against the text that NumPy prints a float32 as."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from millpond.baselines.decimals import shortest_decimals

numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(arrays(np.float32, (3, 4), elements=numbers))
def test_is_the_decimal_that_the_value_prints_as(X: np.ndarray) -> None:
    whole = np.rint(X) == X
    printed = np.array([[float(str(value)) for value in row] for row in X])
    wanted = np.where(whole, X.astype(np.float64), printed)
    assert np.array_equal(shortest_decimals(X), wanted)


@given(st.integers(-(10**6), 10**6), st.integers(1, 6))
def test_gives_back_what_a_file_of_six_digits_had(digits: int, places: int) -> None:
    written = float(f"{digits}e-{places}")
    X = np.array([[written]], dtype=np.float32)
    assert shortest_decimals(X)[0, 0] == written


def test_keeps_the_missing_and_does_not_touch_its_input() -> None:
    X = np.array([[np.nan, 0.1], [2.0, np.float32(1e-12)]], dtype=np.float32)
    before = X.copy()
    found = shortest_decimals(X)
    assert np.array_equal(X, before, equal_nan=True)
    assert np.isnan(found[0, 0])
    assert found[0, 1] == 0.1
    assert found[1].tolist() == [2.0, 1e-12]
