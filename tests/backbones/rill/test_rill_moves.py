"""Rill's lanes taken out of one session and put into another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rill_random import write_weights

from millpond import StreamClassifier
from millpond.backbones.rill import Rill
from millpond.errors import CheckpointError
from millpond.learner import ContextLearner
from moving_lanes import check_that_lanes_move, check_that_lanes_widen, step


@pytest.fixture
def rill(tmp_path: Path) -> Rill:
    return Rill(weights=write_weights(tmp_path / "weights.npz"))


@pytest.mark.parametrize("policy", ["cure", "fifo"])
def test_lanes_move(rill: Rill, policy: str) -> None:
    check_that_lanes_move(rill, policy=policy)


def test_lanes_widen(rill: Rill) -> None:
    check_that_lanes_widen(rill)


def test_statistics_outlive_a_new_column(rill: Rill) -> None:
    """A feature that comes late leaves what is known of the others as it was."""
    classifier = StreamClassifier(rill, budget=20)
    rng = np.random.default_rng(1)
    for t in range(30):
        classifier.learn_one({"u": float(rng.normal())}, t % 2)
    before = classifier._learner.session._columns.state()  # type: ignore[attr-defined]
    classifier.learn_one({"u": 0.5, "later": 1.0}, 1)
    after = classifier._learner.session._columns.state()  # type: ignore[attr-defined]
    assert after["rows"][0] == before["rows"][0] + 1
    assert after["count"].tolist() == [[31.0, 1.0]]
    np.testing.assert_array_equal(after["reference"][0, 0, :30], before["reference"][0, 0, :30])


def test_another_networks_lane_is_refused(rill: Rill, tmp_path: Path) -> None:
    other = Rill(weights=write_weights(tmp_path / "other.npz", seed=5))
    mine, its = (ContextLearner(2, backbone=each, budget=9) for each in (rill, other))
    step(its, 0, np.random.default_rng(1))
    with pytest.raises(CheckpointError, match="go on with those that began"):
        mine.restore_lane(0, its.lane_state(0))
