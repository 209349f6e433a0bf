"""Columns and categories get their numbers as they are learned, never before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond import tags
from millpond.encoding import Encoder
from millpond.errors import BadInput
from millpond.reading import read_row, read_rows


def learned(*rows: Any) -> Encoder:
    encoder = Encoder()
    for x in rows:
        encoder.check([read_row(x, encoder.by_name)])
        encoder.learn(read_row(x, encoder.by_name))
    return encoder


def vector(encoder: Encoder, x: Any) -> list[float | None]:
    found = encoder.vector(read_row(x, encoder.by_name))
    assert found.dtype == np.float32
    return [None if v != v else v for v in found.tolist()]


def test_categories_are_coded_as_they_are_learned() -> None:
    encoder = learned(["b", 1], ["a", 2], ["b", 3])
    assert vector(encoder, ["a", 9]) == [1.0, 9.0]
    assert vector(encoder, ["b", None]) == [0.0, None]
    assert vector(encoder, [None, 1]) == [None, 1.0]


def test_a_category_not_learned_yet_stands_for_the_next_code() -> None:
    encoder = learned(["b", 1], ["a", 2])
    before = encoder.state()
    assert vector(encoder, ["new", 1]) == vector(encoder, ["newer", 1]) == [2.0, 1.0]
    assert encoder.state() == before
    encoder.learn(read_row(["newer", 1]))
    assert vector(encoder, ["newer", 1]) == [2.0, 1.0]
    assert vector(encoder, ["new", 1]) == [3.0, 1.0]


def test_a_number_among_categories_is_a_category() -> None:
    encoder = learned(["a"], [5], [True], ["b"])
    assert [vector(encoder, [x]) for x in ("a", 5.0, 1, "b")] == [[0.0], [1.0], [2.0], [3.0]]
    assert vector(encoder, np.array([5.0])) == [1.0]
    assert vector(encoder, [7]) == [4.0]


def test_text_among_numbers_is_an_error() -> None:
    encoder = learned({"u": 1.0, "v": "a"})
    before = encoder.state()
    with pytest.raises(BadInput, match="feature 'u' is 'high', but its values so far were numbers"):
        vector(encoder, {"u": "high"})
    with pytest.raises(BadInput, match="feature 1 is 'x'"):
        vector(learned([1.0, 2.0]), [1.0, "x"])
    assert encoder.state() == before


def test_the_first_value_that_is_there_fixes_the_kind() -> None:
    encoder = learned([None, None], [None, 1.0])
    assert vector(encoder, ["a", 2]) == [0.0, 2.0]
    assert vector(encoder, [3.5, 2]) == [3.5, 2.0]
    encoder.learn(read_row(["a", None]))
    assert vector(encoder, ["a", 2]) == [0.0, 2.0]
    assert vector(encoder, [3.5, 2]) == [1.0, 2.0]


def test_features_come_and_go_by_name() -> None:
    encoder = learned({"u": 1}, {"v": "a", "u": 2}, {"w": None})
    assert encoder.width == 3
    assert vector(encoder, {"w": 5, "v": "a"}) == [None, 0.0, 5.0]
    assert vector(encoder, {"later": "x"}) == [None, None, None]
    assert vector(encoder, [1, "a", 2]) == [1.0, 0.0, 2.0]  # in the columns' order


def test_columns_that_hold_numbers_alone_are_taken_as_they_are() -> None:
    encoder = learned([1.0, 2.0])
    row = read_row([3.0, 4.0])
    assert encoder.vector(row) is row
    assert encoder.learn(row) is row
    assert learned([1.0, None])._plain is False


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([[1.0], [1.0, 2.0]], "2 features, the rows before it had 1"),
        ([["a"], ["a", "b"]], "2 features, the rows before it had 1"),
        ([{"u": 1.0}, [1.0, 2.0]], "2 features, the rows before it had 1"),
        ([[1.0], {"u": 1.0}], "a dict cannot be matched"),
        ([{}], "at least one feature"),
        ([[1.0], ["a"]], "feature 0 is 'a', but its values so far were numbers"),
        ([[None], [None], [1.0], ["a"]], "feature 0 is 'a'"),
        ([{"u": 1}, {"v": 1}, {"v": "a"}], "feature 'v' is 'a'"),
    ],
)
def test_rows_are_checked_together_as_one_after_the_other(rows: list[Any], why: str) -> None:
    encoder = Encoder()
    with pytest.raises(BadInput, match=why):
        encoder.check(read_rows(rows))
    assert encoder.state() == Encoder().state()
    encoder.check(read_rows(rows[:-1]))
    for x in rows[:-1]:
        encoder.learn(read_row(x))
    with pytest.raises(BadInput, match=why):
        encoder.check([read_row(rows[-1])])


CELLS = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from("abc"), st.booleans())
NAMED = st.dictionaries(st.sampled_from("uvwxyz"), CELLS)


@settings(max_examples=80, deadline=None)
@given(st.lists(NAMED, max_size=12))
def test_what_was_saved_goes_on_the_same(rows: list[dict[str, Any]]) -> None:
    encoder, restored = Encoder(), Encoder()
    for x in rows:
        cells = read_row(x)
        try:
            encoder.check([cells])
        except BadInput:
            with pytest.raises(BadInput):
                restored.check([cells])
            continue
        assert encoder.learn(cells).tobytes() == restored.learn(cells).tobytes()
        assert encoder.vector(cells).tobytes() == restored.vector(cells).tobytes()
        restored = Encoder()
        restored.restore(tags.decode(tags.encode(encoder.state(), "it")))
        assert restored.state() == encoder.state()
        assert restored._plain == encoder._plain


@settings(max_examples=80, deadline=None)
@given(st.lists(NAMED, min_size=1, max_size=10))
def test_nothing_looks_ahead(rows: list[dict[str, Any]]) -> None:
    """A row is encoded the same whatever comes after it: codes never change."""
    encoder, seen = Encoder(), []
    for x in rows:
        cells = read_row(x)
        try:
            encoder.check([cells])
        except BadInput:
            continue
        seen.append((cells, encoder.learn(cells)))
        for earlier, then in seen:
            now = encoder.vector(earlier)
            np.testing.assert_array_equal(now[: len(then)], then)
            assert np.isnan(now[len(then) :]).all()
