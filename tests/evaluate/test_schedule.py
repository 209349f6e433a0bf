"""When rows are predicted together, and when their labels arrive."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.errors import BadOption
from millpond.evaluate.schedule import Pending, Protocol


@given(st.integers(0, 30), st.integers(1, 12), st.integers(0, 60), st.integers(0, 60))
def test_chunks_cover_every_row_once(warmup: int, chunk: int, rows: int, start: int) -> None:
    chunks = list(Protocol(warmup=warmup, chunk=chunk).chunks(start, rows))
    assert [row for each in chunks for row in each] == list(range(start, rows))
    for each in chunks:
        assert 1 <= len(each) <= chunk
        assert not each.start < warmup < each.stop
        if len(each) < chunk:  # only where the warm-up or the stream ends
            assert each.stop in (warmup, rows)


@given(st.integers(0, 30), st.integers(1, 12), st.integers(1, 60), st.data())
def test_chunks_go_on_from_any_border(
    warmup: int, chunk: int, rows: int, data: st.DataObject
) -> None:
    protocol = Protocol(warmup=warmup, chunk=chunk)
    whole = list(protocol.chunks(0, rows))
    cut = data.draw(st.integers(0, len(whole)))
    start = whole[cut].start if cut < len(whole) else rows
    assert whole[:cut] + list(protocol.chunks(start, rows)) == whole


@given(st.integers(0, 2000), st.integers(0, 2000), st.floats(0, 0.99), st.integers(0, 99))
def test_whether_a_label_arrives_does_not_depend_on_the_streams_length(
    rows: int, longer: int, missing: float, seed: int
) -> None:
    protocol = Protocol(missing=missing, seed=seed)
    arrives = protocol.arrives(rows + longer)
    assert arrives.dtype == bool
    np.testing.assert_array_equal(protocol.arrives(rows), arrives[:rows], strict=True)


def test_the_share_of_labels_that_never_arrive() -> None:
    assert Protocol().arrives(1000).all()
    for missing in (0.1, 0.5, 0.9):
        lost = ~Protocol(missing=missing, seed=1).arrives(100_000)
        assert abs(lost.mean() - missing) < 0.01
    one, other = (Protocol(missing=0.5, seed=seed).arrives(1000) for seed in (1, 2))
    assert 300 < (one != other).sum() < 700


@given(st.integers(0, 20), st.lists(st.integers(1, 6), max_size=12), st.integers(0, 12))
def test_a_label_is_due_when_the_row_a_delay_later_has_been_predicted(
    delay: int, chunks: list[int], cut: int
) -> None:
    pending, predicted = Pending(delay), 0
    due: list[int] = []
    for step, chunk in enumerate(chunks):
        if step == cut:
            restored = Pending(delay)
            restored.restore(pending.state(2))
            pending = restored
        for row in range(predicted, predicted + chunk):
            pending.add(row, np.array([row, -row / 3]))
        predicted += chunk
        for row, scores in pending.due(predicted):
            assert scores.tolist() == [row, -row / 3]
            due.append(row)
        assert due == list(range(max(0, predicted - delay)))


def test_the_state_of_rows_that_wait_is_a_copy() -> None:
    pending = Pending(5)
    pending.add(0, np.array([1.0, 2.0]))
    state = pending.state(2)
    restored = Pending(5)
    restored.restore(state)
    state["scores"][:] = 9.0
    assert [scores.tolist() for _, scores in restored.due(6)] == [[1.0, 2.0]]
    assert Pending(3).state(4)["scores"].shape == (0, 4)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("warmup", [-1, 1.0, None, "1", True]),
        ("chunk", [0, -2, 1.5]),
        ("delay", [-1, 0.5]),
        ("window", [0, None]),
        ("seed", [-1, 1.5, None]),
        ("limit", [0, -1, 2.5, False]),
        ("shuffle_within", [0, 1.5]),
        ("missing", [-0.1, 1.0, 2, float("nan"), "0.1", None]),
    ],
)
def test_what_is_no_protocol(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(BadOption, match=name):
            Protocol(**{name: value})


def test_numpy_numbers_are_numbers() -> None:
    assert Protocol(limit=np.int64(5), missing=np.float64(0.5)).limit == 5
