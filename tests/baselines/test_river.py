"""River's learners against River's own loop, and what a resumed or a delayed run needs of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millpond.baselines.options import ENSEMBLES, TREES
from millpond.baselines.river import RiverLearner
from millpond.errors import BadOption
from millpond.streams import Stream, load_stream

pytest.importorskip("river", reason="River is not installed: pip install 'millpond[river]'")

ROWS = 400
LANE = np.array([0])
METHODS = (*TREES, *ENSEMBLES)
SMALL = {"grace_period": 50, "tie_threshold": 0.1}


@pytest.fixture(scope="module")
def stream() -> Stream:
    found = load_stream("agr_a").head(ROWS)
    X = found.X.copy()
    X[7::50, 3] = np.nan
    return Stream("some", X, found.y, found.feature_names, found.classes)


def options(name: str) -> dict[str, Any]:
    return SMALL if name in TREES else {**SMALL, "ensemble_size": 3}


def run(learner: RiverLearner, stream: Stream, start: int, stop: int) -> list[dict[int, float]]:
    """What is predicted of each row before it is learned."""
    found = []
    for row in range(start, stop):
        x = stream.X[None, row : row + 1]
        prediction = learner.predict(range(row, row + 1), x, LANE)[0]
        found.append(
            dict(zip(prediction.classes.tolist(), prediction.proba[0].tolist(), strict=True))
        )
        learner.learn(row, x[0], stream.y[row : row + 1], np.zeros(1), LANE)
    return found


def test_a_tree_says_what_rivers_own_loop_says(stream: Stream) -> None:
    from river.tree import HoeffdingTreeClassifier

    model = HoeffdingTreeClassifier(grace_period=50, tau=0.1, delta=1e-7, leaf_prediction="nba")
    ours = run(RiverLearner("vfdt", [stream], 1, **SMALL), stream, 0, ROWS)
    for x, y, said in zip(stream.X.tolist(), stream.y.tolist(), ours, strict=True):
        row = {name: value for name, value in enumerate(x) if value == value}
        theirs = model.predict_proba_one(row)
        assert set(said) == set(theirs)
        assert said == pytest.approx(theirs, abs=1e-12)
        model.learn_one(row, y)


@pytest.mark.parametrize("name", METHODS)
def test_predictions_are_probabilities_of_the_classes_seen(stream: Stream, name: str) -> None:
    for row, said in enumerate(
        run(RiverLearner(name, [stream], 1, **options(name)), stream, 0, 60)
    ):
        assert set(said) <= set(stream.y[:row].tolist())
        assert not said or sum(said.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("name", METHODS)
def test_a_saved_learner_goes_on_as_if_nothing_had_been(stream: Stream, name: str) -> None:
    first = RiverLearner(name, [stream], 1, **options(name))
    run(first, stream, 0, 150)
    second = RiverLearner(name, [stream], 2, **options(name))
    second.restore({key: array.copy() for key, array in first.state().items()})
    assert run(first, stream, 150, 300) == run(second, stream, 150, 300)


def test_a_chunk_is_predicted_against_one_state(stream: Stream) -> None:
    learner = RiverLearner("vfdt", [stream], 1, **SMALL)
    run(learner, stream, 0, 200)
    chunk = learner.predict(range(200, 210), stream.X[None, 200:210], LANE)[0]
    single = [
        learner.predict(range(row, row + 1), stream.X[None, row : row + 1], LANE)[0].proba[0]
        for row in range(200, 210)
    ]
    assert np.array_equal(chunk.proba, np.array(single))


def test_an_option_of_another_learner_is_refused(stream: Stream) -> None:
    with pytest.raises(BadOption, match="ensemble_size"):
        RiverLearner("vfdt", [stream], 1, ensemble_size=3)
