from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.streams.cells import (
    coded_column,
    guessed_column,
    is_missing,
    number,
    numeric_column,
)


@pytest.mark.parametrize("cell", ["", " ", "?", "NA", "na", "NaN", "nan", "null", "NULL "])
def test_missing(cell):
    assert is_missing(cell)
    assert math.isnan(number(cell))


@pytest.mark.parametrize(
    ("cell", "value"), [("1", 1), (" -2.5e3 ", -2500), ("+.5", 0.5), ("inf", math.inf)]
)
def test_numbers(cell, value):
    assert number(cell) == value


@pytest.mark.parametrize("cell", ["a", "1_000", "1,5", "0x10", "true", "1 2", "None", "-"])
def test_text(cell):
    assert number(cell) is None


def test_decimal_comma():
    assert number("1,5", ",") == 1.5
    assert number("1,5,2", ",") is None


def test_declared_numbers_have_misfits():
    column = numeric_column(["1", "?", "x"])
    assert column.misfit.tolist() == [False, False, True]
    assert column.values[0] == 1
    assert not column.coded


@given(st.lists(st.text("0123456789.e-_ na?x", max_size=5), max_size=5))
def test_a_column_is_its_cells(cells):
    column = numeric_column(cells)
    for cell, value, misfit in zip(cells, column.values, column.misfit, strict=True):
        expected = number(cell)
        assert misfit == (expected is None)
        assert misfit or value == expected or (math.isnan(value) and math.isnan(expected))


def test_codes_by_first_appearance_leave_missing_out():
    column = coded_column(["b", "a", "?", " b", "c"])
    assert column.values.tolist()[:2] == [0, 1]
    assert np.isnan(column.values[2])
    assert column.values.tolist()[3:] == [0, 2]
    assert column.coded


def test_declared_codes_have_misfits():
    column = coded_column(["b", "z", "?"], {"a": 0, "b": 1})
    assert column.values[0] == 1
    assert column.misfit.tolist() == [False, True, False]


@given(st.lists(st.sampled_from(["a", "b", "c", "", "?"]), max_size=30), st.integers(0, 30))
def test_codes_never_look_ahead(cells, n):
    whole, prefix = coded_column(cells).values, coded_column(cells[:n]).values
    assert np.array_equal(whole[:n], prefix, equal_nan=True)


def test_a_stray_text_among_many_numbers_is_a_misfit():
    column = guessed_column(["1"] * 99 + ["oops"])
    assert not column.coded
    assert np.flatnonzero(column.misfit).tolist() == [99]


def test_more_text_makes_a_text_column():
    column = guessed_column(["1"] * 98 + ["oops", "oops"])
    assert column.coded
    assert not column.misfit.any()
    # Missing cells say nothing of what a column is.
    assert guessed_column([""] * 1000 + ["1", "oops"]).coded
