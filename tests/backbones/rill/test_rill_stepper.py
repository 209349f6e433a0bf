"""Whole streams on the device against the NumPy engine behind the library's own contexts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rill_random import TINY, write_weights

from millpond.backbones.rill import Rill
from millpond.context import Contexts
from millpond.errors import CheckpointError

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from millpond.backbones.rill.device.stepper import Stepper  # noqa: E402

POLICIES = ["cure", "fifo", "cure_margin", "dual_fifo"]
SETTINGS: dict[str, Any] = {"policy": POLICIES, "budget": [20, 20, 17, 30], "tau": 0.8}
CLASSES, WARMUP = 4, 10


@pytest.fixture(scope="module")
def rill(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Rill]:
    folder = tmp_path_factory.mktemp("weights")

    def made(seed: int = 0, **options: Any) -> Rill:
        path = folder / f"{seed}.npz"
        if not path.exists():
            write_weights(path, TINY, seed=seed)
        return Rill(weights=path, **options)

    return made


def stream(rows: int, features: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """(lanes, rows, F) and labels, of which some classes come late."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((len(POLICIES), rows, features)).astype(np.float32)
    X[:, :, 1] = X[:, :, 1].round()
    X[1, rng.random((rows, features)) < 0.1] = np.nan
    late = np.minimum(1 + np.arange(rows) // 25, CLASSES)
    return X, ((X[:, :, 0] > 0) + rng.integers(0, late, (len(POLICIES), rows))) % late


def stepper_of(rill: Callable[..., Rill], **options: Any) -> Stepper:
    model = rill(engine="torch", **options)._model
    assert model is not None
    return Stepper(model, Contexts(len(POLICIES), **SETTINGS), 5, CLASSES, WARMUP)


def test_it_gives_what_sessions_give(rill) -> None:
    """In blocks of any length; rows kept, scores and probabilities, warm-up and single classes."""
    X, y = stream(240)
    contexts = Contexts(len(POLICIES), **SETTINGS)
    session, lanes = rill().open(contexts), np.arange(len(POLICIES))
    stepper = stepper_of(rill)
    proba, score, held = [], [], []
    for start, stop in ((0, 7), (7, 8), (8, 130), (130, 240)):
        answers = stepper.test_then_train(X[:, start:stop], y[:, start:stop])
        proba.append(answers.proba)
        score.append(answers.score)
        held.append(answers.classes)
    for t in range(240):
        predictions = session.predict(X[:, t : t + 1], lanes)
        scores = np.array([contexts.score_of(i, p.proba)[0] for i, p in enumerate(predictions)])
        scores *= t >= WARMUP
        np.testing.assert_allclose(np.concatenate(score, 1)[:, t], scores, atol=1e-4)
        for i, prediction in enumerate(predictions):
            if len(prediction.classes):
                ours = np.concatenate(proba, 1)[i, t]
                np.testing.assert_allclose(ours, prediction.dense(CLASSES)[0], atol=1e-4)
            assert np.concatenate(held, 1)[i, t] == len(prediction.classes)
        session.update(contexts.observe(X[:, t], y[:, t], scores, lanes.tolist()))
    for i in lanes:
        places = stepper.contexts.n_long[i]
        assert stepper.contexts.long[i, :places].tolist() == contexts.slots_of(i, "long").tolist()


def test_a_saved_one_goes_on_bit_for_bit(rill) -> None:
    X, y = stream(120)
    one = stepper_of(rill)
    one.test_then_train(X[:, :70], y[:, :70])
    other = stepper_of(rill)
    other.restore(one.state())
    ours, theirs = (each.test_then_train(X[:, 70:], y[:, 70:]) for each in (one, other))
    assert ours.proba.tobytes() == theirs.proba.tobytes()
    assert ours.score.tobytes() == theirs.score.tobytes()


def test_a_state_of_other_weights_is_refused(rill) -> None:
    with pytest.raises(CheckpointError, match="made by Rill weights"):
        stepper_of(rill, seed=1).restore(stepper_of(rill).state())
