from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.errors import BadOption, StreamError
from millpond.streams.arff import looks_like_arff, read_arff
from millpond.streams.table import to_stream

HEAD = """% a comment
@RELATION 'a test'
@attribute age NUMERIC
@attribute 'eye colour' {blue, 'dark brown', "it's"}
@Attribute weight real
@attribute kind {yes,no}

@DATA
"""


def load(text, target=None, **options):
    return to_stream(read_arff(text, target, **options), "s")


def test_dense():
    stream = load(HEAD + "1,blue,2.5,no\n% between\n\n 3 , 'dark brown' ,?, yes\n?,\"it's\",4,no\n")
    assert stream.feature_names == ("age", "eye colour", "weight")
    expected = [[1, 0, 2.5], [3, 1, np.nan], [np.nan, 2, 4]]
    assert np.array_equal(stream.X, np.float32(expected), equal_nan=True)
    assert stream.labels.tolist() == ["no", "yes", "no"]
    assert stream.classes == ("no", "yes")  # sorted, not as declared
    assert stream.notes == ()


def test_unquoted_rows_go_the_fast_way():
    stream = load(HEAD + "1,blue,2.5,no\n3,?,4,yes\n")
    assert np.array_equal(stream.X, np.float32([[1, 0, 2.5], [3, np.nan, 4]]), equal_nan=True)


def test_sparse():
    stream = load(HEAD + "{0 7, 3 no}\n{}\n{1 'dark brown',2 ?}\n1,blue,2,no\n")
    expected = [[7, 0, 0], [0, 0, 0], [0, 1, np.nan], [1, 0, 2]]
    assert np.array_equal(stream.X, np.float32(expected), equal_nan=True)
    assert stream.labels.tolist() == ["no", "yes", "yes", "no"]  # the first value is left out


@pytest.mark.parametrize(
    "row", ["{4 1}", "{0}", "{x 1}", "{0 1", "{0 1,,1 blue}", "{99999999999 1}"]
)
def test_malformed_sparse_rows_are_dropped(row):
    stream = load(HEAD + f"{row}\n1,blue,2,no\n")
    assert len(stream) == stream.dropped == 1


def test_malformed_dense_rows_are_dropped():
    rows = "1,blue,2,no\n1,blue,2\n1,green,2,no\nx,blue,2,no\n1,blue,2,maybe\n2,blue,3,yes\n"
    stream = load(HEAD + rows)
    assert stream.X[:, 0].tolist() == [1, 2]
    assert stream.dropped == 4
    assert "line 10: 3 fields, not 4" in stream.notes[0]
    assert "line 11: 'green'" in stream.notes[0]
    assert "line 12: 'x'" in stream.notes[0]
    assert "line 13: 'maybe'" in stream.notes[0]


def test_too_many_malformed_rows():
    with pytest.raises(StreamError, match="11 of 31 rows are malformed, first at line 29"):
        load(HEAD + "1,blue,2,no\n" * 20 + "1,blue,2,maybe\n" * 11)


def test_text_columns_are_coded_by_first_appearance():
    head = "@relation r\n@attribute word string\n@attribute y {0,1}\n@data\n"
    stream = load(head + "'b c',0\na,1\n'b c',1\n?,0\n")
    assert np.array_equal(stream.X[:, 0], np.float32([0, 1, 0, np.nan]), equal_nan=True)
    assert "word" in stream.notes[0]


def test_nominal_features_by_first_appearance():
    stream = load(HEAD + "1,'dark brown',2,no\n1,blue,2,yes\n", by_appearance=True)
    assert stream.X[:, 1].tolist() == [0, 1]


@pytest.mark.parametrize("target", ["eye colour", 1, -3])
def test_target(target):
    stream = load(HEAD + '1,blue,2,no\n1,"it\'s",2,yes\n', target)
    assert stream.labels.tolist() == ["blue", "it's"]
    assert stream.X[:, 2].tolist() == [1, 0]


def test_target_that_does_not_exist():
    with pytest.raises(BadOption, match="did you mean 'kind'"):
        load(HEAD + "1,blue,2,no\n", "kin")


def test_escapes_in_quotes():
    head = "@relation r\n@attribute 'it\\'s' numeric\n@attribute y {'a\\'b', c}\n@data\n"
    stream = load(head + "1,'a\\'b'\n2,c\n")
    assert stream.feature_names == ("it's",)
    assert stream.classes == ("a'b", "c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@relation r\n@attribute a numeric\n", "without an @data line"),
        ("@relation r\n@attribute a date 'yyyy'\n@data\n", "line 2: attribute 'a' is of type 'dat"),
        ("@relation r\n@attribute a relational\n@data\n", "'relational'"),
        ("@relation r\n@attribute a\n@data\n", "line 2: an attribute needs a name and a type"),
        ("@relation r\n@attribute a {x,y\n@data\n", "line 2: the values of 'a' are not closed"),
        ("@relation r\nwhat\n@data\n", "line 2: no ARFF declaration: 'what'"),
        ("@relation r\n@attribute a numeric\n@data\n1\n", "one column only"),
        ("@relation r\n@data\n1\n", "one column only"),
        (HEAD, "no rows"),
        (HEAD + "1\n", "no row that can be used; 1 malformed row dropped"),
    ],
)
def test_refused(text, message):
    with pytest.raises(StreamError, match=message):
        load(text)


def test_looks_like_arff():
    assert looks_like_arff("% c\n\n @Relation x")
    assert looks_like_arff("@ATTRIBUTE a numeric")
    assert not looks_like_arff("1,2,3\n@relation")
    assert not looks_like_arff("% only a comment")


names = st.text(min_size=1, max_size=8).filter(
    lambda s: s.strip() == s and s.isprintable() and s.lower() not in ("?", "na", "nan", "null")
)


def quote(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


@given(st.data(), st.lists(names, min_size=2, max_size=4, unique=True))
def test_quoted_values_survive(data, values):
    """Whatever the values are: dense and sparse rows of them are read back."""
    rows = data.draw(
        st.lists(
            st.tuples(st.integers(-99, 99), st.sampled_from(values), st.sampled_from(values)),
            min_size=1,
            max_size=6,
        )
    )
    declared = "{" + ",".join(map(quote, values)) + "}"
    head = f"@relation r\n@attribute n numeric\n@attribute v {declared}\n@attribute y {declared}\n"
    dense = "".join(f"{n},{quote(v)},{quote(y)}\n" for n, v, y in rows)
    sparse = "".join(f"{{0 {n}, 1 {quote(v)},2 {quote(y)}}}\n" for n, v, y in rows)
    for body in (dense, sparse):
        table = read_arff(f"{head}@data\n{body}")
        assert list(table.labels) == [y for _, _, y in rows]
        assert table.X.tolist() == [[n, values.index(v)] for n, v, _ in rows]
