"""What the live page shows, against plain sums; drift where there is one, seldom where there is none."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from millpond.errors import BadInput
from millpond.fleet import Answer, Operation
from millpond.serve.watch import GUESSES, KEYS, POINTS, Drift, Histogram, Watch


def predict(watch: Watch, key: str, id: int | None, label: str, x: object = None) -> None:
    watch.batch([Operation("predict", key, x, id=id)], [Answer({label: 1.0})], 0.01)


def learn(watch: Watch, key: str, id: int | None, label: str, x: object = None) -> None:
    watch.batch([Operation("learn", key, x, label, id)], [Answer()], 0.01)


def test_accuracy_is_of_labels_that_met_their_predictions() -> None:
    watch = Watch()
    for id, guess in enumerate("aab"):
        predict(watch, "k", id, guess)
    for id in (2, 0):
        learn(watch, "k", id, "a")
    learn(watch, "k", 9, "a")  # never predicted
    predict(watch, "k", None, "b", [1.0])
    learn(watch, "k", None, "b", [1.0])
    ((name, key),) = watch.keys()
    assert (name, key.predictions, key.labels, key.scored, key.right) == ("k", 4, 4, 3, 2)
    assert key.points == [(1, 0.0), (2, 0.5), (3, round(2 / 3, 4))]


def test_repeats_and_refusals_are_counted_apart() -> None:
    watch = Watch()
    asked = [Operation("predict", "k", [1.0], id=1)] * 3
    watch.batch(asked, [Answer({"a": 1.0}), Answer({"a": 1.0}, True), BadInput("no")], 0.01)
    assert watch.done["predict"] == watch.repeated["predict"] == watch.refused["predict"] == 1
    assert watch.keys()[0][1].predictions == 1


def test_what_is_kept_is_bounded() -> None:
    watch = Watch()
    for k in range(KEYS + 50):
        predict(watch, f"k{k}", 0, "a")
    assert len(watch.keys()) == KEYS
    assert watch.keys()[0][0] == f"k{KEYS + 49}"
    for t in range(5000):
        predict(watch, "k", t, "a")
        learn(watch, "k", t, "a" if t % 3 else "b")
    key = watch.keys()[0][1]
    assert POINTS / 2 <= len(key.points) <= POINTS
    assert key.points[-1][1] == pytest.approx(2 / 3, abs=0.01)
    assert len(watch._guesses) <= GUESSES


def test_rates_are_of_the_last_seconds() -> None:
    clock = [100.0]
    watch = Watch(lambda: clock[0])
    for second in range(20):
        clock[0] = 100.0 + second
        for _ in range(second):
            predict(watch, "k", None, "a", [1.0])
    clock[0] = 120.0
    assert watch.rates(10) == (sum(range(10, 20)) / 10, 0.0)
    assert watch.history()[-1] == [119, 19, 0, 0.0]


def test_quantiles_and_buckets() -> None:
    histogram = Histogram()
    assert histogram.quantiles(0.5) == [None]
    values = np.random.default_rng(1).exponential(0.05, 1000)
    for value in values:
        histogram.add(float(value))
    assert sum(histogram.counts) == 1000
    assert histogram.counts[0] == (values <= 0.001).sum()
    for share, found in zip((0.5, 0.99), histogram.quantiles(0.5, 0.99), strict=True):
        assert found == pytest.approx(np.quantile(values, share), rel=0.05)


def test_a_drift_is_marked_soon_after_it_and_seldom_elsewhere() -> None:
    rng = np.random.default_rng(2)
    late, false = [], 0
    for _ in range(40):
        drift = Drift()
        if any(drift.add(bool(wrong)) for wrong in rng.random(400) < 0.1):
            false += 1
            continue
        marks = [t for t, wrong in enumerate(rng.random(300) < 0.6) if drift.add(bool(wrong))]
        assert marks
        late.append(marks[0])
    assert np.median(late) < 80
    assert false <= 4


def test_no_mistakes_no_drift() -> None:
    drift = Drift()
    assert not any(drift.add(False) for _ in range(1000))
