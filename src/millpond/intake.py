"""What stands between a user's rows and labels and a lane's vectors and codes: one keyed stream's memory.

A classifier has one of these beside its one lane, a fleet one for each key: the columns and categories
learned so far, the labels in order of first appearance, and the predictions that wait for their labels.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from millpond import tags
from millpond.checks import check_whole
from millpond.encoding import Encoder
from millpond.errors import BadInput
from millpond.reading import Cells, is_missing, read_row
from millpond.waiting import Waiting


class ToLearn(NamedTuple):
    """A labelled row that was checked: nothing can be wrong with it any more."""

    cells: Cells
    label: Hashable
    score: float | None
    """of the prediction that waited for this label; None where none did"""


class Intake:
    """The encoder, the labels and the waiting predictions of one stream."""

    def __init__(self, waiting: int) -> None:
        self.encoder = Encoder()
        self.waiting = Waiting(check_whole("waiting", waiting, 1))
        self.labels: list[Hashable] = []
        """in order of first appearance: a label's place is its code"""
        self._codes: dict[Hashable, int] = {}

    def read(self, x: Any) -> Cells:
        """A row of any kind, as far as it can be read without its columns."""
        return read_row(x, self.encoder.by_name)

    def to_learn(self, given: Cells | None, label: Hashable, key: Hashable | None) -> ToLearn:
        """The row that a label belongs to: the given one, or else what waits under a key."""
        waits = None if key is None else self.waiting.under(check_key(key))
        if waits is not None:
            cells, score = waits[0] if given is None else given, waits[1]
            self.encoder.check([cells])
            return ToLearn(cells, label, score)
        if given is not None:
            self.encoder.check([given])
            return ToLearn(given, label, self.waiting.score_of(given))
        if key is None:
            raise BadInput("nothing to learn: give x, or the key that it was predicted under")
        raise BadInput(self.waiting.why_not(key))

    def learn(self, cells: Cells, label: Hashable) -> tuple[NDArray[np.float32], int]:
        """Take in a row that was checked: its vector, and the code of its label."""
        code = self._codes.setdefault(label, len(self.labels))
        if code == len(self.labels):
            self.labels.append(label)
        return self.encoder.learn(cells), code

    # -- saving ----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """As JSON; BadOption where a label, category, name or key has no form in it."""
        return {
            "labels": [tags.encode(label, "the label") for label in self.labels],
            "encoder": tags.encode(self.encoder.state(), "the feature or category"),
            "waiting": tags.encode(self.waiting.state(), "the key or category"),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.labels = [tags.decode(label) for label in state["labels"]]
        self._codes = {label: code for code, label in enumerate(self.labels)}
        self.encoder.restore(tags.decode(state["encoder"]))
        self.waiting.restore(tags.decode(state["waiting"]))


def check_label(y: Any) -> Hashable:
    """The label as Python has it, or BadInput."""
    label: Hashable = y.item() if isinstance(y, np.generic) and y.dtype.kind not in "mM" else y
    try:
        hash(label)
    except TypeError:
        raise BadInput(f"a label must be hashable, not {type(y).__name__}") from None
    if is_missing(label):
        raise BadInput(f"the label is missing ({y}): learn a row once its label is known")
    return label


def check_key(key: Hashable | None) -> Hashable | None:
    try:
        hash(key)
    except TypeError:
        raise BadInput(f"a key must be hashable, not {type(key).__name__}") from None
    return key
