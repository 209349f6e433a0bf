"""Both choices among made runs, against the accuracies counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from millpond.baselines.grid import Configuration, Done
from millpond.baselines.selection import report

ROWS, WARMUP = 1000, 50


def made(
    folder: Path, cell: tuple[int, float], seed: int, first: int, rest: int, warmup: int = WARMUP
) -> Done:
    """A run with so many rows right among the scored ones of the first 100, and of the other 900."""
    label = np.zeros(ROWS, np.int32)
    prediction = np.ones(ROWS, np.int32)
    prediction[:warmup] = -1
    prediction[warmup : warmup + first] = 0
    prediction[100 : 100 + rest] = 0
    configuration = Configuration(*cell, seed)
    own = folder / configuration.name
    own.mkdir()
    np.savez(own / "steps.npz", prediction=prediction, label=label)
    accuracy = (first + rest) / (ROWS - warmup)
    (own / "result.json").write_text(json.dumps({"accuracy": accuracy}))
    return Done(configuration, own)


A, B, C = (100, 0.01), (100, 0.05), (400, 0.1)


def test_the_oracle_looks_at_the_whole_and_the_honest_choice_at_the_first_tenth(
    tmp_path: Path,
) -> None:
    found = report(
        [
            made(tmp_path, A, 1, first=40, rest=500),
            made(tmp_path, B, 1, first=20, rest=800),
            made(tmp_path, C, 1, first=30, rest=790),
        ]
    )
    oracle, honest = found["selections"]["oracle"], found["selections"]["honest"]
    assert (oracle["grace_period"], oracle["tie_threshold"]) == B
    assert oracle["accuracy"] == pytest.approx(820 / 950)
    assert oracle["first"] == pytest.approx(20 / 50)
    assert oracle["rest"] == pytest.approx(800 / 900)
    assert (honest["grace_period"], honest["tie_threshold"]) == A
    assert honest["rest"] == pytest.approx(500 / 900)
    assert found["failed"] == []


def test_seeds_are_averaged_and_their_spread_reported(tmp_path: Path) -> None:
    runs = [made(tmp_path, A, seed, first=10 * seed, rest=600 + seed) for seed in (1, 2, 3)]
    (row,) = report(runs)["configurations"]
    accuracies = [(610 + 11 * seed - 10) / 950 for seed in (1, 2, 3)]
    assert row["accuracies"] == pytest.approx(accuracies)
    assert row["accuracy"] == pytest.approx(np.mean(accuracies))
    assert row["std"] == pytest.approx(np.std(accuracies, ddof=1))
    assert row["first"] == pytest.approx(0.4)
    assert row["seeds"] == 3


def test_a_cell_that_lacks_a_seed_is_shown_and_not_chosen(tmp_path: Path) -> None:
    runs = [made(tmp_path, cell, seed, 20, 600) for seed in (1, 2) for cell in (A, B)]
    broken = made(tmp_path, C, 1, 50, 900)
    runs += [broken, Done(Configuration(*C, 2), tmp_path / "none", "killed by SIGKILL")]
    found = report(runs)
    assert found["failed"] == [{"configuration": "g400-t0.1-seed2", "reason": "killed by SIGKILL"}]
    assert [row["seeds"] for row in found["configurations"]] == [2, 2, 1]
    oracle = found["selections"]["oracle"]
    assert (oracle["grace_period"], oracle["tie_threshold"]) == A  # the first of two equals


def test_nothing_finished_and_nothing_scored(tmp_path: Path) -> None:
    found = report([Done(Configuration(*A, 1), tmp_path, "no Java")])
    assert found["selections"] == {"oracle": None, "honest": None}
    late = report([made(tmp_path, A, 1, 0, 700, warmup=100)])
    assert late["configurations"][0]["first"] is None
    assert late["selections"]["honest"] is None
    assert late["selections"]["oracle"]["accuracy"] == pytest.approx(700 / 900)
    json.dumps(late, allow_nan=False)
