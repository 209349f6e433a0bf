from __future__ import annotations

import datetime
import decimal
import io
import sys

import numpy as np
import pytest

from millpond.errors import BadOption, MissingExtra, StreamError
from millpond.streams.parquet import read_parquet
from millpond.streams.table import to_stream

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(**columns):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def load(content, target=None):
    return to_stream(read_parquet(content, target), "s")


def test_numbers_and_nulls():
    stream = load(
        written(
            a=[1, None, 3],
            b=pa.array([0.5, 1.5, None], pa.float32()),
            c=pa.array([1, 2, 2**62]),
            d=[decimal.Decimal("1.25"), None, decimal.Decimal("2.50")],
            e=pa.nulls(3),
            y=["x", "z", "x"],
        )
    )
    nan = np.nan
    expected = [[1, 0.5, 1, 1.25, nan], [nan, 1.5, 2, nan, nan], [3, nan, 2.0**62, 2.5, nan]]
    assert np.array_equal(stream.X, np.float32(expected), equal_nan=True)
    assert stream.feature_names == ("a", "b", "c", "d", "e")
    assert stream.classes == ("x", "z")


def test_text_booleans_and_dictionaries_are_coded():
    stream = load(
        written(
            word=["b", None, "a", "b"],
            flag=[True, False, None, True],
            cat=pa.array(["q", "p", "q", None]).dictionary_encode(),
            num=pa.array([7, 8, 7, None]).dictionary_encode(),
            y=[1, 2, 1, 2],
        )
    )
    nan = np.nan
    expected = [[0, 0, 0, 7], [nan, 1, 1, 8], [1, nan, 0, 7], [0, 0, nan, nan]]
    assert np.array_equal(stream.X, np.float32(expected), equal_nan=True)
    assert "3 feature column(s): word, flag, cat" in stream.notes[0]


def test_labels_are_strings_and_nulls_are_dropped():
    stream = load(written(a=[1, 2, 3, 4], y=[10, None, 9, 10]))
    assert stream.classes == ("10", "9")
    assert stream.X[:, 0].tolist() == [1, 3, 4]
    assert load(written(a=[1, 2], y=[True, False])).classes == ("False", "True")


def test_target():
    content = written(kind=["u", "v"], a=[1, 2])
    assert load(content, "kind").labels.tolist() == ["u", "v"]
    assert load(content, 0).feature_names == ("a",)
    with pytest.raises(BadOption, match="did you mean 'kind'"):
        load(content, "knd")


def test_the_row_labels_of_pandas_are_left_out():
    content = written(a=[1, 2], y=["u", "v"], __index_level_0__=[5, 6])
    stream = load(content)
    assert stream.feature_names == ("a",)
    assert stream.classes == ("u", "v")
    assert "__index_level_0__" in stream.notes[0]
    assert load(content, "__index_level_0__").classes == ("5", "6")


@pytest.mark.parametrize(
    "values", [[datetime.date(2020, 1, 1)] * 2, [[1], [2]], [{"k": 1}] * 2, [b"x", b"y"]]
)
def test_other_types_are_refused(values):
    with pytest.raises(StreamError, match="column 'a' is of type"):
        load(written(a=values, y=["u", "v"]))


def test_infinity():
    with pytest.raises(StreamError, match="row 1, column 'a': infinite"):
        load(written(a=[1.0, np.inf], y=["u", "v"]))


def test_one_column_and_no_rows():
    with pytest.raises(StreamError, match="one column only"):
        load(written(y=["u", "v"]))
    with pytest.raises(StreamError, match="no row"):
        load(written(a=pa.array([], pa.int64()), y=pa.array([], pa.string())))


def test_damaged():
    content = written(a=list(range(1000)), y=["u", "v"] * 500)
    for damaged in (content[:-20], content[: len(content) // 2], b"PAR1junkPAR1", b"PAR1"):
        with pytest.raises(StreamError, match="not a readable Parquet"):
            load(damaged)


def test_text_that_is_not_utf8():
    offsets, data = np.array([0, 1, 2], np.int32), b"a\xa0"
    words = pa.StringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(data))
    with pytest.raises(StreamError, match="not a readable Parquet"):
        load(written(a=words, y=["u", "v"]))


def test_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"millpond\[parquet\]"):
        read_parquet(b"PAR1")
