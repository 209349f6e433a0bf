"""The weights that ship: their size and origin, and what they do with awkward tables and many classes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from rill_random import FULL

from millpond import Stream, prequential
from millpond.backbones.rill.weights import PACKAGED, load

ROOT = Path(__file__).parents[3]


def stream_of(X: np.ndarray, y: np.ndarray) -> Stream:
    names = tuple(f"x{i}" for i in range(X.shape[1]))
    return Stream("made", X, y, names, tuple(range(int(y.max()) + 1)))


def test_the_packaged_file_is_small_whole_and_of_synthetic_origin() -> None:
    weights = load(PACKAGED)  # which verifies version and checksum
    assert PACKAGED.stat().st_size < 16_000_000
    assert weights.shape == FULL
    assert weights.provenance["data"] == "synthetic only"


def test_wide_tables_with_missing_and_constant_columns_are_learned() -> None:
    """200 columns share 128 slots; 1-NN sees the same context, missing values at their mean."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 700)
    X = rng.standard_normal((700, 200)).astype(np.float32)
    X[:, 120:160] += rng.standard_normal((3, 40))[y] * 0.8
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, ::9] = 3.5
    X[:, 7] = np.nan
    options = {"policy": "fifo", "budget": 300, "warmup": 200}
    rill = prequential(stream_of(X, y), backbone="rill", **options)
    nearest = prequential(stream_of(X, y), backbone="knn", k=1, **options)
    assert rill.accuracy > nearest.accuracy - 0.04
    assert rill.accuracy > rill.floors["majority"] + 0.25
    assert rill.metrics["log_loss"] < np.log(3)


def test_a_column_that_is_missing_or_constant_throughout_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 4)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > 0).astype(np.int64)
    more = np.concatenate([X, np.full((150, 1), np.nan), np.full((150, 1), 7.0)], axis=1)
    one, other = (prequential(stream_of(x, y), backbone="rill", budget=60) for x in (X, more))
    assert one.facts["predictions_sha256"] == other.facts["predictions_sha256"]
    assert one.metrics["log_loss"] == pytest.approx(other.metrics["log_loss"], abs=1e-5)


@pytest.mark.long
def test_fifteen_and_forty_classes_are_within_four_points_of_the_nearest_neighbour() -> None:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import rill_classes

    found = rill_classes.compare()
    assert {case["classes"] for case in found.values()} == {15, 40}
    gains = {name: case["rill_minus_one_nearest"]["points"] for name, case in found.items()}
    assert min(gains.values()) >= -rill_classes.MARGIN, gains
