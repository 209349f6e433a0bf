"""Lanes that move, for backbones without caches; and what is said of those that cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from backbones_made import Cached, Voting
from millpond.backbones.knn import KNN
from millpond.errors import BadInput, BadOption
from millpond.learner import ContextLearner
from moving_lanes import OPTIONS, check_that_lanes_move, check_that_lanes_widen, step


@pytest.mark.parametrize("backbone", [KNN(k=3), Voting()], ids=["knn", "voting"])
@pytest.mark.parametrize("policy", ["cure", "fifo", "entropy_only"])
@pytest.mark.parametrize("tau", [0.3, "auto"])
@pytest.mark.parametrize("entropy_over", ["context", "seen"])
def test_lanes_move(backbone: Any, policy: str, tau: Any, entropy_over: str) -> None:
    check_that_lanes_move(backbone, policy=policy, tau=tau, entropy_over=entropy_over)


def test_lanes_widen() -> None:
    check_that_lanes_widen(KNN(k=3))


def test_a_state_wider_than_the_others_rows_is_refused() -> None:
    wide, narrow = (ContextLearner(1, **OPTIONS, backbone="knn") for _ in range(2))
    step(wide, 0, np.random.default_rng(1), features=3)
    step(narrow, 0, np.random.default_rng(1), features=2)
    with pytest.raises(BadInput, match="rows of 3 features for contexts of 2"):
        narrow.restore_lane(0, wide.lane_state(0))


def test_caches_that_cannot_be_taken_out() -> None:
    learner = ContextLearner(2, **OPTIONS, backbone=Cached())
    with pytest.raises(BadOption, match="CachedSession cannot be taken out one by one"):
        learner.lane_state(0)
