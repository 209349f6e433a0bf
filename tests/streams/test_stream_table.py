from __future__ import annotations

import numpy as np
import pytest

from millpond.errors import BadOption, StreamError
from millpond.streams.stream import SINGLE_CLASS_NOTE
from millpond.streams.table import (
    BadRow,
    Table,
    bad_row_notes,
    target_column,
    to_stream,
    unique_names,
)


def table(labels, X=None, **rest):
    X = np.zeros((len(labels), 1), np.float32) if X is None else np.float32(X)
    lines = np.arange(1, len(labels) + 1)
    names = tuple(f"f{k}" for k in range(X.shape[1]))
    return Table(X, labels, names, **{"lines": lines, **rest})


@pytest.mark.parametrize(
    ("target", "column"), [(None, 2), (0, 0), (-1, 2), (-3, 0), ("b", 1), ("1", 1), ("-1", 2)]
)
def test_target_column(target, column):
    assert target_column(target, ["a", "b", "c"], 3) == column


def test_a_name_goes_before_a_number():
    assert target_column("0", ["a", "b", "0"], 3) == 2


@pytest.mark.parametrize(
    ("target", "names", "message"),
    [
        (3, None, "no column 3: the file has 3, numbered 0 to 2"),
        (-4, None, "no column -4"),
        ("9" * 5000, None, "no column"),
        (True, None, "name or number"),
        (1.0, None, "name or number"),
        ("class", None, "no header line"),
        ("clas", ["x", "class", "y"], "did you mean 'class'"),
        ("zzzz", ["x", "class", "y"], "the file has x, class, y"),
        ("x", ["x", "x", "y"], "2 columns are called 'x'"),
    ],
)
def test_a_target_that_does_not_exist(target, names, message):
    with pytest.raises(BadOption, match=message):
        target_column(target, names, 3)


def test_one_column():
    with pytest.raises(StreamError, match="one column only"):
        target_column(None, None, 1)


def test_rows_without_a_label_are_left_out():
    stream = to_stream(table(["b", "", "a", "?"], X=[[1], [2], [3], [4]]), "s")
    assert stream.X[:, 0].tolist() == [1, 3]
    assert stream.labels.tolist() == ["b", "a"]
    assert stream.dropped == 0
    assert stream.notes == ("2 rows without a label left out",)


def test_no_row_left():
    with pytest.raises(StreamError, match="no row that can be used; 2 rows without a label"):
        to_stream(table(["", "?"]), "s")


def test_a_single_class_is_taken_and_noted():
    stream = to_stream(table(["a", "a"]), "s")
    assert stream.classes == ("a",)
    assert stream.notes == (SINGLE_CLASS_NOTE,)


def test_infinity_is_named_with_its_line():
    bad = table(["a", "", "b"], X=[[0, 1], [0, 1], [0, np.inf]])
    with pytest.raises(StreamError, match=r"row 1 \(line 3\), column 'f1'"):
        to_stream(bad, "s")


def test_a_regression_target_is_refused():
    with pytest.raises(StreamError, match="regression target: 1001 different numbers"):
        to_stream(table([str(k + 0.5) for k in range(1001)]), "s")
    assert len(to_stream(table([str(k + 0.5) for k in range(1000)]), "s").classes) == 1000
    assert len(to_stream(table([str(k) for k in range(2000)]), "s").classes) == 2000
    assert len(to_stream(table([f"id{k}.5" for k in range(2000)]), "s").classes) == 2000


def test_without_drops_rows_by_line_and_says_each_once():
    whole = table(["a", "b", "c"], X=[[1], [2], [3]], bad_rows=(BadRow(9, "ragged"),))
    less = whole.without([BadRow(2, "first"), BadRow(2, "second")])
    assert list(less.labels) == ["a", "c"]
    assert less.X[:, 0].tolist() == [1, 3]
    assert less.lines.tolist() == [1, 3]
    assert less.bad_rows == (BadRow(2, "first"), BadRow(9, "ragged"))
    assert to_stream(less, "s").dropped == 2


@pytest.mark.parametrize(("rows", "bad", "refused"), [(100, 10, False), (100, 11, True)])
def test_too_many_bad_rows(rows, bad, refused):
    found = tuple(BadRow(200 + k, "why") for k in range(bad))
    whole = table(["a"] * rows, bad_rows=found)
    if refused:
        with pytest.raises(StreamError, match=f"{bad} of {rows + bad} rows are malformed, first"):
            whole.without([])
    else:
        assert whole.without([]) is whole


def test_many_bad_rows_in_a_long_file_are_one_percent():
    found = tuple(BadRow(k, "why") for k in range(20))
    assert table(["a"] * 1980, bad_rows=found).without([])
    with pytest.raises(StreamError):
        table(["a"] * 1979, bad_rows=found).without([])


def test_bad_row_notes_are_short():
    assert bad_row_notes([]) == []
    assert bad_row_notes([BadRow(7, "w")]) == ["1 malformed row dropped (line 7: w)"]
    (note,) = bad_row_notes([BadRow(k, "w") for k in range(8, 0, -1)])
    assert note.startswith("8 malformed rows dropped (line 1: w; line 2: w")
    assert note.endswith("and 3 more)")


def test_unique_names():
    assert unique_names(["a", "a", "", "a_2", "a"]) == ("a", "a_2", "f2", "a_2_2", "a_3")
