"""CapyMOA's own evaluation against our loop, and streams there and back."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

if shutil.which("java") is None:
    pytest.skip("CapyMOA needs a Java virtual machine", allow_module_level=True)
pytest.importorskip("capymoa")

from capymoa.base import Classifier, learner_from_params
from capymoa.core import LabeledInstance
from capymoa.drift.detectors import ADWIN
from capymoa.evaluation import prequential_evaluation
from capymoa.stream import NumpyStream, Schema
from capymoa.stream.drift import AbruptDrift, DriftStream
from capymoa.stream.generator import (
    SEA,
    AgrawalGenerator,
    HyperPlaneClassification,
    HyperPlaneRegression,
    LEDGeneratorDrift,
    RandomRBFGeneratorDrift,
    WaveformGenerator,
)

from millpond import Stream, StreamClassifier, prequential
from millpond.adapters.capymoa import CapymoaClassifier, from_capymoa, to_capymoa
from millpond.errors import BadInput, BadOption

GENERATORS = {
    "SEA": SEA,
    "LED": LEDGeneratorDrift,
    "RBF": lambda: RandomRBFGeneratorDrift(number_of_classes=4, magnitude_of_change=0.1),
    "Agrawal": AgrawalGenerator,
    "hyperplane": HyperPlaneClassification,
    "drift": lambda: DriftStream(stream=[SEA(function=1), AbruptDrift(250), SEA(function=3)]),
}


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS.keys())
@pytest.mark.parametrize("policy", ["cure", "fifo"])
def test_prequential_evaluation_gives_what_our_loop_gives(make, policy):
    rows, options = 500, {"policy": policy, "budget": 60, "tau": 0.2}
    theirs = make()
    stream = from_capymoa(make(), rows)  # another one: MOA's RBF drift goes on after a restart
    ours = prequential(stream, backbone="knn", warmup=0, k=3, **options)
    schema = theirs.get_schema()
    result = prequential_evaluation(
        theirs,
        CapymoaClassifier(schema, backbone="knn", options={"k": 3}, **options),
        max_instances=rows,
        store_predictions=True,
    )
    scored = ours.predictions >= 0
    assert scored.sum() > rows - 20
    guesses = [None if y is None else schema.get_value_for_index(y) for y in result.predictions()]
    labels = [stream.classes[code] for code in ours.predictions[scored]]
    assert [y for y, is_scored in zip(guesses, scored, strict=True) if is_scored] == labels
    # CapyMOA scores the rows before the second class too, and takes no answer for the first class.
    first = schema.get_value_for_index(0)
    before = sum(
        (first if y is None else y) == truth
        for y, truth, is_scored in zip(guesses, stream.labels, scored, strict=True)
        if not is_scored
    )
    assert result.cumulative.accuracy() == pytest.approx(
        100 * (ours.accuracy * ours.scored + before) / rows, abs=1e-9
    )


def test_probabilities_stand_in_the_order_of_the_schema():
    schema = Schema.from_custom(["a", "y"], "y", {"y": ["no", "maybe", "yes"]})
    model, own = CapymoaClassifier(schema, budget=20), StreamClassifier(budget=20)
    instance = LabeledInstance.from_array(schema, np.array([0.5]), 2)
    assert model.predict_proba(instance) is None
    assert model.predict(instance) is None
    for t in range(31):
        instance = LabeledInstance.from_array(schema, np.array([t % 2.0]), 2 - 2 * (t % 2))
        model.train(instance)
        own.learn_one(instance.x, instance.y_index)
    proba, expected = model.predict_proba(instance), own.predict_proba_one(instance.x)
    assert proba.dtype == np.float64
    np.testing.assert_array_equal(proba, [expected[0], 0, expected[2]])
    assert proba.sum() == pytest.approx(1)
    assert model.predict(instance) == proba.argmax()


def test_missing_features_and_labels():
    schema = Schema.from_custom(["a", "b", "y"], "y", {"y": ["0", "1"]})
    model = CapymoaClassifier(schema, budget=20)
    for t in range(20):
        model.train(LabeledInstance.from_array(schema, np.array([np.nan, t % 2]), t % 2))
    unlabelled = LabeledInstance.from_array(schema, np.array([np.nan, 1.0]), np.nan)
    assert model.predict(unlabelled) == 1
    with pytest.raises(BadInput, match="missing"):
        model.train(unlabelled)


def test_it_is_made_from_its_parameters():
    schema = SEA().get_schema()
    model = CapymoaClassifier(schema, 5, backbone="knn", policy="fifo", budget=30, options={"k": 3})
    assert isinstance(model, Classifier)
    params = model.get_params()
    assert (params["policy"], params["budget"], params["options"]) == ("fifo", 30, {"k": 3})
    twin = CapymoaClassifier.from_params(schema, params, 5)
    assert twin.get_params() == params
    assert twin.random_seed == 5
    spec = {"learner": "millpond.adapters.capymoa.CapymoaClassifier", "params": params}
    assert learner_from_params(spec, schema).get_params() == params
    with pytest.raises(BadOption, match="budget"):
        CapymoaClassifier(schema, budget=0)


def test_a_drift_detector_of_capymoa_hears_the_errors():
    stream = GENERATORS["drift"]()
    model, detector = CapymoaClassifier(stream.get_schema(), budget=50), ADWIN(delta=0.01)
    rng = np.random.default_rng(0)
    for t in range(900):
        instance = stream.next_instance()
        wrong = model.predict(instance) != instance.y_index
        detector.add_element(float(wrong if t < 450 else rng.random() < 0.6))
        model.train(instance)
    assert any(450 < t < 700 for t in detector.detection_index)


# -- streams there and back ------------------------------------------------------------------------


def test_rows_of_a_moa_generator():
    generator = WaveformGenerator()
    stream = from_capymoa(generator, 40)
    assert (stream.X.shape, len(stream.feature_names)) == ((40, 21), 21)
    generator.restart()
    for x, label in zip(stream.X, stream.labels, strict=True):
        instance = generator.next_instance()
        np.testing.assert_array_equal(x, instance.x.astype(np.float32))
        assert label == instance.y_label
    np.testing.assert_array_equal(from_capymoa(generator, 40).X, stream.X)


def test_there_and_back():
    X = np.arange(12, dtype=np.float32).reshape(6, 2)
    X[2, 0] = np.nan
    stream = Stream("six", X, np.array([0, 1, 0, 2, 1, 0]), ("class", "b"), ("x", "y", "z", "rare"))
    theirs = to_capymoa(stream)
    assert theirs.get_schema().get_label_values() == ["x", "y", "z", "rare"]
    assert theirs.get_schema().get_numeric_attributes() == ["class", "b"]
    back = from_capymoa(theirs, None)
    assert (back.name, back.feature_names) == ("six", ("class", "b"))
    np.testing.assert_array_equal(back.X, stream.X)
    assert back.labels.tolist() == stream.labels.tolist()
    assert back.classes == ("x", "y", "z")


def test_the_head_of_an_endless_stream_and_the_end_of_a_short_one():
    assert len(from_capymoa(SEA(), 7)) == 7
    numbers = NumpyStream(np.eye(3), np.array([0, 1, 0]))
    assert len(from_capymoa(numbers, 7)) == 3
    assert len(from_capymoa(numbers, None)) == 3


def test_regression_is_refused():
    with pytest.raises(BadInput, match="regression"):
        from_capymoa(HyperPlaneRegression(), 5)
