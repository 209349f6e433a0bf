"""River's own checks, its evaluation against our loop, and streams there and back."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

pytest.importorskip("river")

from river import checks, compose, drift, evaluate, metrics, preprocessing, stats
from river.datasets import Bananas, ImageSegments, Phishing, TrumpApproval, synth

from millpond import Stream, StreamClassifier, prequential
from millpond.adapters.river import RiverClassifier, from_river, to_river
from millpond.errors import BadInput, BadOption

CHECKS = list(checks.yield_checks(RiverClassifier()))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("backbone", [pytest.param("rill", marks=pytest.mark.long), "knn"])
def test_every_check_of_river_passes(check, backbone):
    check(RiverClassifier(backbone))


def test_no_check_is_skipped():
    assert RiverClassifier()._unit_test_skips() == set()
    assert len(CHECKS) > 50


# -- River's evaluation ----------------------------------------------------------------------------


def predicted(steps):
    return [step["Prediction"] for step in steps]


@pytest.mark.parametrize(
    ("dataset", "rows"),
    [
        (synth.SEA(seed=1, noise=0.1), 700),
        (synth.LEDDrift(seed=2, noise_percentage=0.2, irrelevant_features=True), 400),
        (ImageSegments(), 400),
        (Phishing(), 400),
    ],
    ids=["SEA", "LEDDrift", "ImageSegments", "Phishing"],
)
@pytest.mark.parametrize("policy", ["cure", "dual_fifo"])
def test_progressive_validation_predicts_what_our_loop_predicts(dataset, rows, policy):
    options = {"backbone": "knn", "policy": policy, "budget": 60, "tau": 0.2, "k": 3}
    stream = from_river(dataset, rows)
    ours = prequential(stream, warmup=0, **options)
    metric = metrics.Accuracy()
    theirs = predicted(
        evaluate.iter_progressive_val_score(
            dataset.take(rows), RiverClassifier(**options), metric, step=1, yield_predictions=True
        )
    )
    scored = ours.predictions >= 0
    assert scored.sum() > rows - 20
    labels = [stream.classes[code] for code in ours.predictions[scored]]
    assert [y for y, is_scored in zip(theirs, scored, strict=True) if is_scored] == labels
    # River scores the rows before the second class too; those are all that its accuracy adds.
    before = sum(y == t for y, t, s in zip(theirs, stream.labels, scored, strict=True) if not s)
    assert metric.get() == pytest.approx(
        (ours.accuracy * ours.scored + before) / (rows - 1), abs=1e-12
    )


def test_the_adapter_adds_nothing_to_the_classifier():
    river, own = RiverClassifier("knn", budget=30, k=3), StreamClassifier("knn", budget=30, k=3)
    for x, y in synth.SEA(seed=3).take(120):
        assert river.predict_one(x) == own.predict_one(x)
        assert river.predict_proba_one(x) == own.predict_proba_one(x)
        river.learn_one(x, y)
        own.learn_one(x, y)


def test_labels_that_left_the_context_keep_a_probability_of_zero():
    model = RiverClassifier(policy="fifo", budget=4)
    model.learn_one({"a": 0.0}, "gone")
    for value in range(6):
        model.learn_one({"a": float(value)}, value % 2)
    answer = model.predict_proba_one({"a": 1.0})
    assert set(answer) == {"gone", 0, 1}
    assert answer["gone"] == 0.0
    assert math.isclose(sum(answer.values()), 1.0)


def test_keys_of_a_dataset_join_delayed_labels_to_their_predictions():
    """Equal rows that wait together: only keys tell which prediction a label belongs to."""
    rows = [({"a": float(t % 2)}, (t // 3) % 2, {"key": t}) for t in range(80)]
    model, own = RiverClassifier(budget=10), StreamClassifier(budget=10)
    metric = metrics.Accuracy()
    evaluate.progressive_val_score(rows, model, metric, delay=5)
    for t in range(80 + 5):
        if t >= 5:
            own.learn_one(y=rows[t - 5][1], key=t - 5)
        if t < 80:
            own.predict_one(rows[t][0], key=t)
    for x in ({"a": 0.0}, {"a": 1.0}):
        assert model.predict_proba_one(x) == own.predict_proba_one(x)


def test_in_a_pipeline_with_transformers():
    model = compose.Pipeline(
        ("number", compose.Select("anchor_from_other_domain", "age_of_domain", "ip_in_url")),
        ("scale", preprocessing.StandardScaler()),
        ("model", RiverClassifier(budget=100)),
    )
    metric = evaluate.progressive_val_score(Phishing().take(500), model, metrics.Accuracy())
    majority = max(
        sum(y for _, y in Phishing().take(500)), sum(not y for _, y in Phishing().take(500))
    )
    assert metric.get() > majority / 500


def test_probabilities_feed_metrics_that_need_them():
    report = metrics.LogLoss() + metrics.ROCAUC()
    evaluate.progressive_val_score(Phishing().take(300), RiverClassifier(budget=100), report)
    log_loss, area = report.get()
    assert 0 < log_loss < 1
    assert area > 0.8


def test_a_drift_detector_that_retrains_the_model():
    """Labels turn round at row 300: who forgets at the alarm does better afterwards."""
    rows = [(x, y ^ (t >= 300)) for t, (x, y) in enumerate(synth.SEA(seed=5).take(600))]
    options = {"policy": "fifo", "budget": 250}
    plain, watched = metrics.Accuracy(), metrics.Accuracy()
    evaluate.progressive_val_score(rows, RiverClassifier(**options), plain)
    retrained = drift.DriftRetrainingClassifier(
        RiverClassifier(**options), drift_detector=drift.binary.DDM()
    )
    evaluate.progressive_val_score(rows, retrained, watched)
    assert watched.get() > plain.get() + 0.05


def test_adwin_hears_the_drift_in_the_errors():
    model, adwin, alarms = RiverClassifier(budget=50), drift.ADWIN(), []
    for t, (x, y) in enumerate(synth.SEA(seed=5).take(1200)):
        y ^= t >= 600
        adwin.update(int(model.predict_one(x) != y))
        model.learn_one(x, y)
        if adwin.drift_detected:
            alarms.append(t)
    assert any(600 < t < 800 for t in alarms)


def test_batches_of_a_frame():
    pandas = pytest.importorskip("pandas")
    rows = list(synth.SEA(seed=7).take(150))
    X = pandas.DataFrame([x for x, _ in rows], index=range(1000, 1150))
    y = pandas.Series([y for _, y in rows])
    one, many = RiverClassifier(budget=40), RiverClassifier(budget=40)
    for x, label in rows[:100]:
        one.learn_one(x, label)
    many.learn_many(X[:100], y[:100])
    answer = many.predict_proba_many(X[100:])
    assert list(answer.index) == list(range(1100, 1150))
    for position, (x, _) in enumerate(rows[100:]):
        # Products of many rows round in another way than those of one: a float32's last bits.
        expected = pytest.approx(one.predict_proba_one(x), abs=1e-5)
        assert answer.iloc[position].to_dict() == expected
    assert many.predict_many(X[100:]).tolist() == [one.predict_one(x) for x, _ in rows[100:]]


def test_a_pickle_goes_on_as_the_original():
    rows = list(synth.LED(seed=4, noise_percentage=0.1).take(200))
    model = RiverClassifier(budget=50)
    for x, y in rows[:100]:
        model.predict_one(x)
        model.learn_one(x, y)
    copy = pickle.loads(pickle.dumps(model))
    for x, y in rows[100:]:
        assert copy.predict_proba_one(x) == model.predict_proba_one(x)
        copy.learn_one(x, y)
        model.learn_one(x, y)


def test_a_clone_has_the_parameters_and_nothing_learned():
    model = RiverClassifier("knn", "fifo", 20, k=7)
    model.learn_one({"a": 1.0}, "x")
    clone = model.clone()
    assert clone._get_params() == model._get_params()
    assert clone._get_params()["k"] == 7
    assert clone.predict_one({"a": 1.0}) is None
    assert model.clone({"k": 3})._get_params()["k"] == 3


def test_wrong_options_are_refused_at_once():
    with pytest.raises(BadOption, match="budget"):
        RiverClassifier(budget=0)


# -- datasets and streams --------------------------------------------------------------------------

GENERATORS = [
    synth.SEA(seed=1),
    synth.Hyperplane(seed=1, n_features=4, mag_change=0.1),
    synth.RandomRBFDrift(seed_model=1, seed_sample=1, n_classes=3, n_features=5, change_speed=0.5),
    synth.LED(seed=1),
    synth.LEDDrift(seed=1, irrelevant_features=True, n_drift_features=3),
    synth.Agrawal(seed=1),
    synth.STAGGER(seed=1),
    synth.Waveform(seed=1),
    synth.Mixed(seed=1),
    synth.Sine(seed=1),
    synth.ConceptDriftStream(synth.SEA(variant=0, seed=1), synth.SEA(variant=2, seed=1), seed=1),
    Bananas(),
]


@pytest.mark.parametrize("dataset", GENERATORS, ids=lambda dataset: type(dataset).__name__)
def test_generators_become_streams_with_their_rows(dataset):
    stream = from_river(dataset, 60)
    assert stream.name == type(dataset).__name__
    assert len(stream) == 60
    for x, y, (values, label) in zip(stream.X, stream.labels, dataset.take(60), strict=True):
        by_name = [value for _, value in sorted(values.items())]
        np.testing.assert_array_equal(x, np.array(by_name, dtype=np.float32))
        assert y == label


def test_features_that_come_and_go_and_text():
    rows = [
        ({"size": 1, "shade": "red"}, "b"),
        ({"shade": "blue", "late": True}, "a"),
        ({"late": None, "size": float("nan"), "shade": "red"}, "b"),
    ]
    stream = from_river(rows, None, name="rows")
    nan = np.nan
    assert stream.name == "rows"
    assert stream.feature_names == ("shade", "size", "late")  # by name as they come
    np.testing.assert_array_equal(stream.X, [[0, 1, nan], [1, nan, 1], [0, nan, nan]])
    assert stream.classes == ("b", "a")
    assert any("shade" in note for note in stream.notes)


def test_names_that_are_no_text_stay_apart():
    stream = from_river([({1: 5.0, "1": 6.0}, 0)], None)
    assert len(set(stream.feature_names)) == 2
    np.testing.assert_array_equal(stream.X, [[5, 6]])


def test_other_tasks_are_refused():
    with pytest.raises(BadInput, match="Regression"):
        from_river(TrumpApproval(), 10)


def test_there_and_back():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X[3, 1] = np.nan
    y = np.arange(50) % 3
    stream = Stream("three", X, y, ("a", "b", "c"), ("x", "y", "z"))
    dataset = to_river(stream)
    assert "b" not in list(dataset)[3][0]
    assert (dataset.n_samples, dataset.n_features, dataset.n_classes) == (50, 3, 3)
    assert "50" in repr(dataset)
    assert list(dataset) == list(dataset)
    back = from_river(dataset, None, name="three")
    assert back.fingerprint() == stream.fingerprint()
    assert back.feature_names == stream.feature_names


def test_a_stream_of_ours_runs_in_river():
    stream = from_river(synth.SEA(seed=9), 300)
    means = stats.Mean()
    for x, _ in to_river(stream):
        means.update(x["0"])
    assert means.get() == pytest.approx(stream.X[:, 0].mean(), rel=1e-5)


def test_rows_of_a_dataset_that_ends_need_no_number() -> None:
    assert len(from_river(Phishing())) == Phishing().n_samples
    with pytest.raises(BadInput, match="SEA never ends: say how many rows"):
        from_river(synth.SEA(seed=1))
