"""The device's contexts against the library's: the same rows kept, the same slots, step by step."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.context import Contexts
from millpond.policies import POLICIES
from millpond.policies.base import Details, Policy

torch = pytest.importorskip("torch")

from millpond.backbones.rill.device.contexts import DeviceContexts, runs_on_device  # noqa: E402
from millpond.backbones.rill.device.nearest import closest_pairs  # noqa: E402

torch.set_num_threads(1)
CPU = torch.device("cpu")
NAMES = list(POLICIES)


def streams(
    seed: int, lanes: int, rows: int, features: int, classes: int, kind: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X (rows, lanes, features), y, probabilities (rows, lanes, classes)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, lanes, features))
    if kind == "ties":
        X = rng.integers(0, 2, (rows, lanes, features))
    if kind == "near":
        X = X.round() + 1e-7 * X + 1000
    if kind == "missing":
        X = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    late = np.minimum(np.arange(rows)[:, None] // 20 + 1, classes)  # classes come one by one
    y = (rng.random((rows, lanes)) ** 2 * late).astype(np.int64)
    return X.astype(np.float32), y, rng.dirichlet(np.ones(classes), (rows, lanes))


def compare(host: Contexts, X: np.ndarray, y: np.ndarray, proba: np.ndarray) -> int:
    """Step both; the number of evictions."""
    lanes, classes = y.shape[1], proba.shape[2]
    device = DeviceContexts(host, X.shape[2], classes, CPU)
    count = torch.zeros((lanes, classes), dtype=torch.int64)
    evictions = 0
    for x, labels, p in zip(X, y, proba, strict=True):
        held = count > 0
        p = torch.where(held, torch.from_numpy(p), 0.0)
        p = p / p.sum(1, keepdim=True).clamp(min=1e-300)
        score = device.score_of(p, count)
        expected = [
            host.score_of(lane, p[lane, held[lane]].numpy()[None])[0] if held[lane].any() else 0.0
            for lane in range(lanes)
        ]
        np.testing.assert_allclose(score.numpy(), expected, rtol=0, atol=1e-12)
        deltas = host.observe(x, labels, score.numpy(), range(lanes))
        y_now = torch.from_numpy(labels)
        gone = device.y.clone()
        added, evicted, promoted = device.observe(torch.from_numpy(x), y_now, score)
        assert added.tolist() == deltas.added.tolist()
        assert promoted.tolist() == deltas.promoted.tolist()
        assert evicted.tolist() == deltas.evicted.tolist()
        for lane, slot in enumerate(evicted.tolist()):
            count[lane, labels[lane]] += 1
            if slot >= 0:
                left = labels[lane] if slot == added[lane] else int(gone[lane, slot])
                count[lane, left] -= 1
                evictions += 1
    for lane in range(lanes):
        assert (
            device.long[lane, : device.n_long[lane]].tolist()
            == host.slots_of(lane, "long").tolist()
        )
        assert device.admitted[lane] == host.banks[lane].admitted
    return evictions


@pytest.mark.parametrize("kind", ["plain", "ties", "near", "missing"])
def test_every_policy_decides_as_in_numpy(kind: str) -> None:
    host = Contexts(len(NAMES), policy=NAMES, budget=24, short_ratio=0.5, tau=0.6)
    assert runs_on_device(host)
    assert compare(host, *streams(3, len(NAMES), 260, 4, 4, kind)) > 1500


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_lanes_of_any_size_side_by_side(data: st.DataObject) -> None:
    lanes = data.draw(st.integers(1, 4))
    policies = [data.draw(st.sampled_from(NAMES)) for _ in range(lanes)]
    budgets = [data.draw(st.integers(2, 12)) for _ in range(lanes)]
    ratios = [data.draw(st.sampled_from([0.1, 0.5, 0.75, 0.9])) for _ in range(lanes)]
    taus = [data.draw(st.sampled_from([0.0, 0.5, 1.0])) for _ in range(lanes)]
    host = Contexts(lanes, policy=policies, budget=budgets, short_ratio=ratios, tau=taus)
    kind = data.draw(st.sampled_from(["plain", "ties", "near", "missing"]))
    classes = data.draw(st.integers(1, 5))
    compare(host, *streams(data.draw(st.integers(0, 999)), lanes, 60, 2, classes, kind))


@pytest.mark.parametrize("kind", ["plain", "ties"])
def test_long_banks_of_many_columns_decide_as_in_numpy(kind: str) -> None:
    host = Contexts(2, policy=["cure", "cure_global_nn"], budget=200, tau=[0.3, 0.5])
    assert compare(host, *streams(5, 2, 330, 27, 2, kind)) > 100


def test_what_is_not_written_for_the_device_is_said() -> None:
    assert not runs_on_device(Contexts(1, details=Details(ties="newer")))
    assert not runs_on_device(Contexts(1, tau="auto"))
    own = Policy("own", POLICIES["cure"].score, True, lambda banks, details: 0)
    assert not runs_on_device(Contexts(1, policy=own))


def test_the_kernel_finds_the_same_minima() -> None:
    pytest.importorskip("triton", reason="the GPU's pairs are found in Triton")
    code = (
        "import torch\n"
        "from millpond.backbones.rill.device.nearest import _row_minima\n"
        "from millpond.backbones.rill.device.nearest_kernel import row_minima\n"
        "torch.manual_seed(0)\n"
        "phi = torch.randn(1, 40, 3, dtype=torch.float64).round()\n"
        "own = torch.rand(1, 40) < 0.7\n"
        "ours, plain = row_minima(phi, own), _row_minima(phi, own)\n"
        "torch.testing.assert_close(ours, plain, rtol=1e-15, atol=0)\n"
        "assert plain.isfinite().sum() > 20\n"
    )
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_pair_is_the_first_of_the_tied() -> None:
    phi = torch.tensor([[[0.0], [5.0], [1.0], [5.0 + 1e-13], [5.0]]], dtype=torch.float64)
    own = torch.ones(1, 5, dtype=torch.bool)
    assert [int(end) for end in closest_pairs(phi, own)] == [1, 3]
