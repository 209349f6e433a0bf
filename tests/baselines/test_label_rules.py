"""The label rules as learners: the floors, driven by the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond import prequential
from millpond.baselines import LEARNERS, get_learner
from millpond.baselines.label_rules import RULES, LabelRuleLearner
from millpond.errors import BadOption, UnknownName
from slow_loop import made_stream

every_rule = pytest.mark.parametrize("rule", RULES)


@every_rule
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 150),
    classes=st.integers(1, 4),
    protocol=st.fixed_dictionaries(
        {
            "warmup": st.integers(0, 30),
            "chunk": st.integers(1, 8),
            "delay": st.integers(0, 12),
            "missing": st.sampled_from([0.0, 0.5]),
        }
    ),
)
def test_a_rule_reaches_its_own_floor(
    rule: str, seed: int, rows: int, classes: int, protocol: dict[str, Any]
) -> None:
    """Learner and floor are two ways through the loop to the same rule."""
    stream = made_stream(seed, rows, classes=classes, late=True)
    result = prequential(stream, learner=rule, **protocol)
    assert result.floors[rule] == result.facts["accuracy"]
    assert result.facts["learner"] == {"name": rule}


def test_a_rule_is_sure_of_its_guess() -> None:
    learner = LabelRuleLearner("majority", 1)
    lane, X = np.array([0]), np.zeros((1, 2, 3), np.float32)
    (before,) = learner.predict(range(2), X, lane)
    assert (before.classes.tolist(), before.proba.shape) == ([], (2, 0))
    for row, y in enumerate([4, 2, 2]):
        learner.learn(row, X[:, 0], np.array([y]), np.zeros(1), lane)
    (after,) = learner.predict(range(3, 5), X, lane)
    assert after.classes.tolist() == [2, 4]
    assert after.proba.tolist() == [[1.0, 0.0]] * 2
    assert after.best().tolist() == [2, 2]
    assert learner.score([after], lane).tolist() == [[0.0, 0.0]]
    assert learner.banks(0, 5) == {}


@every_rule
def test_lanes_are_separate_and_a_restored_learner_continues(rule: str) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (2, 60))
    X = np.zeros((2, 1, 1), np.float32)

    def run(learner: Any, lanes: list[int], start: int, stop: int) -> list[list[int]]:
        guesses = []
        for row in range(start, stop):
            found = learner.predict(range(row, row + 1), X, np.arange(len(lanes)))
            guesses.append([int(p.best()[0]) if len(p.classes) else -1 for p in found])
            learner.learn(row, X[:, 0], labels[lanes, row], np.zeros(2), np.arange(len(lanes)))
        return guesses

    both = LabelRuleLearner(rule, 2)
    together = run(both, [0, 1], 0, 30)
    state = both.state()
    together += run(both, [0, 1], 30, 60)
    for lane in (0, 1):
        alone = run(LabelRuleLearner(rule, 1), [lane], 0, 60)
        assert [guess[lane] for guess in together] == [guess for (guess,) in alone]
    restored = LabelRuleLearner(rule, 2)
    restored.restore(state)
    assert run(restored, [0, 1], 30, 60) == together[30:]


def test_learners_by_name() -> None:
    assert RULES.keys() == {"nochange", "majority", "successor", "period"} <= set(LEARNERS)
    with pytest.raises(UnknownName, match="did you mean majority"):
        get_learner("majorty", 1)
    for option in ("budget", "name", "lanes"):
        with pytest.raises(BadOption, match=f"takes no option '{option}'"):
            get_learner("majority", 1, **{option: 1})
