from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.errors import StreamError
from millpond.streams.cells import number
from millpond.streams.rows import SPACES, of_one_width, read_rows


def test_blank_lines_are_passed_over_and_counted():
    rows = read_rows("\n1,2\n  \n3,4\n\n", ",")
    assert rows.items == ["1,2", "3,4"]
    assert rows.numbers.tolist() == [2, 4]


def test_the_commonest_width_wins_and_the_larger_on_a_tie():
    rows = read_rows("1,2,a\n1,2,3,a\n4,5,b\n", ",")
    assert rows.width == 3
    assert [(row.line, row.why) for row in rows.bad_rows] == [(2, "4 fields, not 3")]
    assert read_rows("1,a\n1,2,a\n", ",").width == 3


def test_columns():
    rows = read_rows("1 , 2,a\n3, 4 ,b\n", ",")
    assert rows.column(0) == ["1", "3"]
    assert rows.column(1) == ["2", "4"]
    assert rows.column(2) == ["a", "b"]
    assert rows.columns([2, 0]) == [("a", "b"), ("1 ", "3")]
    assert rows.columns([1]) == [[" 2", " 4 "]]
    assert rows.columns([]) == []
    assert rows.since(2).columns([0, 1]) == [[], []]
    assert rows.as_numbers([0, 1]).tolist() == [[1, 2], [3, 4]]
    assert rows.as_numbers([0, 2]) is None
    assert rows.as_numbers([]) is None


def test_blanks():
    rows = read_rows(" 1   2\ta \n3 4  b\n", SPACES)
    assert rows.width == 3
    assert rows.column(0) == ["1", "3"]
    assert rows.column(2) == ["a", "b"]
    assert rows.as_numbers([0, 1]).tolist() == [[1, 2], [3, 4]]


def test_quoted_cells_may_hold_anything():
    rows = read_rows('x,y\n"a, ""b""\nc",1\n\nd,2\n', ",")
    assert rows.columns([0, 1]) == [("x", 'a, "b"\nc', "d"), ("y", "1", "2")]
    assert rows.numbers.tolist() == [1, 2, 5]
    assert rows.as_numbers([1]) is None  # cell by cell


def test_an_open_quote_is_named():
    with pytest.raises(StreamError, match="line 2: a quoted cell"):
        read_rows('1,2\n"3,4\n5,6\n', ",")


def test_no_rows():
    with pytest.raises(StreamError, match="no rows"):
        read_rows('""\n""\n', ",")
    with pytest.raises(StreamError, match="no rows"):
        of_one_width([], np.array([], np.int64), ",")


plain = st.text("abc019.-+eE xn", max_size=6)


@given(st.lists(st.lists(plain, min_size=2, max_size=2), min_size=1, max_size=8))
def test_lines_and_quoted_cells_agree(table):
    rows = read_rows("\n".join(",".join(row) for row in table), ",")
    assert [rows.cells(k) for k in range(len(rows))] == table
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(table)
    quoted = read_rows(out.getvalue(), ",")
    for k in (0, 1):
        assert quoted.column(k) == rows.column(k)
    assert quoted.numbers.tolist() == rows.numbers.tolist()


ascii_number = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**12), 10**12).map(str),
    st.sampled_from(["nan", "1e5", "+1", "1.", ".5", "-0", "1e-60", "inf", "1e39"]),
    st.text("0123456789.eE+-nainf_x \t", min_size=1, max_size=6),
)


@given(st.lists(ascii_number, min_size=1, max_size=5))
def test_the_fast_reader_reads_what_the_careful_one_reads(cells):
    """What NumPy's reader takes, the cell-by-cell reader takes too, with the same float32."""
    rows = of_one_width([f"{cell},x" for cell in cells], np.arange(len(cells)), ",")
    fast = rows.as_numbers([0])
    if fast is None:
        return
    careful = [number(cell) for cell in cells]
    assert None not in careful
    with np.errstate(over="ignore"):
        expected = np.array(careful).astype(np.float32)
    assert np.array_equal(fast[:, 0], expected, equal_nan=True)
