"""What every backbone's lanes have to do when one is taken out of many and put in elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millpond.learner import ContextLearner
from millpond.state import State

OPTIONS: dict[str, Any] = {"budget": 12, "short_ratio": 0.5, "tau": 0.3}


def step(learner: ContextLearner, lane: int, rng: np.random.Generator, features: int = 4) -> Any:
    """One row predicted and learned; classes come late, values are missing at times."""
    x = rng.normal(size=(1, features)).astype(np.float32).round(1)
    x[rng.random(x.shape) < 0.1] = np.nan
    lanes = np.array([lane])
    predictions = learner.predict(range(1), x[:, None], lanes)
    label = np.array([int(rng.integers(0, 2 + learner.contexts.banks[lane].seen // 8))])
    learner.learn(0, x, label, learner.score(predictions, lanes)[:, 0], lanes)
    return predictions[0].classes.tolist(), predictions[0].proba.tolist()


def same(one: State, other: State) -> None:
    """Bit by bit, but for the room that a session of one lane has for classes yet to come."""
    assert one.keys() == other.keys()
    for name, array in one.items():
        mine, its = array, other[name]
        if name in ("session.classes.code", "session.classes.count", "session.classes.last"):
            known = int(one["session.classes.known"][0])
            mine, its = mine[:, :known], its[:, :known]
        np.testing.assert_array_equal(mine, its, err_msg=name)


def check_that_lanes_move(backbone: Any, **options: Any) -> None:
    options = {**OPTIONS, **options, "backbone": backbone}
    alone = ContextLearner(1, **options)
    first, second = (ContextLearner(3, **options) for _ in range(2))
    own, its, others = (np.random.default_rng(seed) for seed in (1, 1, 2))
    for _ in range(20):
        assert step(alone, 0, own) == step(first, 1, its)
        step(first, 0, others)
        step(second, 2, others)
    state, bystanders = first.lane_state(1), [second.lane_state(lane) for lane in (0, 2)]
    same(state, alone.state())
    second.restore_lane(1, state)
    same(second.lane_state(1), state)
    for _ in range(30):
        assert step(alone, 0, own) == step(second, 1, its)
    same(second.lane_state(1), alone.state())
    for lane, before in zip((0, 2), bystanders, strict=True):
        same(second.lane_state(lane), before)
    # A lane that is put back to nothing begins as a new one; the room for classes that others made
    # changes the sizes of matrix products, and so the last bits.
    first.restore_lane(1, ContextLearner(1, **options).lane_state(0))
    again, own, its = ContextLearner(1, **options), *map(np.random.default_rng, (3, 3))
    for _ in range(20):
        classes, proba = step(again, 0, own)
        assert step(first, 1, its) == (classes, [pytest.approx(proba[0], abs=1e-5)])


def check_that_lanes_widen(backbone: Any) -> None:
    """A lane that is put in where rows have more columns is one whose rows got wider in place."""
    options = {**OPTIONS, "backbone": backbone}
    alone, narrow, wide = (ContextLearner(lanes, **options) for lanes in (1, 2, 2))
    own, its, others = (np.random.default_rng(seed) for seed in (1, 1, 2))
    step(wide, 0, others, features=6)
    for _ in range(20):
        assert step(alone, 0, own) == step(narrow, 1, its)
    alone.contexts.widen(6)
    wide.restore_lane(1, narrow.lane_state(1))
    # Its first wide row is learned before it is asked about, as a classifier's is.
    for learner, rng, lane in ((alone, own, 0), (wide, its, 1)):
        x = rng.normal(size=(1, 6)).astype(np.float32)
        learner.learn(0, x, np.array([1]), np.zeros(1), np.array([lane]))
    for _ in range(20):
        assert step(alone, 0, own, features=6) == step(wide, 1, its, features=6)
    same(alone.state(), wide.lane_state(1))
