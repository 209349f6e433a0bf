"""The learner: what goes to the context, what to the backbone, and where the time goes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from backbones_made import Cached, Forgetful, Voting
from millpond.backbones import Prediction
from millpond.backbones.rill.weights import PACKAGED
from millpond.errors import BadOption, UnknownName
from millpond.learner import ContextLearner
from oracle import entropy, margin
from slow_loop import made_stream

OPTIONS: dict[str, Any] = {"budget": 10, "short_ratio": 0.5, "tau": 0.4}


def teach(learner: ContextLearner, start: int, stop: int, lanes: int = 2) -> list[Prediction]:
    """Test, then train, the same rows in every lane; what was predicted."""
    stream, found = made_stream(1, 200, classes=3), []
    every = np.arange(lanes)
    for t in range(start, stop):
        X = np.repeat(stream.X[t][None], lanes, axis=0)
        predictions = learner.predict(range(t, t + 1), X[:, None], every)
        scores = learner.score(predictions, every)
        learner.learn(t, X, np.full(lanes, stream.y[t]), scores[:, 0], every)
        found += predictions
    return found


def same(one: list[Prediction], other: list[Prediction]) -> bool:
    return all(
        a.classes.tolist() == b.classes.tolist() and a.proba.tobytes() == b.proba.tobytes()
        for a, b in zip(one, other, strict=True)
    )


def test_options_go_where_they_belong() -> None:
    learner = ContextLearner(1, backbone="knn", **OPTIONS, k=3, ties="newer", class_ties="smaller")
    assert learner.backbone.k == 3  # type: ignore[attr-defined]
    details = learner.contexts.details
    assert (details.ties, details.class_ties, details.warm_fill) == ("newer", "smaller", True)
    assert learner.describe(0) == {
        "name": "knn + cure",
        "backbone": "knn",
        "policy": "cure",
        **OPTIONS,
        "ties": "newer",
        "class_ties": "smaller",
        "k": 3,
    }


@pytest.mark.parametrize(
    "options",
    [
        {"nosuch": 1},
        {"ties": "x"},
        {"lanes": 2},
        {"budget": [1, 2]},
        {"backbone": Voting(), "k": 3},
    ],
    ids=lambda options: "-".join(options),
)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        ContextLearner(1, **options)
    with pytest.raises(UnknownName, match="did you mean knn"):
        ContextLearner(1, backbone="knn2")


def test_each_lane_describes_its_own_context() -> None:
    learner = ContextLearner(2, policy=["fifo", "cure"], budget=[5, 10], tau=[0.1, 0.9])
    described = [learner.describe(lane) for lane in (0, 1)]
    assert [d["policy"] for d in described] == ["fifo", "cure"]
    assert [d["budget"] for d in described] == [5, 10]
    assert [d["tau"] for d in described] == [0.1, 0.9]  # also where the policy does not use it


@pytest.mark.parametrize(("policy", "score"), [("cure", entropy), ("cure_margin", margin)])
def test_scores_are_those_of_the_policy(policy: str, score: Any) -> None:
    learner = ContextLearner(1, policy=policy)
    proba = np.random.default_rng(0).dirichlet([1, 1, 1], 6)
    lane = np.array([0])
    found = learner.score([Prediction(np.arange(3), proba)], lane)
    assert found.shape == (1, 6)
    assert found[0].tolist() == pytest.approx([score(p) for p in proba])
    for classes in (0, 1):  # nothing to be unsure about
        none = learner.score([Prediction(np.arange(classes), np.ones((4, classes)))], lane)
        assert none.tolist() == [[0.0] * 4]


def test_banks_show_the_context() -> None:
    learner = ContextLearner(2, **(OPTIONS | {"policy": ["cure", "fifo"], "tau": 0.0}))
    assert learner.banks(0, 3) == {
        "short": 0,
        "long": 0,
        "long_by_class": [0, 0, 0],
        "admitted": 0,
        "evicted": 0,
    }
    teach(learner, 0, 60)
    banks, fifo = learner.banks(0, 3), learner.banks(1, 3)
    held = learner.contexts.y[0, learner.contexts.slots_of(0, "long")]
    assert banks["long_by_class"] == np.bincount(held, minlength=3).tolist()
    assert {k: banks[k] for k in ("short", "long", "admitted", "evicted")} == {
        "short": 5,
        "long": 5,
        "admitted": 55,
        "evicted": 50,
    }
    assert (fifo["short"], fifo["long"], fifo["admitted"], fifo["evicted"]) == (10, 0, 0, 50)


def test_seconds_are_taken_apart() -> None:
    learner = ContextLearner(2, **OPTIONS)
    teach(learner, 0, 30)
    assert learner.seconds.keys() == {"fit", "predict", "evict"}
    assert all(seconds > 0 for seconds in learner.seconds.values())


@pytest.mark.parametrize("backbone", ["knn", Cached()], ids=["knn", "cached"])
def test_a_restored_learner_continues_exactly(backbone: Any) -> None:
    whole = ContextLearner(2, backbone=backbone, **OPTIONS)
    teach(whole, 0, 70)
    state = whole.state()
    expected = teach(whole, 70, 120)
    for _ in range(2):  # a state is a copy: using it does not change it
        restored = ContextLearner(2, backbone=backbone, **OPTIONS)
        restored.restore(state)
        assert same(teach(restored, 70, 120), expected)


def test_caches_that_are_not_saved_are_missed() -> None:
    """The test above can fail."""
    whole, restored = (ContextLearner(2, backbone=Forgetful(), **OPTIONS) for _ in range(2))
    teach(whole, 0, 70)
    restored.restore(whole.state())
    assert not same(teach(restored, 70, 120), teach(whole, 70, 120))


def test_a_path_among_the_options_is_described_as_text() -> None:
    learner = ContextLearner(backbone="rill", weights=PACKAGED, budget=20)
    assert json.loads(json.dumps(learner.describe(0)))["weights"] == str(PACKAGED)
