"""The classifier's verbs in any order, with knn, against exact votes over the brute-force context."""

from __future__ import annotations

from hypothesis import settings

from classifier_machine import ExactVotes, Machine, Voice


class Knn(Machine):
    backbone = "knn"
    options = {"k": 3}  # noqa: RUF012
    near = 1e-12

    def voice(self) -> Voice:
        return ExactVotes()


TestKnn = Knn.TestCase
TestKnn.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
