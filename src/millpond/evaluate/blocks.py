"""The loop's step for learners that test and train on a block of rows in one call of their library."""

from __future__ import annotations

from collections.abc import Sequence

from millpond.baselines import BlockLearner
from millpond.errors import BadOption
from millpond.evaluate.lane import Lane
from millpond.evaluate.schedule import Protocol


def follow(learner: BlockLearner, lanes: Sequence[Lane], rows: range) -> None:
    """One block: every lane's rows are tested and learned one by one, then scored."""
    for i, lane in enumerate(lanes):
        own = range(rows.start, min(rows.stop, lane.rows))
        if own:
            part = slice(own.start, own.stop)
            prediction = learner.test_then_train(lane.stream.X[part], lane.stream.y[part], i)
            lane.follow(own, prediction)


def refuse_late_labels(learner: BlockLearner, protocol: Protocol) -> None:
    """Inside a block every label is learned right after its own row."""
    for name, value in (("chunk", 1), ("delay", 0), ("missing", 0.0)):
        if getattr(protocol, name) != value:
            raise BadOption(
                f"{learner.describe(0)['name']} tests and trains inside its own library, where "
                f"every label follows its row: {name} must be {value:g}"
            )
