"""Many lanes in one call are single contexts, one by one; and both are the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from millpond import Context, Delta
from millpond.context import Contexts
from millpond.errors import BadInput, BadOption
from millpond.policies import Details
from oracle import POLICIES, BruteForceContext

TAUS = [0.0, 0.27182, 0.57721, 0.91597]  # no score equals one of them but by rounding

lane_options = st.fixed_dictionaries(
    {
        "policy": st.sampled_from(POLICIES),
        "budget": st.integers(2, 12),
        "short_ratio": st.sampled_from([0.05, 0.5, 0.75, 0.95]),
        "tau": st.sampled_from(TAUS),
    }
)


def many(options: list[dict[str, Any]]) -> Contexts:
    names = options[0].keys()
    return Contexts(len(options), **{name: [each[name] for each in options] for name in names})


class Lane:
    """One lane of many, beside a `Context` and the oracle that see the same rows."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.single, self.oracle = Context(**options), BruteForceContext(**options)
        self.rows = 0

    def observe(self, x: NDArray[Any], y: int, proba: list[float] | None) -> Delta:
        expected = self.oracle.observe(x, y, proba)
        delta = self.single.observe(x, y, proba=proba)
        assert (delta.added, delta.promoted, delta.evicted) == expected
        self.rows += 1
        return delta


def check(contexts: Contexts, lane: int, single: Context) -> None:
    """The lane holds what the single context holds, in the same order."""
    for bank in ("short", "long", "all"):
        slots = contexts.slots_of(lane, bank)  # type: ignore[arg-type]
        assert contexts.arrival[lane, slots].tolist() == single.arrivals(bank).tolist()  # type: ignore[arg-type]
    slots = contexts.slots_of(lane)
    X, y, _ = single.arrays()
    if len(X):
        np.testing.assert_array_equal(contexts.X[lane, slots], X)
    np.testing.assert_array_equal(contexts.y[lane, slots], y)
    assert len(set(slots.tolist())) == len(slots)
    free = np.setdiff1d(np.arange(contexts.slots), slots)
    assert (contexts.arrival[lane, free] == -1).all()
    assert contexts.sizes()[0][lane] == len(single.arrivals("short"))
    assert contexts.sizes()[1][lane] == len(single.arrivals("long"))


@settings(max_examples=40)
@given(
    st.lists(lane_options, min_size=1, max_size=4),
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.sampled_from([0, 2, 3]),
    st.floats(0, 1),
    st.integers(0, 60),
)
def test_lanes_are_single_contexts(
    options: list[dict[str, Any]],
    seed: int,
    features: int,
    levels: int,
    partial: float,
    restored_at: int,
) -> None:
    """Also where a call leaves lanes out, and across a state that is saved and restored."""
    rng = np.random.default_rng(seed)
    contexts, lanes = many(options), [Lane(each) for each in options]
    for step in range(60):
        if step == restored_at:
            state = contexts.state()
            contexts = many(options)
            contexts.restore(state)
        chosen = [lane for lane in range(len(lanes)) if rng.random() >= partial]
        rng.shuffle(chosen)
        X = rng.normal(size=(len(chosen), features))
        if levels:
            X = np.floor(np.abs(X) * levels)
        X = X.astype(np.float32)
        y = rng.integers(0, 3, len(chosen))
        probas = [rng.dirichlet([1, 1, 1])[None] for _ in chosen]
        scores = [contexts.score_of(k, p)[0] for k, p in zip(chosen, probas, strict=True)]
        deltas = contexts.observe(X, y, np.array(scores), chosen)
        assert deltas.lanes.tolist() == chosen
        for row, lane in enumerate(chosen):
            single = lanes[lane].observe(X[row], int(y[row]), probas[row][0].tolist())
            arrivals = [
                int(which[row])
                for which in (deltas.added_arrival, deltas.promoted_arrival, deltas.evicted_arrival)
            ]
            expected = [single.added, *(single.promoted or (-1,)), *(single.evicted or (-1,))]
            assert arrivals == expected
            assert contexts.y[lane, deltas.added[row]] == y[row]
            for slot, arrival in (
                (deltas.promoted[row], deltas.promoted_arrival[row]),
                (deltas.evicted[row], deltas.evicted_arrival[row]),
            ):
                assert (slot >= 0) == (arrival >= 0)
    for lane in range(len(lanes)):
        check(contexts, lane, lanes[lane].single)


@settings(max_examples=30)
@given(lane_options, st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0, 2, 3]))
def test_columns_of_zeros_change_no_decision(
    options: dict[str, Any], seed: int, padding: int, levels: int
) -> None:
    """How lanes of fewer features are brought to one width."""
    rng = np.random.default_rng(seed)
    narrow, wide = many([options]), many([options])
    for _ in range(80):
        x = rng.normal(size=(1, 3)).astype(np.float32)
        x = np.floor(np.abs(x) * levels) if levels else x
        y, score = rng.integers(0, 3, 1), rng.random(1)
        narrow.observe(x, y, score, (0,))
        wide.observe(np.pad(x, ((0, 0), (0, padding))), y, score, (0,))
        assert narrow.slots_of(0).tolist() == wide.slots_of(0).tolist()


def test_slots_say_where_a_backbones_caches_go() -> None:
    """A cache kept by the deltas alone holds exactly the rows of the context."""
    contexts = many([{"policy": p, "budget": 9, "short_ratio": 0.5, "tau": 0.5} for p in POLICIES])
    rng = np.random.default_rng(1)
    every = range(len(POLICIES))
    cache: list[dict[int, tuple[int, str]]] = [{} for _ in every]
    for t in range(200):
        X, y = rng.normal(size=(len(POLICIES), 2)).astype(np.float32), rng.integers(0, 3, 7)
        deltas = contexts.observe(X, y, rng.random(7), list(every))
        for row, lane in enumerate(deltas.lanes.tolist()):
            assert deltas.added[row] not in cache[lane]
            cache[lane][int(deltas.added[row])] = (t, "short")
            if deltas.promoted[row] >= 0:
                arrival, bank = cache[lane][int(deltas.promoted[row])]
                assert (arrival, bank) == (deltas.promoted_arrival[row], "short")
                cache[lane][int(deltas.promoted[row])] = (arrival, "long")
            if deltas.evicted[row] >= 0:
                assert cache[lane].pop(int(deltas.evicted[row]))[0] == deltas.evicted_arrival[row]
    for lane in every:
        for bank in ("short", "long"):
            slots = contexts.slots_of(lane, bank)  # type: ignore[arg-type]
            arrivals = contexts.arrival[lane, slots].tolist()
            assert [cache[lane][slot] for slot in slots.tolist()] == [(a, bank) for a in arrivals]


def test_a_state_is_a_copy() -> None:
    options = {"policy": "cure", "budget": 6, "short_ratio": 0.5, "tau": 0.1}
    rng = np.random.default_rng(2)
    rows = [
        (rng.normal(size=(1, 2)).astype("f4"), rng.integers(0, 2, 1), rng.random(1))
        for _ in range(90)
    ]
    first = many([options])
    for row in rows[:30]:
        first.observe(*row, (0,))
    state = first.state()
    untouched = {name: array.copy() for name, array in state.items()}
    for row in rows[30:60]:
        first.observe(*row, (0,))
    for name, array in state.items():
        np.testing.assert_array_equal(array, untouched[name])
    second = many([options])
    second.restore(state)
    for row in rows[30:]:
        second.observe(*row, (0,))
    third = many([options])
    third.restore(state)  # what was restored from it has not changed it either
    for row in rows[30:60]:
        third.observe(*row, (0,))
    for row in rows[60:]:
        first.observe(*row, (0,))
        third.observe(*row, (0,))
    for name, array in first.state().items():
        np.testing.assert_array_equal(array, second.state()[name])
        np.testing.assert_array_equal(array, third.state()[name])


def test_the_classes_seen_are_part_of_the_state() -> None:
    contexts, restored = (
        Contexts(1, policy="fifo", budget=3, details=Details(entropy_over="seen")) for _ in range(2)
    )
    for label in (0, 1, 2, 3, 4, 0, 1, 0):
        contexts.observe(np.zeros((1, 1), "f4"), np.array([label]), np.zeros(1), (0,))
    restored.restore(contexts.state())
    proba = np.array([[0.5, 0.5]])
    assert contexts.score_of(0, proba)[0] == pytest.approx(np.log(2) / np.log(5))
    assert restored.score_of(0, proba) == contexts.score_of(0, proba)


def test_a_lane_that_is_left_out_does_not_change() -> None:
    options = {"policy": "cure", "budget": 4, "short_ratio": 0.5, "tau": 0.1}
    contexts = many([options, options])
    rng = np.random.default_rng(3)
    for t in range(20):
        before = {k: v for k, v in contexts.state().items() if k.endswith("_1")}
        contexts.observe(rng.normal(size=(1, 2)).astype("f4"), np.array([t % 2]), np.ones(1), [0])
        after = contexts.state()
        for name, array in before.items():
            np.testing.assert_array_equal(after[name], array)
        assert (contexts.arrival[1] == -1).all()


def test_lanes_keep_the_width_of_the_first_row() -> None:
    contexts = Contexts(2, budget=3)
    contexts.observe(np.zeros((1, 4), "f4"), np.zeros(1, int), np.zeros(1), [1])
    before = contexts.state()
    with pytest.raises(BadInput, match="rows of 3 features for contexts of 4"):
        contexts.observe(np.zeros((1, 3), "f4"), np.zeros(1, int), np.zeros(1), [0])
    for name, array in contexts.state().items():
        np.testing.assert_array_equal(array, before[name])


def test_options_for_another_number_of_lanes() -> None:
    with pytest.raises(BadOption, match="tau has 2 values for 3 lanes"):
        Contexts(3, tau=[0.1, 0.2])
