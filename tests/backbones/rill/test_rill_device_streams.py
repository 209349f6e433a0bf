"""The benchmark for a GPU runs on a CPU too, and says what the evaluation loop says."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from rill_random import TINY, write_weights

from millpond import load_stream, prequential

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import rill_device  # noqa: E402
import rill_streams  # noqa: E402
from millpond.backbones.rill.device.model import Model  # noqa: E402
from millpond.backbones.rill.network import Network  # noqa: E402
from millpond.backbones.rill.weights import load  # noqa: E402

ROWS = 700


def test_whole_streams_on_a_device_are_those_of_the_loop(tmp_path: Path) -> None:
    path = write_weights(tmp_path / "weights.npz", TINY)
    model = Model(Network(load(path)), torch.device("cpu"), torch.float32)
    found = rill_device.run(model, "agr_a", ROWS)
    plan, stream = rill_streams.lanes_of("agr_a"), load_stream("agr_a").head(ROWS)
    mixed = stream.shuffled_within(rill_streams.SHUFFLED, rill_streams.SEED)
    results = prequential(
        [mixed if shuffled else stream for *_, shuffled in plan],
        backbone="rill",
        weights=path,
        policy=[policy for _, policy, _, _ in plan],
        tau=[tau for _, _, tau, _ in plan],
    )
    assert found["floors"] == results[0].floors
    for (key, *_), result in zip(plan, results, strict=True):
        lane = found["lanes"][key]
        assert lane["scored"] == result.scored
        # An answer within rounding of a tie may go either way.
        assert lane["accuracy"] == pytest.approx(result.accuracy, abs=2 / ROWS)
        assert lane["ece"] == pytest.approx(result.metrics["ece"], abs=0.01)
    assert "agr_a" in rill_streams.table({"agr_a": found})


def test_the_cost_of_a_step_is_measured(tmp_path: Path, monkeypatch) -> None:
    path = write_weights(tmp_path / "weights.npz", TINY)
    monkeypatch.setattr(rill_device, "FILL", 4)
    monkeypatch.setattr(rill_device, "TIMED", 4)
    monkeypatch.setattr(rill_device, "BLOCK", 4)
    model = Model(Network(load(path)), torch.device("cpu"), torch.float32)
    found = rill_device.cost(model, 2)
    assert found["lanes"] == 2
    assert np.isfinite(found["step_ms"])
