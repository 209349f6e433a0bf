"""The classifier's verbs in any order, with Rill, against its definition over the brute-force context."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from rill_random import TINY, random_arrays, write_weights
from rill_slowly import SlowRill

from classifier_machine import FEATURES, Machine, Vector, Voice
from oracle import BruteForceContext

_FOLDER = tempfile.TemporaryDirectory()
WEIGHTS = write_weights(Path(_FOLDER.name) / "weights.npz")


class Slowly:
    """The definition of Rill: what it says of a row depends on when each row was added and promoted."""

    def __init__(self) -> None:
        self.rill = SlowRill(random_arrays(TINY), TINY, len(FEATURES))

    def ask(self, context: BruteForceContext, x: Vector) -> dict[int, float]:
        return self.rill.predict(x)

    def follow(self, delta: Any, x: Vector, code: int) -> None:
        added, promoted, evicted = delta
        self.rill.add(added, x, code)
        for arrival in set(promoted) - set(evicted):
            self.rill.promote(arrival)
        for arrival in evicted:
            self.rill.evict(arrival)


class Rill(Machine):
    backbone = "rill"
    options = {"weights": str(WEIGHTS)}  # noqa: RUF012
    near = 1e-4

    def voice(self) -> Voice:
        return Slowly()


TestRill = Rill.TestCase
TestRill.settings = settings(max_examples=25, stateful_step_count=40, deadline=None)
