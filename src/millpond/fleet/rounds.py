"""A batch of operations, round by round: the first of every key, then the next.

An operation is read and checked by itself, so that a bad one is refused and touches nothing. Those that
need the backbone go through it together; then every change is applied, and the labelled rows are
learned together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from millpond.errors import BadInput, MillpondError
from millpond.fleet import change
from millpond.fleet.change import Change, Codes, Learned, Predicted, Probabilities
from millpond.fleet.keyed import Given, Keyed
from millpond.fleet.operation import LEARN, PREDICT, Answer, Operation
from millpond.fleet.pools import Pools
from millpond.fleet.recovery import settle
from millpond.fleet.store import Store
from millpond.intake import ToLearn, check_label
from millpond.reading import Cells


class Step:
    """One operation of one key: read, perhaps asked of the backbone, applied."""

    def __init__(self, keyed: Keyed, operation: Operation, most_labels: int) -> None:
        """BadInput if it cannot be done; nothing has changed then."""
        self.keyed, self.operation = keyed, operation
        self.row: ToLearn | None = None
        self.score = 0.0
        self.codes: Codes = ()
        self.proba: Probabilities = ()
        self.query: NDArray[np.float32] | None = None
        """the row to ask the backbone about"""
        intake, id = keyed.intake, operation.id
        cells: Cells | None = None if operation.x is None else intake.read(operation.x)
        learning = operation.verb == LEARN
        label = check_label(operation.y) if learning else None
        self.request = change.request(id, cells, *([label] if learning else []))
        self.given = keyed.answered.find(
            operation.verb, id, "" if id is None else change.content_of(self.request)
        )
        if self.given is not None:
            return
        if operation.verb == PREDICT:
            if cells is None:
                raise BadInput("nothing to predict: give x")
            intake.encoder.check([cells])
            self._will_ask(cells)
        else:
            self.row = intake.to_learn(cells, label, id)
            if len(intake.labels) >= most_labels and self.row.label not in intake.labels:
                raise BadInput(
                    f"the key has {most_labels:,} labels already: labels=... allows more"
                )
            if self.row.score is None:
                self._will_ask(self.row.cells)
            else:
                self.score = self.row.score
        self.cells = cells

    def _will_ask(self, cells: Cells) -> None:
        if self.keyed.place is not None:
            self.query = self.keyed.intake.encoder.vector(cells)

    def change(self) -> Change:
        if self.row is None:
            assert self.cells is not None
            return Predicted(self.operation.id, self.cells, self.score, self.codes, self.proba)
        return Learned(self.operation.id, self.cells, self.row.label, self.score)

    def answer(self) -> Answer:
        if self.operation.verb == LEARN:
            return Answer(repeated=self.given is not None)
        given = self.given or Given("", self.codes, self.proba)
        labels = self.keyed.intake.labels
        return Answer(
            {labels[code]: p for code, p in zip(given.codes, given.proba, strict=True)},
            repeated=self.given is not None,
        )


def serve(
    operations: Sequence[tuple[Keyed, Operation]], pools: Pools, store: Store, most_labels: int
) -> list[Answer | MillpondError]:
    """One operation of each of some keys, all in memory."""
    found: list[Step | MillpondError] = []
    for keyed, operation in operations:
        try:
            found.append(Step(keyed, operation, most_labels))
        except MillpondError as error:
            found.append(error)
    steps = [step for step in found if isinstance(step, Step) and step.given is None]
    _ask([step for step in steps if step.query is not None], pools)
    _apply(steps, pools, store)
    return [step if isinstance(step, MillpondError) else step.answer() for step in found]


def _ask(steps: list[Step], pools: Pools) -> None:
    places = [step.keyed.place for step in steps]
    rows = [step.query for step in steps]
    answers = pools.predict(
        [place for place in places if place is not None], [row for row in rows if row is not None]
    )
    for step, (prediction, score) in zip(steps, answers, strict=True):
        step.score = score
        step.codes = tuple(prediction.classes.tolist())
        step.proba = tuple(prediction.proba[0].tolist())


def _apply(steps: list[Step], pools: Pools, store: Store) -> None:
    learned: list[tuple[Step, NDArray[np.float32], int]] = []
    for step in steps:
        keyed, made = step.keyed, step.change()
        row = keyed.apply(step.request, made)
        if store.durable:
            store.append(keyed.name, keyed.operations, change.write(step.request, made))
        if row is not None:
            settle(keyed, pools, len(row[0]))
            learned.append((step, *row))
    places = [step.keyed.place for step, _, _ in learned]
    pools.learn(
        [place for place in places if place is not None],
        [row for _, row, _ in learned],
        [code for _, _, code in learned],
        [step.score for step, _, _ in learned],
    )
