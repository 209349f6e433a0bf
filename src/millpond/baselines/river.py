"""River's own versions of the six classical baselines: no Java, and figures that are not MOA's."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.base import Prediction
from millpond.baselines.options import checked_options
from millpond.learner import FloatArray, IntArray
from millpond.state import State
from millpond.streams import Stream


class RiverLearner:
    """One of River's classifiers on each of one or many streams, row by row."""

    def __init__(self, name: str, streams: Sequence[Stream], seed: int, **options: Any) -> None:
        self._name = name
        self._options = checked_options(f"river:{name}", options)
        build = _builders()[name]
        self._models = [build(self._options, seed) for _ in streams]
        self._features = [range(stream.X.shape[1]) for stream in streams]
        self.seconds = {"fit": 0.0, "predict": 0.0, "evict": 0.0}

    def predict(self, rows: range, X: NDArray[np.float32], lanes: IntArray) -> list[Prediction]:
        begin = time.perf_counter()
        predictions = [
            _together([self._models[i].predict_proba_one(row) for row in self._rows(queries, i)])
            for queries, i in zip(X, lanes.tolist(), strict=True)
        ]
        self.seconds["predict"] += time.perf_counter() - begin
        return predictions

    def score(self, predictions: list[Prediction], lanes: IntArray) -> FloatArray:
        return np.zeros((len(predictions), len(predictions[0].proba)))

    def learn(
        self, row: int, X: NDArray[np.float32], y: IntArray, scores: FloatArray, lanes: IntArray
    ) -> None:
        begin = time.perf_counter()
        for x, label, i in zip(X, y.tolist(), lanes.tolist(), strict=True):
            self._models[i].learn_one(self._rows(x[None], i)[0], label)
        self.seconds["fit"] += time.perf_counter() - begin

    def banks(self, lane: int, n_classes: int) -> dict[str, Any]:
        return {}

    def describe(self, lane: int) -> dict[str, Any]:
        return {"name": f"river:{self._name}", **self._options}

    def versions(self) -> dict[str, str]:
        return {"river": metadata.version("river")}

    def state(self) -> State:
        """River's models as pickles: resume only from folders that you wrote."""
        return {
            str(i): np.frombuffer(pickle.dumps(m), np.uint8) for i, m in enumerate(self._models)
        }

    def restore(self, state: State) -> None:
        self._models = [pickle.loads(state[str(i)].tobytes()) for i in range(len(self._models))]

    def _rows(self, X: NDArray[np.float32], lane: int) -> list[dict[int, float]]:
        """(k, width) -> River's rows; a value that is missing is absent from its row."""
        features = self._features[lane]
        return [
            {f: value for f, value in zip(features, row, strict=False) if value == value}
            for row in X.tolist()
        ]


def _together(answers: list[dict[int, float]]) -> Prediction:
    """River answers with the classes it knows, in any order, and at first with none."""
    classes = sorted({code for answer in answers for code in answer})
    proba = np.array([[answer.get(code, 0.0) for code in classes] for answer in answers])
    proba = np.clip(np.nan_to_num(proba.reshape(len(answers), len(classes))), 0.0, None)
    if classes:
        proba[proba.sum(axis=1) == 0] = 1.0
        proba /= proba.sum(axis=1, keepdims=True)
    return Prediction(np.array(classes, dtype=np.int64), proba)


def _builders() -> dict[str, Callable[[dict[str, Any], int], Any]]:
    """How each is made; the ensembles' own settings are those of MOA where River has them."""
    from river import drift, ensemble, forest, tree

    def of_tree(options: dict[str, Any]) -> dict[str, Any]:
        return {
            "grace_period": options["grace_period"],
            "tau": options["tie_threshold"],
            "delta": options["split_confidence"],
        }

    def hoeffding(options: dict[str, Any]) -> Any:
        return tree.HoeffdingTreeClassifier(**of_tree(options), leaf_prediction="nba")

    def boosted(options: dict[str, Any]) -> Any:
        detector = drift.binary.DDM(warm_start=7, warning_threshold=1.2, drift_threshold=1.95)
        return drift.DriftRetrainingClassifier(model=hoeffding(options), drift_detector=detector)

    return {
        "vfdt": lambda o, seed: hoeffding(o),
        "efdt": lambda o, seed: tree.ExtremelyFastDecisionTreeClassifier(
            **of_tree(o), min_samples_reevaluate=2000, leaf_prediction="nba"
        ),
        "arf": lambda o, seed: forest.ARFClassifier(
            n_models=o["ensemble_size"], **of_tree(o), leaf_prediction="nba", seed=seed
        ),
        "srp": lambda o, seed: ensemble.SRPClassifier(
            model=hoeffding(o), n_models=o["ensemble_size"], seed=seed
        ),
        "levbag": lambda o, seed: ensemble.LeveragingBaggingClassifier(
            model=hoeffding(o), n_models=o["ensemble_size"], seed=seed
        ),
        "bole": lambda o, seed: ensemble.BOLEClassifier(
            model=boosted(o), n_models=o["ensemble_size"], seed=seed
        ),
    }
