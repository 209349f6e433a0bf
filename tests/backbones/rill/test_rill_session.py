"""Sessions against the definition step by step, one lane against many, and saved against unsaved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rill_random import TINY, random_arrays, write_weights
from rill_slowly import SlowRill

from millpond.backbones import Prediction
from millpond.backbones.rill import Rill
from millpond.context import Contexts
from millpond.errors import CheckpointError

AGREED = 1e-4


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Rill]:
    """Rill on random weights, each file written once."""
    folder = tmp_path_factory.mktemp("weights")

    def made(loud: float = 1.0, seed: int = 0) -> Rill:
        path = folder / f"{loud}-{seed}.npz"
        return Rill(weights=path if path.exists() else write_weights(path, seed=seed, loud=loud))

    return made


class Pair:
    """A lane of the engine and the definition, fed the same rows."""

    def __init__(self, rill: Rill, features: int, loud: float = 1.0, **options: Any) -> None:
        self.contexts = Contexts(1, **options)
        self.session = rill.open(self.contexts)
        self.slow = SlowRill(random_arrays(TINY, loud=loud), TINY, features)
        self.worst = 0.0

    def ask(self, rows: np.ndarray) -> Prediction:
        (prediction,) = self.session.predict(rows[None], np.array([0]))
        for row, proba in zip(rows, prediction.proba, strict=True):
            want = self.slow.predict(row)
            assert prediction.classes.tolist() == list(want)
            if want:
                assert proba.sum() == pytest.approx(1, abs=1e-12)
                self.worst = max(self.worst, *np.abs(proba - list(want.values())))
        return prediction

    def learn(self, x: np.ndarray, y: int, score: float) -> None:
        deltas = self.contexts.observe(x[None], np.array([y]), np.array([score]), [0])
        self.session.update(deltas)
        promoted, evicted = int(deltas.promoted_arrival[0]), int(deltas.evicted_arrival[0])
        self.slow.add(int(deltas.added_arrival[0]), x, y)
        if promoted >= 0 and promoted != evicted:
            self.slow.promote(promoted)
        if evicted >= 0:
            self.slow.evict(evicted)

    def step(self, x: np.ndarray, y: int) -> None:
        prediction = self.ask(x[None])
        self.learn(x, y, float(self.contexts.score_of(0, prediction.proba)[0]))


def rows_of(seed: int, rows: int, features: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, whole numbers, a constant, missing values; drifting classes, one of them late."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, features)).astype(np.float32)
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = 4.5
    X[rng.random(rows) < 0.1, 3] = np.nan
    t = np.arange(rows)
    y = (X[:, 0] + np.sin(t / 50) > 0).astype(np.int64)
    y[(t > 100) & (X[:, 0] > 1.2)] = 2
    return X, y


@pytest.mark.parametrize("policy", ["fifo", "dual_fifo", "cure"])
def test_a_lane_is_the_definition_step_by_step(make, policy: str) -> None:
    pair = Pair(make(), 5, policy=policy, budget=24, short_ratio=0.6, tau=0.5)
    evicted = 0
    for x, y in zip(*rows_of(1, 600), strict=True):
        pair.step(x, int(y))
        evicted += len(pair.slow.rows) == 24
    assert evicted > 500
    assert pair.worst < AGREED


@pytest.mark.long
@pytest.mark.parametrize("policy", ["fifo", "dual_fifo", "cure"])
def test_a_long_stream_stays_with_the_definition(make, policy: str) -> None:
    """Past the reference sample's turn-over and the window of the statistics."""
    pair = Pair(make(), 5, policy=policy, budget=120, tau=0.5)
    for x, y in zip(*rows_of(2, 5000), strict=True):
        pair.step(x, int(y))
    assert pair.worst < AGREED


def test_scores_too_large_for_a_bare_exponential_are_shifted(make) -> None:
    """Gains of 12 make scores of some hundreds, where exp overflows float32."""
    pair = Pair(make(loud=12.0), 5, loud=12.0, policy="cure", budget=16, tau=0.3)
    assert not pair.session._network.tame
    for x, y in zip(*rows_of(3, 120), strict=True):
        pair.step(x, int(y))
    assert pair.worst < 20 * AGREED  # scores of hundreds are rounded to some 1e-5


def test_chunks_and_late_labels_are_the_definition(make) -> None:
    pair = Pair(make(), 5, policy="cure", budget=20, tau=0.4)
    X, y = rows_of(4, 200)
    for start in range(0, 200, 7):
        chunk = slice(start, start + 7)
        scores = pair.contexts.score_of(0, pair.ask(X[chunk]).proba)
        for x, label, score in zip(X[chunk], y[chunk], scores, strict=True):
            pair.learn(x, int(label), float(score))
    for t in range(60):
        pair.ask(X[t : t + 1])
        if t >= 5:
            pair.learn(X[t - 5], int(y[t - 5]), 0.5)
    assert pair.worst < AGREED


def test_a_row_that_comes_twice_is_read_twice(make) -> None:
    """Its features have changed by what was learned since it was asked about, the row itself too."""
    pair = Pair(make(), 5, policy="fifo", budget=10)
    for x, label in zip(*rows_of(8, 30), strict=True):
        pair.ask(x[None])
        for _ in range(2):
            pair.learn(x, int(label), 0.0)
    assert pair.worst < AGREED


def test_more_queries_than_a_block_are_each_answered_alone(make, monkeypatch) -> None:
    pair = Pair(make(), 5, policy="fifo", budget=20)
    X, y = rows_of(5, 60)
    for x, label in zip(X[:30], y[:30], strict=True):
        pair.learn(x, int(label), 0.0)
    monkeypatch.setattr("millpond.backbones.rill.session.BLOCK", 4)
    pair.ask(X[30:60])
    assert pair.worst < AGREED


def test_more_features_than_slots_share_them(make) -> None:
    features = 2 * TINY.slots + 3
    pair = Pair(make(), features, policy="dual_fifo", budget=12)
    X, y = rows_of(6, 40, features)
    for x, label in zip(X, y, strict=True):
        pair.step(x, int(label))
    assert pair.worst < AGREED


def test_more_classes_than_codes_and_classes_that_go_and_come_back(make) -> None:
    pair = Pair(make(), 4, policy="fifo", budget=30)
    rng = np.random.default_rng(0)
    for t in range(260):
        x = rng.standard_normal(4).astype(np.float32)
        pair.step(x, t % 200 if t < 200 else 3 * t % 50)
    assert pair.worst < AGREED


def test_codes_may_be_any_whole_numbers(make) -> None:
    rng = np.random.default_rng(1)
    codes = [-(2**63), -5, 0, 2**63 - 1]
    pair = Pair(make(), 3, policy="cure", budget=10)
    for t in range(40):
        pair.step(rng.standard_normal(3).astype(np.float32), codes[t % 4])
    assert pair.worst < AGREED


def test_an_empty_context_says_nothing_and_one_class_is_certain(make) -> None:
    contexts = Contexts(1, policy="fifo", budget=5)
    session = make().open(contexts)
    row = np.ones((1, 3, 2), np.float32)
    (empty,) = session.predict(row, np.array([0]))
    assert empty.classes.shape == (0,)
    assert empty.proba.shape == (3, 0)
    for _ in range(4):
        session.update(contexts.observe(row[0, :1], np.array([7]), np.zeros(1), [0]))
    (one,) = session.predict(row, np.array([0]))
    assert one.classes.tolist() == [7]
    assert one.proba.tolist() == [[1.0]] * 3


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38, 1e-45, 0.0])
def test_no_value_gets_past_the_features(make, value: float) -> None:
    """Columns of nothing but it, and it at times among others, in queries and in rows."""
    contexts = Contexts(1, policy="dual_fifo", budget=8)  # CURE's own sums take no infinities
    session = make().open(contexts)
    rng = np.random.default_rng(0)
    for t in range(40):
        x = rng.standard_normal((1, 4)).astype(np.float32)
        x[0, t % 3] = value
        x[0, 3] = value
        (prediction,) = session.predict(x[None], np.array([0]))
        assert np.isfinite(prediction.proba).all()
        assert (prediction.proba >= 0).all()
        session.update(contexts.observe(x, np.array([t % 2]), np.array([0.5]), [0]))
        assert np.isfinite(session._cache.keys).all()


# -- lanes ---------------------------------------------------------------------------------------


class Many:
    """Some lanes with their own policy, budget, features and classes, stepped as told."""

    def __init__(self, rill: Rill, plan: list[dict[str, Any]], only: int | None = None) -> None:
        """With `only`, a session of that one lane: what it must equal."""
        self.plan = plan if only is None else [plan[only]]
        names = ("policy", "budget", "short_ratio", "tau")
        self.contexts = Contexts(
            len(self.plan), **{n: [lane[n] for lane in self.plan] for n in names}
        )
        self.session = rill.open(self.contexts)
        self.width = max(lane["features"] for lane in plan)

    def row(self, lane: int, t: int) -> tuple[np.ndarray, int]:
        own = self.plan[lane]
        rng = np.random.default_rng([own["seed"], t])
        x = np.zeros(self.width, np.float32)
        x[: own["features"]] = rng.standard_normal(own["features"])
        return x, int(rng.integers(own["classes"]))

    def ask(self, lanes: list[int], t: int, k: int) -> list[Prediction]:
        X = [[self.row(lane, t + j)[0] for j in range(k)] for lane in lanes]
        return self.session.predict(np.array(X), np.array(lanes))

    def learn(self, lanes: list[int], t: int) -> None:
        rows = [self.row(lane, t) for lane in lanes]
        X, y = np.array([x for x, _ in rows]), np.array([y for _, y in rows])
        score = np.array([(t * 7 + label) % 10 / 10 for label in y])  # no rounding decides
        self.session.update(self.contexts.observe(X, y, score, lanes))


LANE = st.fixed_dictionaries(
    {
        "policy": st.sampled_from(["fifo", "dual_fifo", "cure", "entropy_only"]),
        "budget": st.integers(2, 12),
        "short_ratio": st.sampled_from([0.3, 0.75]),
        "tau": st.sampled_from([0.0, 0.4]),
        "features": st.integers(1, 6),
        "classes": st.integers(1, 5),
        "seed": st.integers(0, 99),
    }
)
STEPS = st.lists(
    st.tuples(
        st.integers(0, 3),  # queries asked of the lanes that are asked
        st.integers(0, 2**4 - 1),  # lanes asked
        st.integers(0, 2**4 - 1),  # lanes that learn
    ),
    min_size=1,
    max_size=30,
)


def chosen(mask: int, lanes: int) -> list[int]:
    return [lane for lane in range(lanes) if mask >> lane & 1]


@settings(max_examples=40, deadline=None)
@given(plan=st.lists(LANE, min_size=2, max_size=4), steps=STEPS)
def test_many_lanes_are_as_many_single_ones(make, plan, steps) -> None:
    together = Many(make(), plan)
    alone = [Many(make(), plan, only=lane) for lane in range(len(plan))]
    for t, (k, asked, learning) in enumerate(steps):
        lanes = chosen(asked, len(plan))
        if k and lanes:
            for lane, got in zip(lanes, together.ask(lanes, t, k), strict=True):
                (want,) = alone[lane].ask([0], t, k)
                assert got.classes.tolist() == want.classes.tolist()
                np.testing.assert_allclose(got.proba, want.proba, atol=1e-5)
        lanes = chosen(learning, len(plan))
        if lanes:
            together.learn(lanes, t)
        for lane in lanes:
            alone[lane].learn([0], t)


def test_lanes_beyond_a_stretch_and_with_gaps_are_the_same(make, monkeypatch) -> None:
    plan = [
        {"policy": p, "budget": b, "short_ratio": 0.5, "tau": 0.2, "features": f, "classes": c}
        for p, b, f, c in [("cure", 9, 3, 2), ("fifo", 30, 5, 3), ("dual_fifo", 4, 1, 2)] * 4
    ]
    plan = [lane | {"seed": seed} for seed, lane in enumerate(plan)]
    monkeypatch.setattr("millpond.backbones.rill.engine.SCORES", 1024)
    together = Many(make(), plan)
    alone = [Many(make(), plan, only=lane) for lane in range(len(plan))]
    rng = np.random.default_rng(0)
    for t in range(45):
        lanes = np.flatnonzero(rng.random(len(plan)) < 0.8).tolist()
        for lane, got in zip(lanes, together.ask(lanes, t, 1), strict=True):
            np.testing.assert_allclose(got.proba, alone[lane].ask([0], t, 1)[0].proba, atol=1e-5)
        together.learn(lanes, t)
        for lane in lanes:
            alone[lane].learn([0], t)


# -- state ---------------------------------------------------------------------------------------


def saved_and_resumed(rill: Rill, old: Many) -> Many:
    """A new session that goes on from the old one's state, which may be written to a file."""
    new = Many(rill, old.plan)
    new.width = old.width
    contexts, session = old.contexts.state(), old.session.state()
    assert all(array.dtype != object for array in session.values())
    new.contexts.restore(contexts)
    new.session.restore(session)
    return new


@settings(max_examples=40, deadline=None)
@given(
    plan=st.lists(LANE, min_size=1, max_size=3),
    steps=STEPS,
    at=st.integers(0, 29),
    answered=st.booleans(),
)
def test_a_resumed_session_goes_on_bit_for_bit(make, plan, steps, at, answered) -> None:
    """Whatever waits when it is saved, before a query or between it and its label."""
    kept, other = Many(make(), plan), Many(make(), plan)
    for t, (k, asked, learning) in enumerate(steps):
        if t == at and not answered:
            other = saved_and_resumed(make(), other)
        lanes = chosen(asked, len(plan))
        if k and lanes:
            for a, b in zip(kept.ask(lanes, t, k), other.ask(lanes, t, k), strict=True):
                assert a.classes.tobytes() == b.classes.tobytes()
                assert a.proba.tobytes() == b.proba.tobytes()
        if t == at and answered:
            other = saved_and_resumed(make(), other)
        lanes = chosen(learning, len(plan))
        if lanes:
            kept.learn(lanes, t)
            other.learn(lanes, t)


def test_a_session_saved_between_a_query_and_its_label_goes_on_bit_for_bit(make) -> None:
    """The row is not read again where it was read for the query."""
    kept, other = Many(make(), [_LANE, _LANE]), Many(make(), [_LANE, _LANE])
    for t in range(30):
        for many in (kept, other):
            many.ask([0, 1], t, 1)
        other = saved_and_resumed(make(), other)
        for many in (kept, other):
            many.learn([0, 1], t)
        for a, b in zip(kept.ask([0, 1], t, 1), other.ask([0, 1], t, 1), strict=True):
            assert a.proba.tobytes() == b.proba.tobytes()


def test_a_state_keeps_its_size_and_is_the_sessions_own(make) -> None:
    many = Many(make(), [_LANE])
    sizes = set()
    for t in range(60):
        many.ask([0], t, 1)
        many.learn([0], t)
        if t == 29:
            before = many.session.state()
            copies = {name: array.copy() for name, array in before.items()}
        if t > 5:
            sizes.add(sum(array.nbytes for array in many.session.state().values()))
    assert len(sizes) == 1
    assert all(np.array_equal(before[n], copies[n], equal_nan=True) for n in before)


def test_a_state_of_other_weights_is_refused(make, tmp_path: Path) -> None:
    many = Many(make(), [_LANE])
    many.learn([0], 0)
    other = Many(make(seed=1), [_LANE])
    with pytest.raises(CheckpointError, match=r"made by Rill weights .* go on with those"):
        other.session.restore(many.session.state())


_LANE = {
    "policy": "cure",
    "budget": 12,
    "short_ratio": 0.5,
    "tau": 0.3,
    "features": 3,
    "classes": 3,
    "seed": 0,
}
