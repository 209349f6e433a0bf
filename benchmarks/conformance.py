"""What River's and scikit-learn's own checks say of the adapters, and whether the loops agree.

    python benchmarks/conformance.py [river] [sklearn] ...   # writes results/conformance.json

River and scikit-learn ship their checks with the library. CapyMOA ships none: its evaluation is run
instead, against ours. Parts whose package is not installed are named and left out.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from typing import Any

# Read when SciPy is imported: scikit-learn's check of array API input is skipped without it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np

from millpond import Result, Stream, StreamClassifier, load_stream, prequential
from millpond.errors import MissingExtra
from results import FOLDER, machine, write

ROWS = 2_000
OPTIONS = {"backbone": "knn", "policy": "cure", "budget": 200, "tau": 0.3}


def check_river() -> dict[str, Any]:
    from river import evaluate, metrics
    from river.checks import yield_checks
    from river.datasets import ImageSegments, Phishing, synth

    from millpond.adapters.river import RiverClassifier, from_river

    model = RiverClassifier()
    skips = model._unit_test_skips()
    ran = [check for check in yield_checks(model) if check.__name__ not in skips]
    failed = [why for check in ran if (why := _failure(check, model.clone()))]
    loops = {}
    for dataset in (
        synth.SEA(seed=1, noise=0.1),
        synth.Hyperplane(seed=1, mag_change=0.01),
        synth.RandomRBFDrift(seed_model=1, seed_sample=1, n_classes=4, change_speed=0.1),
        synth.LEDDrift(seed=1, noise_percentage=0.1, irrelevant_features=True, n_drift_features=4),
        ImageSegments(),
        Phishing(),
    ):
        stream = from_river(dataset, ROWS)
        metric = metrics.Accuracy()
        steps = evaluate.iter_progressive_val_score(
            dataset.take(ROWS), RiverClassifier(**OPTIONS), metric, step=1, yield_predictions=True
        )
        theirs = [step["Prediction"] for step in steps]
        ours = prequential(stream, warmup=0, **OPTIONS)
        loops[stream.name] = _agreement(stream, ours, theirs, metric.get())
    checks = {"passed": len(ran) - len(failed), "failed": failed, "skipped": sorted(skips)}
    return {"checks": checks, "against_our_loop": loops}


def check_sklearn() -> dict[str, Any]:
    from sklearn.utils.estimator_checks import check_estimator

    from millpond.adapters.sklearn import SklearnClassifier

    results = check_estimator(SklearnClassifier(), on_fail=None, on_skip=None)
    named = {
        status: [f"{r['check_name']}: {r['exception']}" for r in results if r["status"] == status]
        for status in ("failed", "xfail", "skipped")
    }
    return {
        "checks": {"passed": len(results) - sum(map(len, named.values())), **named},
        "environment": {"SCIPY_ARRAY_API": os.environ["SCIPY_ARRAY_API"]},
    }


def check_capymoa() -> dict[str, Any]:
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream import drift, generator

    from millpond.adapters.capymoa import CapymoaClassifier, from_capymoa

    makers: dict[str, Callable[[], Any]] = {
        "SEA": generator.SEA,
        "HyperPlaneClassification": generator.HyperPlaneClassification,
        "RandomRBFGeneratorDrift": generator.RandomRBFGeneratorDrift,
        "LEDGeneratorDrift": generator.LEDGeneratorDrift,
        "AgrawalGenerator": generator.AgrawalGenerator,
        "SEA with a drift": lambda: drift.DriftStream(
            stream=[generator.SEA(function=1), drift.AbruptDrift(1_000), generator.SEA(function=3)]
        ),
    }
    loops = {}
    for name, make in makers.items():
        theirs, stream = make(), from_capymoa(make(), ROWS, name=name)
        schema = theirs.get_schema()
        learner = CapymoaClassifier(schema, **OPTIONS)
        result = prequential_evaluation(
            theirs, learner, max_instances=ROWS, store_predictions=True, window_size=None
        )
        answers = [schema.get_value_for_index(y) for y in result.predictions()]
        ours = prequential(stream, warmup=0, **OPTIONS)
        loops[name] = _agreement(stream, ours, answers, result.cumulative.accuracy() / 100)
    return {"checks": "CapyMOA ships none", "against_our_loop": loops}


def _failure(check: Callable[[Any], None], model: Any) -> str | None:
    try:
        check(model)
    except Exception as error:
        return f"{check.__name__}: {type(error).__name__}: {error}"
    return None


def _agreement(
    stream: Stream, ours: Result, theirs: Sequence[Any], accuracy: float
) -> dict[str, Any]:
    """On the rows that our loop scores: how often the two differ, and both accuracies."""
    scored = [row for row, code in enumerate(ours.predictions) if code >= 0]
    labels, answers = stream.labels.tolist(), list(theirs)
    return {
        "rows": len(stream),
        "scored": len(scored),
        "different": sum(answers[r] != stream.classes[ours.predictions[r]] for r in scored),
        "accuracy": ours.accuracy,
        "their_accuracy": sum(answers[r] == labels[r] for r in scored) / len(scored),
        "their_accuracy_as_reported": accuracy,  # the rows before the second class are scored too
    }


def check_label_order() -> dict[str, Any]:
    """The price of codes by first appearance where a stream is coded by sorted labels."""
    stream = load_stream("agr_a").head(3_000)
    ours = prequential(stream, warmup=0, **OPTIONS)
    classifier = StreamClassifier(**OPTIONS)
    theirs = []
    for x, y in zip(stream.X, stream.labels.tolist(), strict=True):
        theirs.append(classifier.predict_one(x))
        classifier.learn_one(x, y)
    accuracy = float(np.mean([a == y for a, y in zip(theirs, stream.labels, strict=True)]))
    return {
        "checks": "none",
        "against_our_loop": {stream.name: _agreement(stream, ours, theirs, accuracy)},
    }


PARTS = {
    "river": ("river", check_river),
    "sklearn": ("scikit-learn", check_sklearn),
    "capymoa": ("capymoa", check_capymoa),
    "label_order": ("millpond", check_label_order),
}


def main(names: Iterable[str]) -> None:
    path = FOLDER / "conformance.json"
    figures = json.loads(path.read_text()) if path.exists() else {}
    for name in names:
        package, check = PARTS[name]
        try:
            found = check()
        except (ModuleNotFoundError, MissingExtra) as error:
            print(f"{name}: left out. {error}")
            continue
        figures[name] = {"version": metadata.version(package), **found}
        figures = {part: figures[part] for part in PARTS if part in figures}
        write("conformance", figures | {"machine": machine()})
        print(f"{name}: {found['checks']}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or PARTS)
