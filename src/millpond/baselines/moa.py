"""The six classical baselines in MOA: VFDT, EFDT, ARF, SRP, LevBag and BOLE, run in blocks inside Java.

The option strings are MOA's own, which its command line takes as well; they give the paper's figures.
CapyMOA's Python classes have other defaults and are not used.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.base import Prediction
from millpond.baselines import moa_jvm
from millpond.baselines.decimals import shortest_decimals
from millpond.baselines.moa_block import Blocks, FloatArray, make_classifier, make_header
from millpond.baselines.options import TREES, checked_options
from millpond.state import State
from millpond.streams import Stream

COMMANDS = {
    "vfdt": "trees.HoeffdingTree {tree}",
    "efdt": "trees.EFDT {tree}",
    "arf": "meta.AdaptiveRandomForest -l (ARFHoeffdingTree -e 2000000 {tree}) -s {size}",
    "srp": "meta.StreamingRandomPatches -l (trees.HoeffdingTree {tree}) -s {size}",
    "levbag": "meta.LeveragingBag -l (trees.HoeffdingTree {tree}) -s {size}",
    "bole": "meta.BOLE -l (drift.SingleClassifierDrift -l (trees.HoeffdingTree {tree}) "
    "-d (DDM -n 7 -w 1.2 -o 1.95)) -s {size}",
}

TREE_BLOCK, ENSEMBLE_BLOCK = 5000, 250  # rows; well under a second each


class MoaLearner:
    """One of MOA's classifiers on each of one or many streams."""

    def __init__(self, name: str, streams: Sequence[Stream], seed: int, **options: Any) -> None:
        self._name = name
        self._options = checked_options(f"moa:{name}", options)
        self.block = TREE_BLOCK if name in TREES else ENSEMBLE_BLOCK
        self.why_not_saved = "MOA cannot save an SRP ensemble" if name == "srp" else None
        self.seconds = {"fit": 0.0, "predict": 0.0, "evict": 0.0}
        self._jpype = moa_jvm.java()
        with moa_jvm.failures_in_words(f"moa:{name}"):
            self._lanes = [
                _Lane(self._jpype, option_string(name, self._options), stream, seed)
                for stream in streams
            ]

    def test_then_train(
        self, X: NDArray[np.float32], y: NDArray[np.int64], lane: int
    ) -> Prediction:
        """MOA does both in one pass; the time counts as ``fit``, where most of it goes."""
        begin = time.perf_counter()
        with moa_jvm.failures_in_words(f"moa:{self._name}"):
            votes = self._lanes[lane].blocks.test_then_train(
                np.column_stack([shortest_decimals(X), y])
            )
        proba = probabilities(votes)
        self.seconds["fit"] += time.perf_counter() - begin
        return Prediction(np.arange(proba.shape[1]), proba)

    def banks(self, lane: int, n_classes: int) -> dict[str, Any]:
        return {}

    def describe(self, lane: int) -> dict[str, Any]:
        return {"name": f"moa:{self._name}", **self._options}

    def versions(self) -> dict[str, str]:
        return moa_jvm.versions()

    def state(self) -> State:
        """The classifiers as Java serialises them."""
        with moa_jvm.failures_in_words(f"saving moa:{self._name}"):
            return {
                str(i): np.frombuffer(
                    bytes(self._serialiser().serialize(lane.classifier)), np.uint8
                )
                for i, lane in enumerate(self._lanes)
            }

    def restore(self, state: State) -> None:
        bytes_of_java = self._jpype.JArray(self._jpype.JByte)
        with moa_jvm.failures_in_words(f"restoring moa:{self._name}"):
            for i, lane in enumerate(self._lanes):
                saved = bytes_of_java(np.ascontiguousarray(state[str(i)]).view(np.int8))
                lane.use(self._serialiser().deserialize(saved))

    def _serialiser(self) -> Any:
        # Not java.io's streams: called from outside Java, those do not find MOA's classes.
        return self._jpype.JClass("org.apache.commons.lang3.SerializationUtils")


class _Lane:
    """A classifier and its blocks, for streams of one shape."""

    def __init__(self, jpype: Any, command: str, stream: Stream, seed: int) -> None:
        self._jpype = jpype
        self._classes = len(stream.classes)
        self._header = make_header(jpype, stream.X.shape[1], self._classes)
        self.use(make_classifier(jpype, command, self._header, seed))

    def use(self, classifier: Any) -> None:
        self.classifier = classifier
        self.blocks = Blocks(self._jpype, classifier, self._header, self._classes)


def option_string(name: str, options: dict[str, Any]) -> str:
    """What MOA's command line calls the learner."""
    tree = (
        f"-g {options['grace_period']} -c {options['split_confidence']!r} "
        f"-t {options['tie_threshold']!r} -l NBAdaptive"
    )
    return COMMANDS[name].format(tree=tree, size=options.get("ensemble_size"))


def chosen(votes: FloatArray) -> NDArray[np.int64]:
    """(k, C) votes -> (k,) codes as MOA chooses: the first largest, and 0 where vote 0 is no number."""
    comparable = np.where(np.isnan(votes), -np.inf, votes)
    return np.where(np.isnan(votes[:, 0]), 0, comparable.argmax(axis=1))


def probabilities(votes: FloatArray) -> FloatArray:
    """(k, C) votes of any scale -> rows that sum to one, whose largest entry is MOA's choice.

    Where no vote is positive, or the first is no number, nothing is known: all classes alike. Votes a
    rounding apart may become equal; then MOA's choice is lifted by that much.
    """
    choice = chosen(votes)
    shares = np.where((votes > 0) & ~np.isnan(votes[:, :1]), votes, 0.0)
    largest = shares.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):  # first, so that no sum overflows
        shares = np.where(np.isinf(largest), np.isinf(shares), shares / largest)
    shares[largest[:, 0] == 0] = 1.0
    proba = shares / shares.sum(axis=1, keepdims=True)
    other = np.flatnonzero(proba.argmax(axis=1) != choice)
    proba[other, choice[other]] = np.nextafter(proba[other].max(axis=1), 2.0)
    return np.asarray(proba)
