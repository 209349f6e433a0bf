from __future__ import annotations

import math

import numpy as np
import pytest

from millpond.errors import BadOption, StreamError
from millpond.streams.delimited import read_delimited, sniff_delimiter
from millpond.streams.table import to_stream


def load(text, target=None, **options):
    return to_stream(read_delimited(text, target, **options), "s")


HEADED = "height,colour,kind\n1.5,2,cat\n2.5,3,dog\n"


def test_headerless():
    stream = load("1.5,2,cat\n2.5,3,dog\n")
    assert stream.X.tolist() == [[1.5, 2], [2.5, 3]]
    assert stream.labels.tolist() == ["cat", "dog"]
    assert stream.feature_names == ("f0", "f1")
    assert stream.notes == ()


def test_a_header_is_text_above_numbers():
    stream = load(HEADED)
    assert stream.feature_names == ("height", "colour")
    assert stream.X.tolist() == [[1.5, 2], [2.5, 3]]


def test_a_header_in_spite_of_missing_values_below():
    stream = load("a,b,y\n,?,0\n1,,1\n")
    assert stream.feature_names == ("a", "b")
    assert np.isnan(stream.X).sum() == 3


def test_headerless_whatever_the_first_row_is():
    stream = load("x,1,a\n" + "2,1,b\n" * 200, headerless=True)
    assert stream.dropped == 1
    assert "'x'" in stream.notes[0]


def test_text_above_text_is_a_row():
    stream = load("red,small,a\nblue,large,b\nred,small,b\n")
    assert len(stream) == 3
    assert stream.X.tolist() == [[0, 0], [1, 1], [0, 0]]
    assert "2 feature column(s): f0, f1" in stream.notes[0]


def test_a_target_in_the_first_line_makes_it_a_header():
    stream = load("colour,size,kind\nred,small,a\nblue,large,b\n", target="kind")
    assert len(stream) == 2
    assert stream.feature_names == ("colour", "size")


def test_a_header_of_numbers_above_rows_shows_in_the_label():
    stream = load("0,1,class\n5,6,1\n7,8,0\n")
    assert stream.classes == ("0", "1")
    assert stream.feature_names == ("0", "1")
    assert load("0,1,class\n5,6,1\n7,8,0\n", target="class").classes == ("0", "1")
    # A column's name goes before its number.
    assert load("2,1,class\n5,6,1\n7,8,0\n", target="2").classes == ("5", "7")


def test_a_target_that_is_a_number_is_not_looked_for_among_the_cells():
    stream = load("3,1,2,4\n5,6,7,8\n", target="3")
    assert stream.labels.tolist() == ["4", "8"]


def test_a_label_of_text_is_no_header():
    assert len(load("1,2,cat\n3,4,dog\n5,6,1\n")) == 3


@pytest.mark.parametrize("target", ["height", 0, -3, "0"])
def test_the_label_may_be_any_column(target):
    stream = load(HEADED, target)
    assert stream.labels.tolist() == ["1.5", "2.5"]
    assert stream.feature_names == ("colour", "kind")
    assert stream.X.tolist() == [[2, 0], [3, 1]]


def test_columns_without_a_header_keep_their_numbers():
    assert load("1,a,2\n3,b,4\n", target=1).feature_names == ("f0", "f2")


def test_a_target_that_does_not_exist():
    with pytest.raises(BadOption, match="did you mean 'kind'"):
        load(HEADED, target="knd")
    with pytest.raises(BadOption, match="no header line"):
        load("1,2,cat\n3,4,dog\n", target="kind")


def test_labels_are_sorted_strings():
    stream = load("1,10\n1,9\n1,2\n")
    assert stream.classes == ("10", "2", "9")
    assert stream.y.tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("1,2,a\n3,4,b", ","),
        ("1;2;a\n3;4;b", ";"),
        ("1\t2\ta\n3\t4\tb", "\t"),
        ("1 2 a\n3   4 b", " "),
        ("1,5;2,5;a\n3,5;4,5;b", ";"),
        ("1,2,standing up\n3,4,lying down", ","),
        ("1 2 a,b\n" + "3 4 b\n" * 20, " "),
        ("1, 2, 3\n" * 9 + "1, 2\n", ","),
        ("abc\ndef", " "),
    ],
)
def test_delimiters(text, delimiter):
    assert sniff_delimiter(text) == delimiter


def test_blank_delimited():
    stream = load("  1.0   2.0  a \n 3.0 4.0 b\n")
    assert stream.X.tolist() == [[1, 2], [3, 4]]
    assert stream.classes == ("a", "b")


def test_decimal_commas():
    stream = load("x;y;kind\n1,5;2,25;a\n3;4,5;b\n")
    assert stream.X.tolist() == [[1.5, 2.25], [3, 4.5]]
    assert stream.feature_names == ("x", "y")


def test_quotes():
    stream = load('"name, long","n","kind"\n"1","2","a ""b"""\n"3","4","c"\n')
    assert stream.feature_names == ("name, long", "n")
    assert stream.classes == ('a "b"', "c")
    assert stream.X.tolist() == [[1, 2], [3, 4]]


def test_missing_values():
    stream = load("1,?,a\nNA,2,b\n,null,a\nNaN,5,b\n")
    expected = [[1, math.nan], [math.nan, 2], [math.nan, math.nan], [math.nan, 5]]
    assert np.array_equal(stream.X, np.float32(expected), equal_nan=True)
    assert stream.notes == ()


def test_booleans_are_text():
    stream = load("True,1,a\nFalse,2,b\nTrue,3,a\n")
    assert stream.X[:, 0].tolist() == [0, 1, 0]


def test_ragged_rows_are_dropped_and_told():
    stream = load("1,2,a\n3,4\n5,6,b,7\n8,9,b\n0,0,a\n")
    assert stream.X.tolist() == [[1, 2], [8, 9], [0, 0]]
    assert stream.dropped == 2
    assert stream.notes == (
        "2 malformed rows dropped (line 2: 2 fields, not 3; line 3: 4 fields, not 3)",
    )


def test_too_many_ragged_rows_are_refused():
    with pytest.raises(StreamError, match="11 of 51 rows are malformed, first at line 41: 2 fie"):
        load("1,2,a\n" * 40 + "1,2\n" * 11)


def test_a_ragged_first_line_is_no_header():
    stream = load("a,b,c,kind\n1,2,x\n3,4,y\n")
    assert stream.dropped == 1
    assert stream.feature_names == ("f0", "f1")


def test_a_stray_text_in_numbers_costs_its_row():
    stream = load("1,2,a\n" * 150 + "1,oops,b\n" + "3,4,b\n")
    assert len(stream) == 151
    assert stream.dropped == 1
    assert "line 151: 'oops'" in stream.notes[0]
    assert stream.X[-1].tolist() == [3, 4]
    assert stream.classes == ("a", "b")


def test_repeated_and_empty_names():
    assert load("x,x,,kind\n1,2,3,a\n4,5,6,b\n").feature_names == ("x", "x_2", "f2")


def test_only_a_header():
    with pytest.raises(StreamError, match="no row that can be used"):
        load("x,y,kind\n", target="kind")


def test_one_column():
    with pytest.raises(StreamError, match="one column only"):
        load("1\n2\n3\n")


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e39", "1e400"])
@pytest.mark.parametrize("other", ["2", "x"])  # the fast way and the careful one
def test_infinity(cell, other):
    text = f"1,{other},3,a\n1,{other},{cell},b\n"
    with pytest.raises(StreamError, match=r"row 1 \(line 2\), column 'f2': infinite"):
        load(text)


def test_a_header_without_rows_is_not_a_stream() -> None:
    with pytest.raises(StreamError, match="no rows"):
        read_delimited("load,heat,label\n")
