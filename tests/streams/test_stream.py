from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.errors import BadInput, BadOption, StreamError
from millpond.streams.stream import Stream, encode, encode_by_appearance


def made(n: int = 10, name: str = "made") -> Stream:
    rng = np.random.default_rng(0)
    X = rng.random((n, 3), dtype=np.float32)
    return Stream(name, X, np.arange(n) % 2, ("a", "b", "c"), ("no", "yes"))


def test_iterates_over_rows_and_codes():
    stream = made()
    pairs = list(stream)
    assert len(stream) == len(pairs) == 10
    for t, (x, y) in enumerate(pairs):
        assert np.array_equal(x, stream.X[t])
        assert x.dtype == np.float32
        assert type(y) is int
        assert y == stream.y[t]


def test_labels_are_the_originals():
    assert made(3).labels.tolist() == ["no", "yes", "no"]


def test_is_frozen_and_in_the_promised_layout():
    stream = Stream("s", np.asfortranarray(np.ones((4, 2))), [0, 0, 0, 0], ["a", "b"], ["x"])
    assert stream.X.dtype == np.float32
    assert stream.X.flags.c_contiguous
    assert stream.y.dtype == np.int64
    assert stream.feature_names == ("a", "b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        stream.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("X", "y", "names", "classes"),
    [
        (np.zeros(3), [0, 0, 0], ("a",), ("x",)),
        (np.zeros((3, 1)), [0, 0], ("a",), ("x",)),
        (np.zeros((3, 1)), [0, 0, 0], ("a", "b"), ("x",)),
        (np.zeros((3, 1)), [0, 0, 1], ("a",), ("x",)),
        (np.zeros((3, 1)), [0, 0, -1], ("a",), ("x",)),
    ],
)
def test_parts_that_do_not_fit_are_refused(X, y, names, classes):
    with pytest.raises(BadInput):
        Stream("s", X, y, names, classes)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, 1e39])
def test_infinity_is_refused_with_its_place(bad):
    X = np.zeros((4, 2))
    X[0, 0] = np.nan
    X[2, 1] = bad
    with pytest.raises(StreamError, match="row 2, column 'b'"):
        Stream("s", X, [0, 0, 0, 0], ("a", "b"), ("x",))


def test_missing_values_are_allowed():
    stream = Stream("s", [[np.nan, 1.0]], [0], ("a", "b"), ("x",))
    assert np.isnan(stream.X[0, 0])


def test_fingerprint_covers_content_and_not_names():
    stream = made()
    renamed = dataclasses.replace(
        stream, name="other", feature_names=("x", "y", "z"), notes=("a note",)
    )
    assert renamed.fingerprint() == stream.fingerprint()
    X = stream.X.copy()
    X[0, 0] += 1
    y = stream.y.copy()
    y[0] = 1
    others = [
        dataclasses.replace(stream, X=X),
        dataclasses.replace(stream, y=y),
        dataclasses.replace(stream, classes=("no", "maybe")),
        dataclasses.replace(stream, X=stream.X.reshape(6, 5), y=[0] * 6, feature_names="abcde"),
    ]
    assert len({s.fingerprint() for s in (stream, *others)}) == 1 + len(others)


def test_fingerprint_is_blind_to_the_bits_of_a_missing_value():
    bits = np.array([[0x7FC00000], [0xFFC00001]], np.uint32).view(np.float32)
    one = Stream("s", bits, [0, 0], ("a",), ("x",))
    other = Stream("s", [[np.nan], [np.nan]], [0, 0], ("a",), ("x",))
    assert one.fingerprint() == other.fingerprint()


def test_head():
    stream = made()
    first = stream.head(4)
    assert np.array_equal(first.X, stream.X[:4])
    assert np.array_equal(first.y, stream.y[:4])
    assert first.classes == stream.classes
    assert stream.head(1).classes == stream.classes
    assert len(stream.head(99)) == 10
    assert len(stream.head(0)) == 0
    with pytest.raises(BadOption):
        stream.head(-1)


@given(n=st.integers(0, 60), block=st.integers(1, 70), seed=st.integers(0, 5))
def test_shuffling_stays_within_blocks(n, block, seed):
    X = np.arange(n, dtype=np.float32)[:, None]
    stream = Stream("s", X, np.arange(n) % 3, ("t",), ("a", "b", "c"))
    shuffled = stream.shuffled_within(block, seed)
    rows = shuffled.X[:, 0].astype(int)
    assert np.array_equal(shuffled.y, rows % 3)  # X and y together
    for begin in range(0, n, block):
        part = rows[begin : begin + block]
        assert sorted(part) == list(range(begin, min(begin + block, n)))


def test_shuffling_is_of_its_seed():
    stream = made(200)
    one = stream.shuffled_within(100, 1)
    assert one.fingerprint() == stream.shuffled_within(100, 1).fingerprint()
    assert one.fingerprint() != stream.shuffled_within(100, 2).fingerprint()
    assert one.fingerprint() != stream.fingerprint()
    assert stream.shuffled_within(1, 1).fingerprint() == stream.fingerprint()
    assert "blocks of 100" in one.notes[-1]
    with pytest.raises(BadOption):
        stream.shuffled_within(0, 1)


def test_codes_are_by_sorted_strings_or_by_appearance():
    y, classes = encode(["2", "10", "2", "1"])
    assert classes == ("1", "10", "2")
    assert y.tolist() == [2, 1, 2, 0]
    y, classes = encode_by_appearance(["2", "10", "2", "1"])
    assert classes == ("2", "10", "1")
    assert y.tolist() == [0, 1, 0, 2]
