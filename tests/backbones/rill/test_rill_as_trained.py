"""The engine against pretraining's own reading of the model: its files, its features, its session."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "pretraining")]

from stepwise import StepwiseSession  # noqa: E402

from millpond.backbones.rill import Rill  # noqa: E402
from millpond.backbones.rill.features import TRAINED_ORDER, Columns  # noqa: E402
from millpond.backbones.rill.lanes import Lanes  # noqa: E402
from millpond.backbones.rill.weights import load  # noqa: E402
from millpond.context import Contexts  # noqa: E402
from pretraining import export, features, model  # noqa: E402

SMALL = model.Shape(
    width=32,
    layers=3,
    heads=4,
    head_dim=16,
    rotary=12,
    hidden=48,
    row_layers=2,
    row_hidden=32,
    slots=16,
    codes=8,
    matches=2,
    match_dim=8,
    head_hidden=16,
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights as pretraining writes them, none left at its neutral start."""
    torch.manual_seed(0)
    network = model.Rill(SMALL)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    path = tmp_path_factory.mktemp("exported") / "weights.npz"
    export.write(path, network.state_dict(), SMALL, {"made": "for a test"})
    return path


def test_an_exported_file_is_read(exported: Path) -> None:
    weights, (arrays, header) = load(exported), export.read(exported)
    assert weights.sha256 == header["sha256"]
    assert all((weights.arrays[name] == array).all() for name, array in arrays.items())


def test_column_features_are_the_trained_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 6)).astype(np.float32)
    X[:, 1], X[:, 2] = np.round(X[:, 1]), 2.0
    X[rng.random(X.shape) < 0.05] = np.nan
    ours, theirs, one = Columns(1, 6), features.ColumnState(6), Lanes(np.array([0]))
    for row in X:
        want = features.channels_of(theirs.base(row))
        got = ours.channels(row[None, None], one)[0, 0]
        np.testing.assert_allclose(got, want[:, TRAINED_ORDER].T, atol=1e-5)
        ours.learn(row[None], one)
        theirs.learn(row)


@pytest.mark.parametrize("policy", ["fifo", "dual_fifo", "cure"])
def test_a_session_is_the_trained_one_step_by_step(exported: Path, policy: str) -> None:
    arrays, header = export.read(exported)
    contexts = Contexts(1, policy=policy, budget=60, tau=0.4)
    session, theirs = Rill(weights=exported).open(contexts), StepwiseSession(arrays, header, 4)
    rng, worst = np.random.default_rng(1), 0.0
    for t in range(500):
        x = rng.standard_normal(4).astype(np.float32)
        y = int(x[0] > np.sin(t / 40)) + int(x[1] > 1.5)
        (got,) = session.predict(x[None, None], np.array([0]))
        want = theirs.predict(x)
        assert got.classes.tolist() == list(want)
        worst = max([worst, *np.abs(got.proba[0] - list(want.values()))])
        score = contexts.score_of(0, got.proba)
        deltas = contexts.observe(x[None], np.array([y]), score, [0])
        session.update(deltas)
        theirs.add(x, y)
        promoted, evicted = deltas.promoted_arrival[0], deltas.evicted_arrival[0]
        theirs.promote([int(promoted)] if promoted >= 0 and promoted != evicted else [])
        theirs.evict([int(evicted)] if evicted >= 0 else [])
    assert worst < 1e-4
