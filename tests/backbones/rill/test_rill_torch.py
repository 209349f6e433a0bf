"""The torch engine behind the seam: the NumPy engine's answers, from the same replayed deltas."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rill_random import FULL, TINY, write_weights
from test_rill_session import LANE, STEPS, Many, chosen, rows_of, saved_and_resumed

from millpond import load_stream, prequential
from millpond.backbones import get_backbone
from millpond.backbones.rill import Rill
from millpond.context import Contexts
from millpond.errors import BadOption, CheckpointError, MissingExtra

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

AGREED = 1e-4


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Rill]:
    """Rill on random weights, by default on torch; each file written once."""
    folder = tmp_path_factory.mktemp("weights")

    def made(shape: Any = TINY, seed: int = 0, loud: float = 1.0, **options: Any) -> Rill:
        path = folder / f"{shape.width}-{seed}-{loud}.npz"
        if not path.exists():
            write_weights(path, shape, seed=seed, loud=loud)
        return Rill(weights=path, **({"engine": "torch"} | options))

    return made


class Apart:
    """How far two engines' answers are from each other, over one lane's stream."""

    def __init__(self, one: Rill, other: Rill, **options: Any) -> None:
        self.contexts = Contexts(1, **options)
        self.one, self.other = one.open(self.contexts), other.open(self.contexts)
        self.worst, self.flips, self.evictions = 0.0, 0, 0

    def step(self, x: np.ndarray, y: int) -> None:
        ours, theirs = (
            session.predict(x[None, None], np.array([0]))[0] for session in (self.one, self.other)
        )
        assert ours.classes.tolist() == theirs.classes.tolist()
        if len(ours.classes):
            self.worst = max(self.worst, float(np.abs(ours.proba - theirs.proba).max()))
            self.flips += int(ours.best()[0] != theirs.best()[0])
        score = self.contexts.score_of(0, ours.proba)
        deltas = self.contexts.observe(x[None], np.array([y]), score, [0])
        self.evictions += int(deltas.evicted[0] >= 0)
        self.one.update(deltas)
        self.other.update(deltas)


@pytest.mark.parametrize("policy", ["dual_fifo", "cure"])
def test_three_thousand_steps_are_the_numpy_engines(make, policy: str) -> None:
    """Far beyond the reference sample's turn-over; nearly every step evicts."""
    apart = Apart(make(engine="numpy"), make(), policy=policy, budget=24, short_ratio=0.6, tau=0.5)
    for x, y in zip(*rows_of(1, 3000), strict=True):
        apart.step(x, int(y))
    assert apart.evictions > 2900
    assert apart.worst < AGREED


@pytest.mark.long
def test_three_thousand_steps_at_full_size_are_the_numpy_engines(make) -> None:
    apart = Apart(make(FULL, engine="numpy"), make(FULL), policy="cure", budget=1000, tau=0.3)
    for x, y in zip(*rows_of(2, 3000, 27), strict=True):
        apart.step(x, int(y))
    assert apart.evictions > 1900
    assert apart.worst < AGREED


def test_bfloat16_stays_near(make) -> None:
    """Eight bits of mantissa: answers move in the third digit, and few decisions with them."""
    apart = Apart(make(), make(dtype="bfloat16"), policy="cure", budget=24, tau=0.5)
    for x, y in zip(*rows_of(1, 600), strict=True):
        apart.step(x, int(y))
    assert 1e-5 < apart.worst < 2e-2
    assert apart.flips <= 6


def test_scores_too_large_for_a_bare_exponential(make) -> None:
    apart = Apart(make(loud=12.0, engine="numpy"), make(loud=12.0), policy="cure", budget=16)
    for x, y in zip(*rows_of(3, 120), strict=True):
        apart.step(x, int(y))
    assert apart.worst < 20 * AGREED  # scores of hundreds are rounded to some 1e-5


def test_more_features_than_slots_more_classes_than_codes(make) -> None:
    apart = Apart(make(engine="numpy"), make(), policy="fifo", budget=30)
    rng = np.random.default_rng(0)
    for t in range(200):
        x = rng.standard_normal(2 * TINY.slots + 3).astype(np.float32)
        apart.step(x, t % 150 - 40 if t < 150 else 3 * t % 50)
    assert apart.worst < AGREED


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38, 1e-45, 0.0])
def test_any_value(make, value: float) -> None:
    apart = Apart(make(engine="numpy"), make(), policy="dual_fifo", budget=8)
    rng = np.random.default_rng(0)
    for t in range(40):
        x = rng.standard_normal(4).astype(np.float32)
        x[t % 3] = x[3] = value
        apart.step(x, t % 2)
    assert apart.worst < AGREED


@settings(max_examples=25, deadline=None)
@given(plan=st.lists(LANE, min_size=2, max_size=4), steps=STEPS)
def test_many_lanes_chunks_and_late_labels_are_the_numpy_engines(make, plan, steps) -> None:
    ours, theirs = Many(make(), plan), Many(make(engine="numpy"), plan)
    for t, (k, asked, learning) in enumerate(steps):
        lanes = chosen(asked, len(plan))
        if k and lanes:
            for got, want in zip(ours.ask(lanes, t, k), theirs.ask(lanes, t, k), strict=True):
                assert got.classes.tolist() == want.classes.tolist()
                np.testing.assert_allclose(got.proba, want.proba, atol=1e-5)
        lanes = chosen(learning, len(plan))
        if lanes:
            ours.learn(lanes, t)
            theirs.learn(lanes, t)


def test_a_resumed_session_goes_on_bit_for_bit(make) -> None:
    """Saved between a query and its label, and between a label and the next query."""
    kept, other = Many(make(), [_LANE, _LANE]), Many(make(), [_LANE, _LANE])
    for t in range(30):
        for many in (kept, other):
            many.ask([0, 1], t, 1)
        if t % 3 == 0:
            other = saved_and_resumed(make(), other)
        for many in (kept, other):
            many.learn([0, 1], t)
        if t % 3 == 1:
            other = saved_and_resumed(make(), other)
        for a, b in zip(kept.ask([0, 1], t, 1), other.ask([0, 1], t, 1), strict=True):
            assert a.proba.tobytes() == b.proba.tobytes()


def test_a_state_of_other_weights_is_refused(make) -> None:
    many = Many(make(), [_LANE])
    many.learn([0], 0)
    with pytest.raises(CheckpointError, match=r"made by Rill weights .* go on with those"):
        Many(make(seed=1), [_LANE]).session.restore(many.session.state())


def test_a_run_in_chunks_predicts_what_the_numpy_engine_does(make) -> None:
    stream = load_stream("agr_a").head(300)
    options: dict[str, Any] = {"policy": "cure", "budget": 40, "tau": 0.3, "chunk": 5, "delay": 3}
    ours = prequential(stream, backbone=make(), **options)
    theirs = prequential(stream, backbone=make(engine="numpy"), **options)
    assert np.array_equal(ours.predictions, theirs.predictions)


def test_options_that_do_not_go_together(make, monkeypatch) -> None:
    path = str(make().weights)
    for options, what in (
        ({"engine": "jax"}, "engine must be 'numpy' or 'torch'"),
        ({"engine": "numpy", "device": "cpu"}, "need engine='torch'"),
        ({"engine": "numpy", "dtype": "bfloat16"}, "need engine='torch'"),
        ({"engine": "torch", "dtype": "float16"}, "dtype must be one of float32, bfloat16"),
        ({"engine": "torch", "device": "abacus"}, "no device 'abacus' here"),
    ):
        with pytest.raises(BadOption, match=what):
            get_backbone("rill", weights=path, **options)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"millpond\[torch\]"):
        get_backbone("rill", weights=path, engine="torch")


_LANE = {
    "policy": "cure",
    "budget": 12,
    "short_ratio": 0.5,
    "tau": 0.3,
    "features": 3,
    "classes": 3,
    "seed": 0,
}
