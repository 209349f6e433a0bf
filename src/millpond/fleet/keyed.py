"""One key's memory beside its lane: columns, labels, what waits, and what was answered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond import tags
from millpond.errors import BadInput
from millpond.fleet.change import Change, Codes, Predicted, Probabilities, content_of
from millpond.fleet.operation import LEARN, PREDICT
from millpond.fleet.pools import Place
from millpond.intake import Intake


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that was given to an operation with an id."""

    content: str
    codes: Codes = ()
    proba: Probabilities = ()


class Answered:
    """The answers to the last operations that had ids: one that comes again is not applied again."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._given: OrderedDict[tuple[str, Hashable], Given] = OrderedDict()

    def find(self, verb: str, id: Hashable | None, content: str) -> Given | None:
        """What was answered to this very operation; BadInput if its id named another one."""
        given = None if id is None else self._given.get((verb, id))
        if given is not None and given.content != content:
            what = "row" if verb == PREDICT else "label"
            raise BadInput(f"the id {id!r} came before with another {what}: use a new one")
        return given

    def add(self, verb: str, id: Hashable | None, given: Given) -> None:
        if id is None:
            return
        self._given[verb, id] = given
        if len(self._given) > self._most:
            self._given.popitem(last=False)

    def state(self) -> tuple[Any, ...]:
        return tuple(
            (verb, id, given.content, given.codes, given.proba)
            for (verb, id), given in self._given.items()
        )

    def restore(self, state: tuple[Any, ...]) -> None:
        self._given = OrderedDict(((verb, id), Given(*given)) for verb, id, *given in state)


class Keyed:
    """One key of a fleet. Its lane, if it has learned a row, is at its place in the pools."""

    def __init__(self, name: str, waiting: int, remember: int) -> None:
        self.name = name
        self.intake = Intake(waiting)
        self.answered = Answered(remember)
        self.operations = 0
        """applied so far: the number of the last change"""
        self.saved = 0
        """the number of the last change that a snapshot holds"""
        self.place: Place | None = None

    def apply(self, request: str, change: Change) -> tuple[NDArray[np.float32], int] | None:
        """Take in a change. Of a learned row, the vector and the code that its lane has to learn."""
        waiting, content = self.intake.waiting, content_of(request)
        self.operations += 1
        if isinstance(change, Predicted):
            waiting.add(change.id, change.cells, change.score)
            self.answered.add(PREDICT, change.id, Given(content, change.codes, change.proba))
            return None
        cells = change.cells
        if cells is None:
            waits = waiting.under(change.id)
            assert waits is not None
            cells = waits[0]
        row = self.intake.learn(cells, change.label)
        waiting.learned(change.id, cells)
        self.answered.add(LEARN, change.id, Given(content))
        return row

    # -- saving ----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """As JSON, but for the lane."""
        answered = tags.encode(self.answered.state(), "the answer")
        return {"operations": self.operations, "answered": answered, **self.intake.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.operations = self.saved = int(state["operations"])
        self.answered.restore(tags.decode(state["answered"]))
        self.intake.restore(state)
