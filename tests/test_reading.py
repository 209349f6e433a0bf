"""Rows of any kind become the same cells."""

from __future__ import annotations

import collections
import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from millpond.errors import BadInput
from millpond.reading import Cells, is_missing, read_row, read_rows, same

NAN = float("nan")
Point = collections.namedtuple("Point", ["u", "v"])


def as_python(cells: Cells) -> Any:
    """For comparing: NaN as None, arrays as ["float32", ...]."""
    if isinstance(cells, np.ndarray):
        assert cells.dtype == np.float32
        return [None if v != v else v for v in cells.tolist()]
    return cells


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([1, 2.5, True], [1.0, 2.5, 1.0]),
        ((1, None, NAN), [1.0, None, None]),
        (np.array([1, 2], np.int8), [1.0, 2.0]),
        (np.array([True, False]), [1.0, 0.0]),
        (np.array([1.5, None, "a"], object), (1.5, None, "a")),
        (np.array(["a", "b"]), ("a", "b")),
        (["1.5", "2"], ("1.5", "2")),
        ([Decimal("0.5"), Fraction(1, 4), np.uint16(3), np.float16(0.5)], [0.5, 0.25, 3.0, 0.5]),
        ([Decimal("NaN"), Decimal("sNaN"), np.datetime64("NaT"), np.float32("nan")], [None] * 4),
        (["a", True, 2, b"x", ("t", 1)], ("a", 1.0, 2.0, b"x", ("t", 1))),
        ([np.str_("a"), np.bytes_(b"b"), np.bool_(True), np.int64(4)], ("a", b"b", 1.0, 4.0)),
        ({"u": 1, "v": None}, {"u": 1.0, "v": None}),
        ({"u": NAN, "v": "a"}, {"u": None, "v": "a"}),
        ({"u": NAN, "v": 2}, {"u": None, "v": 2.0}),
        ({}, {}),
        (Point(1, "a"), {"u": 1.0, "v": "a"}),
        (range(3), [0.0, 1.0, 2.0]),
        (collections.deque([1, 2]), [1.0, 2.0]),
    ],
    ids=str,
)
def test_what_a_row_holds(x: Any, expected: Any) -> None:
    cells = read_row(x)
    assert as_python(cells) == expected
    for cell in expected.values() if isinstance(expected, dict) else expected:
        if isinstance(cell, str | bytes):
            found = cells.values() if isinstance(cells, dict) else cells
            assert type(cell) in {type(value) for value in found}


def test_numbers_are_what_float32_holds() -> None:
    (number, _) = read_row([0.1, "a"])
    assert number == float(np.float32(0.1))
    assert read_row({"u": 0.1})["u"] == number  # type: ignore[call-overload]
    assert read_row([0.1])[0] == np.float32(0.1)


@pytest.mark.parametrize(
    ("x", "why"),
    [
        ([float("inf")], "feature 0 is inf"),
        ({"u": 1.0, "v": -float("inf")}, "feature 'v' is -inf"),
        ({"u": "a", "v": 1e39}, r"feature 'v' is 1e\+39"),
        ([1.0, 1e39], "feature 1"),
        ([10**400], "too large"),
        (["a", 10**400], "feature 1 is 1000000000"),
        ([[1.0], 2.0], "feature 0 is a list"),
        ([np.zeros(2), 1.0], "feature 0 is array"),
        ([datetime.date(2020, 1, 1)], "turn it into numbers"),
        ([datetime.timedelta(1)], "turn it into numbers"),
        (np.array(["2020-01-01"], "datetime64[ns]"), "turn it into numbers"),
        ([1j], "turn it into numbers"),
        (np.array([1j]), "turn it into numbers"),
        ([], "at least one feature"),
        (np.empty(0), "at least one feature"),
        (np.array(1.0), "1-D"),
        (np.zeros((1, 2)), "1-D"),
        ("ab", "dict or a sequence, not str"),
        (b"ab", "not bytes"),
        ({1.0}, "not set"),
        (1.0, "not float"),
        (iter([1.0]), "not list_iterator"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_rows_that_cannot_be_taken(x: Any, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        read_row(x)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([0.0], [-0.0]),
        ([NAN], [-NAN]),
        ([1], np.array([1.0])),
        ({"u": 1, "v": "a"}, {"v": "a", "u": 1.0}),
        ({"u": 1, "v": None}, {"u": 1.0}),
        (["a", -0.0], ("a", 0)),
    ],
)
def test_equal_rows_are_the_same(one: Any, other: Any) -> None:
    assert same(read_row(one)) == same(read_row(other))
    assert hash(same(read_row(one))) == hash(same(read_row(other)))


def test_different_rows_are_not_the_same() -> None:
    rows = [[0.0], [NAN], [1.0], [1.0, 1.0], ["a"], ["b"], {"u": 1.0}, {"v": 1.0}, {"u": "a"}]
    assert len({same(read_row(x)) for x in rows}) == len(rows)


def test_rows_of_arrays_and_lists() -> None:
    matrix = np.array([[1, 2], [3, NAN]])
    assert [as_python(row) for row in read_rows(matrix)] == [[1.0, 2.0], [3.0, None]]
    assert [as_python(row) for row in read_rows(matrix.tolist())] == [[1.0, 2.0], [3.0, None]]
    assert read_rows(np.array([["a", 1]], object)) == [("a", 1.0)]
    assert read_rows([{"u": 1}, {"v": "a"}]) == [{"u": 1.0}, {"v": "a"}]
    assert read_rows([]) == read_rows(np.empty((0, 3))) == []
    assert [as_python(row) for row in read_rows(iter([[1], [2]]))] == [[1.0], [2.0]]


@pytest.mark.parametrize("X", [None, 1.0, "ab", {"u": [1]}, np.zeros(2), np.zeros((1, 1, 1))])
def test_tables_that_cannot_be_taken(X: Any) -> None:
    with pytest.raises(BadInput, match="rows must come as"):
        read_rows(X)
    with pytest.raises(BadInput, match="at least one feature"):
        read_rows(np.empty((2, 0)))
    with pytest.raises(BadInput, match="feature 1 is inf"):
        read_rows(np.array([[0.0, 1.0], [0.0, np.inf]]))


def test_missing_is_what_says_so() -> None:
    missing = [None, NAN, np.float64("nan"), np.datetime64("NaT"), Decimal("NaN"), Decimal("sNaN")]
    assert all(map(is_missing, missing))
    assert not any(map(is_missing, ["", 0, False, (), "nan", ("a", None), frozenset()]))
    assert not is_missing(np.zeros(2))


# ---- Frames --------------------------------------------------------------------------------------


class Frame:
    """What a frame of neither library would be."""

    columns = ("u",)


def test_a_table_of_an_unknown_kind() -> None:
    with pytest.raises(BadInput, match="from a Frame: collect or convert it"):
        read_rows(Frame())
    with pytest.raises(BadInput, match="a table where one row is expected"):
        read_row(Frame())


def made_pandas() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(
        {
            "number": [1, 2, 3],
            "nullable": pandas.array([1, None, 3], dtype="Int64"),
            "text": pandas.Series(["a", None, "b"]),
            "kind": pandas.Categorical(["x", "y", None]),
            "truth": pandas.array([True, None, False], dtype="boolean"),
        }
    )


def made_polars() -> Any:
    polars = pytest.importorskip("polars")
    return polars.DataFrame(
        {
            "number": [1, 2, 3],
            "nullable": [1, None, 3],
            "text": ["a", None, "b"],
            "kind": polars.Series(["x", "y", None], dtype=polars.Categorical),
            "truth": [True, None, False],
        }
    )


FRAME_ROWS = [
    {"number": 1.0, "nullable": 1.0, "text": "a", "kind": "x", "truth": 1.0},
    {"number": 2.0, "nullable": None, "text": None, "kind": "y", "truth": None},
    {"number": 3.0, "nullable": 3.0, "text": "b", "kind": None, "truth": 0.0},
]


@pytest.mark.parametrize("made", [made_pandas, made_polars])
def test_frames(made: Any) -> None:
    frame = made()
    assert read_rows(frame) == FRAME_ROWS
    by_position = read_rows(frame, by_name=False)
    assert by_position == [tuple(row.values()) for row in FRAME_ROWS]
    numbers = read_rows(frame[["number"]], by_name=False)
    assert [as_python(row) for row in numbers] == [[1.0], [2.0], [3.0]]
    assert read_rows(frame[:0]) == []
    with pytest.raises(BadInput, match="at least one feature"):
        read_rows(frame[[]] if hasattr(frame, "iloc") else frame.select([]))
    with pytest.raises(BadInput, match="a table where one row is expected"):
        read_row(frame)


def test_rows_of_pandas_frames() -> None:
    frame = made_pandas()
    assert [read_row(row) for _, row in frame.iterrows()] == FRAME_ROWS
    assert [read_row(row) for row in frame.itertuples(index=False)] == FRAME_ROWS
    assert read_row(frame.iloc[0], by_name=False) == tuple(FRAME_ROWS[0].values())


def test_rows_of_polars_frames() -> None:
    frame = made_polars()
    assert list(map(read_row, frame.iter_rows(named=True))) == FRAME_ROWS
    assert list(map(read_row, frame.iter_rows())) == [tuple(row.values()) for row in FRAME_ROWS]
    assert as_python(read_row(frame["nullable"])) == [1.0, None, 3.0]


def test_numbers_as_columns_are_no_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.arange(4.0).reshape(2, 2))
    assert [as_python(row) for row in read_rows(frame)] == [[0.0, 1.0], [2.0, 3.0]]
    assert as_python(read_row(frame.iloc[1])) == [2.0, 3.0]
    frame.columns = [5, 6]
    assert read_rows(frame)[0] == {5: 0.0, 6: 1.0}


def test_columns_of_one_name() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(BadInput, match="several features of the name 'u'"):
        read_rows(pandas.DataFrame([[1, 2]], columns=["u", "u"]))


def test_dates_of_frames_are_named() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"day": pandas.to_datetime(["2020-01-01", None])})
    with pytest.raises(BadInput, match="feature 'day' is a Timestamp"):
        read_rows(frame)
    assert read_rows(frame[1:]) == [{"day": None}]


def test_a_lazy_frame_is_refused_without_a_warning() -> None:
    polars = pytest.importorskip("polars")
    with pytest.raises(BadInput, match="from a LazyFrame: collect or convert it first"):
        read_rows(polars.LazyFrame({"u": [1.0]}))
    with pytest.raises(BadInput, match="a table where one row is expected"):
        read_row(polars.LazyFrame({"u": [1.0]}))
