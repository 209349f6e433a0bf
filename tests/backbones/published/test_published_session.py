"""The session: which tables a model is asked, and what becomes of its answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millpond.backbones.published.session import ReencodingSession
from millpond.backbones.published.tables import Table, grouped
from millpond.context import Contexts
from millpond.errors import CheckpointError

SHA = "ab" * 32


class Frequencies:
    """Answers with class frequencies; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[Table]] = []

    def probabilities(self, tables: list[Table]) -> list[Any]:
        self.asked.append(tables)
        return [
            np.tile(np.bincount(t.y, minlength=t.classes) / len(t.y), (len(t.queries), 1)).astype(
                np.float32
            )
            for t in tables
        ]


def session(lanes: int) -> tuple[Contexts, Frequencies, ReencodingSession]:
    contexts, model = Contexts(lanes, policy="fifo", budget=4), Frequencies()
    return contexts, model, ReencodingSession(model, contexts, SHA)


def learn(contexts: Contexts, lane: int, value: float, label: int) -> None:
    contexts.observe(np.full((1, 2), value, np.float32), np.array([label]), np.zeros(1), [lane])


def test_lanes_without_a_question_are_not_asked() -> None:
    contexts, model, opened = session(3)
    X = np.zeros((3, 2, 2), np.float32)
    learn(contexts, 1, 5.0, 7)
    for label in (9, 3, 9):
        learn(contexts, 2, float(label), label)
    empty, one, two = opened.predict(X, np.arange(3))
    assert (empty.classes.tolist(), empty.proba.shape) == ([], (2, 0))
    assert (one.classes.tolist(), one.proba.tolist()) == ([7], [[1.0], [1.0]])
    assert two.classes.tolist() == [3, 9]
    assert two.proba == pytest.approx(np.array([[1 / 3, 2 / 3]] * 2))
    ((table,),) = model.asked
    assert (table.X[:, 0].tolist(), table.y.tolist(), table.classes) == ([9, 3, 9], [1, 0, 1], 2)


def test_what_left_the_context_is_not_asked_about() -> None:
    contexts, model, opened = session(1)
    for label in range(6):
        learn(contexts, 0, float(label), label)
    (found,) = opened.predict(np.zeros((1, 1, 2), np.float32), np.array([0]))
    assert found.classes.tolist() == [2, 3, 4, 5]
    assert model.asked[0][0].X[:, 0].tolist() == [2, 3, 4, 5]


def test_some_lanes_in_another_order() -> None:
    contexts, model, opened = session(3)
    for lane in range(3):
        for label in (lane, lane + 1):
            learn(contexts, lane, float(lane), label)
    X = np.arange(2, dtype=np.float32)[:, None, None] + np.zeros((2, 1, 2), np.float32)
    first, second = opened.predict(X, np.array([2, 0]))
    assert (first.classes.tolist(), second.classes.tolist()) == ([2, 3], [0, 1])
    assert [table.queries[0, 0] for table in model.asked[0]] == [0.0, 1.0]


def test_no_queries() -> None:
    contexts, model, opened = session(1)
    learn(contexts, 0, 0.0, 0)
    learn(contexts, 0, 0.0, 1)
    (found,) = opened.predict(np.zeros((1, 0, 2), np.float32), np.array([0]))
    assert found.proba.shape == (0, 2)
    assert not model.asked


def test_a_state_belongs_to_its_weights() -> None:
    contexts, model, opened = session(1)
    opened.restore(opened.state())
    other = ReencodingSession(model, contexts, "cd" * 32)
    with pytest.raises(CheckpointError, match="made with weights abababababab, these are cdcdcdcd"):
        other.restore(opened.state())


def test_tables_are_asked_by_group_and_not_too_many_at_once() -> None:
    tables = [
        Table(np.zeros((rows, 1), np.float32), np.zeros(rows, np.int64), np.zeros((1, 1)), 2)
        for rows in (3, 5, 3, 3, 5, 3)
    ]
    calls: list[list[int]] = []

    def together(part: list[Table]) -> list[Any]:
        calls.append([len(table.X) for table in part])
        return [np.full((1, 2), len(table.X)) for table in part]

    found = grouped(tables, lambda table: len(table.X), together, lambda table: 3)
    assert calls == [[3, 3, 3], [3], [5, 5]]
    assert [int(answer[0, 0]) for answer in found] == [3, 5, 3, 3, 5, 3]
