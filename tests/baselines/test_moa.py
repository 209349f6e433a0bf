"""MOA's six learners in blocks, against MOA's own evaluation loop on the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millpond.baselines.decimals import shortest_decimals
from millpond.baselines.moa import COMMANDS, MoaLearner, option_string
from millpond.baselines.moa_block import make_classifier, make_header
from millpond.baselines.options import TREES, checked_options
from millpond.streams import Stream, load_stream

ROWS = 1500
SMALL = {"grace_period": 50, "tie_threshold": 0.1}


@pytest.fixture(scope="module")
def stream() -> Stream:
    """Three classes, so that votes are shorter than the classes at first; some values are missing."""
    found = load_stream("agr_a").head(ROWS)
    X, y = found.X.copy(), found.y.copy()
    y[(np.arange(ROWS) > 300) & (X[:, 2] > 60)] = 2
    X[7::50, 3] = np.nan
    return Stream("three", X, y, found.feature_names, ("0", "1", "2"))


def options(name: str) -> dict[str, Any]:
    return SMALL if name in TREES else {**SMALL, "ensemble_size": 4}


def run(learner: MoaLearner, stream: Stream, blocks: list[int], start: int = 0) -> np.ndarray:
    """(rows, C) probabilities over blocks that end at the given rows."""
    found = []
    for stop in blocks:
        found.append(learner.test_then_train(stream.X[start:stop], stream.y[start:stop], 0).proba)
        start = stop
    return np.concatenate(found)


@pytest.mark.parametrize("name", COMMANDS)
def test_predicts_what_moas_own_loop_predicts(jpype: Any, stream: Stream, name: str) -> None:
    ours = run(MoaLearner(name, [stream], 3, **options(name)), stream, [ROWS]).argmax(axis=1)

    header = make_header(jpype, stream.X.shape[1], len(stream.classes))
    command = option_string(name, checked_options(f"moa:{name}", options(name)))
    classifier = make_classifier(jpype, command, header, 3)
    dense = jpype.JClass("com.yahoo.labs.samoa.instances.DenseInstance")
    instances = jpype.JClass("com.yahoo.labs.samoa.instances.Instances")(header, ROWS)
    for x, y in zip(shortest_decimals(stream.X), stream.y, strict=True):
        instance = dense(1.0, jpype.JArray(jpype.JDouble)([*x, y]))
        instance.setDataset(header)
        instances.add(instance)
    theirs = jpype.JClass("moa.evaluation.EfficientEvaluationLoops").PrequentialEvaluation(
        jpype.JClass("moa.streams.CachedInstancesStream")(instances),
        classifier,
        None,
        None,
        -1,
        1000,
        True,
        True,
    )
    assert ours.tolist() == [int(p) for p in theirs.predictions]
    assert stream.y.tolist() == [int(t) for t in theirs.targets]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_size_of_a_block_changes_nothing(jpype: Any, stream: Stream, name: str) -> None:
    whole = run(MoaLearner(name, [stream], 1, **options(name)), stream, [ROWS])
    parts = run(MoaLearner(name, [stream], 1, **options(name)), stream, [1, 100, 777, ROWS])
    assert np.array_equal(whole, parts)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "srp"])
def test_a_saved_learner_goes_on_as_if_nothing_had_been(
    jpype: Any, stream: Stream, name: str
) -> None:
    whole = run(MoaLearner(name, [stream], 1, **options(name)), stream, [ROWS])
    first = MoaLearner(name, [stream], 1, **options(name))
    run(first, stream, [800])
    second = MoaLearner(name, [stream], 1, **options(name))
    second.restore({key: array.copy() for key, array in first.state().items()})
    assert first.why_not_saved is None
    assert np.array_equal(run(second, stream, [ROWS], start=800), whole[800:])


def test_srp_says_that_it_cannot_be_saved(jpype: Any, stream: Stream) -> None:
    learner = MoaLearner("srp", [stream], 1, **options("srp"))
    assert learner.why_not_saved is not None


def test_a_seed_decides_an_ensemble(jpype: Any, stream: Stream) -> None:
    one, again, two = (
        run(MoaLearner("arf", [stream], seed, **options("arf")), stream, [ROWS])
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, two)


def test_lanes_do_not_touch_each_other(jpype: Any, stream: Stream) -> None:
    other = Stream("other", stream.X[:, :2], 1 - stream.y % 2, ("a", "b"), ("0", "1"))
    both = MoaLearner("vfdt", [stream, other], 1, **SMALL)
    for start in range(0, ROWS, 500):
        part = slice(start, start + 500)
        both.test_then_train(stream.X[part], stream.y[part], 0)
        mixed = both.test_then_train(other.X[part], other.y[part], 1)
    alone = run(MoaLearner("vfdt", [other], 1, **SMALL), other, [1000, ROWS])
    assert mixed.classes.tolist() == [0, 1]
    assert np.array_equal(mixed.proba, alone[1000:])


@pytest.mark.parametrize(("name", "percent"), [("vfdt", 75.66), ("efdt", 75.56)])
def test_the_trees_have_the_papers_accuracy_on_noaa(
    jpype: Any, data_dir: Path, name: str, percent: float
) -> None:
    noaa = load_stream("noaa", data_dir=data_dir)
    learner = MoaLearner(name, [noaa], 1, grace_period=400, tie_threshold=0.1)
    guesses = run(learner, noaa, [len(noaa)]).argmax(axis=1)
    assert 100 * (guesses == noaa.y)[100:].mean() == pytest.approx(percent, abs=0.02)
