"""The context's contract: banks, deltas, arrays, and errors that leave everything as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from millpond import Context
from millpond.errors import BadInput, BadOption, UnknownName
from oracle import POLICIES, BruteForceContext, compare_arrays, compare_step

every_policy = pytest.mark.parametrize("policy", POLICIES)

UNDECIDED = [0.5, 0.5]


def filled(policy: str = "cure", rows: int = 30, **options: Any) -> Context:
    """A context that has seen more than it holds."""
    context = Context(policy=policy, **{"budget": 10, "short_ratio": 0.5, "tau": 0.4} | options)
    rng = np.random.default_rng(0)
    for t in range(rows):
        context.observe(rng.normal(size=3), t % 3, proba=UNDECIDED if t % 2 else [0.9, 0.1])
    return context


def snapshot(context: Context) -> tuple[object, ...]:
    banks = [context.arrivals(bank).tolist() for bank in ("short", "long", "all")]
    X, y, arrivals = context.arrays()
    return len(context), banks, X.shape, X.tobytes(), y.tolist(), arrivals.tolist()


# ---- Banks and deltas ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "short_ratio", "short", "long"),
    [
        (1000, 0.75, 750, 250),
        (2, 0.5, 1, 1),
        (2, 0.95, 1, 1),
        (3, 0.5, 2, 1),
        (4, 0.9, 3, 1),  # the published sizes would be 4 and 1, more than the budget
        (4, 0.05, 1, 3),
        (10, 0.25, 2, 8),  # 2.5 and 3.5 round to even
        (10, 0.35, 4, 6),
        (60, 0.6, 36, 24),
        (100, 0.999, 99, 1),
    ],
)
def test_bank_sizes(budget: int, short_ratio: float, short: int, long: int) -> None:
    context = filled("dual_fifo", budget + 3, budget=budget, short_ratio=short_ratio)
    assert len(context.arrivals("short")) == short
    assert len(context.arrivals("long")) == long
    assert len(context) == budget


def test_the_defaults_are_the_papers() -> None:
    context, explicit = Context(), Context(policy="cure", budget=1000, short_ratio=0.75, tau=0.3)
    for t in range(1010):
        proba = [0.95, 0.05] if t % 2 else [0.94, 0.06]  # entropies 0.286 and 0.327
        for each in (context, explicit):
            each.observe([t, t % 7], t % 2, proba=proba)
    assert snapshot(context) == snapshot(explicit)
    assert len(context.arrivals("long")) == 250
    assert 251 not in context.arrivals("long")
    assert 252 in context.arrivals("long")


@every_policy
def test_a_delta_is_the_difference_between_the_banks(policy: str) -> None:
    context = Context(policy=policy, budget=12, short_ratio=0.4, tau=0.5)
    rng = np.random.default_rng(1)
    before: dict[str, set[int]] = {"short": set(), "long": set()}
    for t in range(80):
        delta = context.observe(rng.normal(size=2), t % 2, proba=rng.dirichlet([1, 1, 1]))
        after = {bank: set(context.arrivals(bank).tolist()) for bank in ("short", "long")}
        gone = (before["short"] | before["long"]) - after["short"] - after["long"]
        came = after["long"] - before["long"]
        assert delta.added == t
        assert set(delta.evicted) == gone
        assert came <= set(delta.promoted) <= came | gone
        assert set(delta.promoted) <= before["short"]
        assert {type(n) for n in (delta.added, *delta.promoted, *delta.evicted)} == {int}
        before = after


@every_policy
def test_the_short_bank_is_the_latest_rows(policy: str) -> None:
    """The paper's recency: every row stays for at least the short bank's length."""
    context = filled(policy, 57)
    short, long = context.arrivals("short").tolist(), context.arrivals("long").tolist()
    size = 10 if policy == "fifo" else 5
    assert short == list(range(57 - size, 57))
    assert long == sorted(long)
    assert len(long) == 10 - size
    assert context.arrivals("all").tolist() == long + short


def test_fifo_is_one_window_and_never_promotes() -> None:
    context = Context(policy="fifo", budget=4, short_ratio=0.5)
    deltas = [context.observe([float(t)], 0, proba=UNDECIDED) for t in range(10)]
    assert [delta.promoted for delta in deltas] == [()] * 10
    assert [delta.evicted for delta in deltas] == [()] * 4 + [(t,) for t in range(6)]
    assert context.arrivals("long").tolist() == []


def test_a_row_can_be_promoted_and_evicted_in_one_step() -> None:
    context = Context(policy="redundancy_only", budget=2, short_ratio=0.5)
    rows = [(0.0, 1), (0.0, 2), (0.0, 3)]
    deltas = [context.observe([x], y) for x, y in rows]
    assert (deltas[2].promoted, deltas[2].evicted) == ((1,), (1,))


# ---- Arrays --------------------------------------------------------------------------------------


def test_an_empty_context() -> None:
    context = Context()
    assert len(context) == 0
    assert [len(context.arrivals(bank)) for bank in ("short", "long", "all")] == [0, 0, 0]
    assert [len(array) for array in context.arrays()] == [0, 0, 0]


def test_arrays_are_the_rows_in_order_of_arrival() -> None:
    context = Context(policy="cure", budget=6, short_ratio=0.5, tau=0.0)
    rng = np.random.default_rng(2)
    seen = rng.normal(size=(40, 3)) * [1, 1e-7, 1e9]
    codes = rng.choice([-(10**15), 0, 3, 10**12], 40)
    for x, code in zip(seen, codes, strict=True):
        context.observe(x, int(code), proba=UNDECIDED)
    X, y, arrivals = context.arrays()
    np.testing.assert_array_equal(arrivals, context.arrivals("all"))
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, seen[arrivals].astype(np.float32))
    np.testing.assert_array_equal(y, codes[arrivals])


def test_nothing_outside_is_shared_with_the_context() -> None:
    context, untouched = (Context(policy="cure", budget=6, short_ratio=0.5) for _ in range(2))
    rng = np.random.default_rng(3)
    for t in range(40):
        x, proba = rng.normal(size=3).astype(np.float32), rng.dirichlet([1.0, 1.0])
        untouched.observe(x.copy(), t % 2, proba=proba.copy())
        context.observe(x, t % 2, proba=proba)
        for array in (x, proba, *context.arrays(), context.arrivals("short")):
            array[...] = 0
        for bank in ("long", "all"):
            context.arrivals(bank)[...] = 0
    assert snapshot(context) == snapshot(untouched)


@pytest.mark.parametrize("code", [-(2**63), -1, 0, 10**12, 2**63 - 1, np.int8(-3), np.uint16(7)])
def test_a_label_may_be_any_64_bit_integer(code: int) -> None:
    context = Context(budget=4, short_ratio=0.5)
    for _ in range(6):
        context.observe([1.0], code)
    assert context.arrays()[1].tolist() == [int(code)] * 4


def test_no_limit_on_the_number_of_classes() -> None:
    context = Context(policy="cure", budget=50, short_ratio=0.5, tau=0.0)
    for t in range(200):
        context.observe([float(t)], t * 10**9, proba=[1 / 60] * 60)
    assert len(set(context.arrays()[1].tolist())) == 50


def test_features_are_float32_and_missing_values_stay_missing() -> None:
    context = Context(budget=4)
    context.observe([1 / 3, np.nan, 3e38, 1], 0)
    expected = np.array([[1 / 3, np.nan, 3e38, 1]], dtype=np.float32)
    np.testing.assert_array_equal(context.arrays()[0], expected, strict=True)


# ---- Errors --------------------------------------------------------------------------------------

BAD_ROWS = {
    "infinity": [0.0, np.inf, 0.0],
    "negative infinity": [0.0, 0.0, -np.inf],
    "infinite as float32": [1e39, 0.0, 0.0],
    "too short": [0.0, 1.0],
    "too long": [0.0, 1.0, 2.0, 3.0],
    "empty": [],
    "a scalar": 1.0,
    "two dimensions": [[0.0, 1.0, 2.0]],
    "a column": [[0.0], [1.0], [2.0]],
    "ragged": [[0.0], [1.0, 2.0], 3.0],
    "words": ["a", "b", "c"],
    "nothing": None,
    "too large for any float": [10**400, 0, 0],
}
BAD_LABELS = {
    "a fraction": 1.5,
    "missing": float("nan"),
    "none": None,
    "a word": "one",
    "a list": [1],
    "more than 64 bits": 2**63,
}
BAD_PROBAS = {
    "missing": [np.nan, 0.5],
    "infinity": [np.inf, 0.5],
    "negative": [1.1, -0.1],
    "empty": [],
    "zeros": [0.0, 0.0],
    "a scalar": 0.5,
    "two dimensions": [[0.5, 0.5]],
    "words": ["a", "b"],
    "too large for any float": [10**400, 1],
}
GOOD_ROW: list[float] = [0.0, 1.0, 2.0]

BAD_CALLS = {
    **{f"row: {why}": (x, 0, UNDECIDED) for why, x in BAD_ROWS.items()},
    **{f"label: {why}": (GOOD_ROW, y, UNDECIDED) for why, y in BAD_LABELS.items()},
    **{f"proba: {why}": (GOOD_ROW, 0, proba) for why, proba in BAD_PROBAS.items()},
}


@pytest.mark.parametrize("why", BAD_CALLS)
@pytest.mark.parametrize("policy", ["fifo", "cure"])
def test_bad_input_changes_nothing(policy: str, why: str) -> None:
    x, y, proba = BAD_CALLS[why]
    context, untouched = filled(policy), filled(policy)
    before = snapshot(context)
    with pytest.raises(BadInput):
        context.observe(x, y, proba=proba)
    assert snapshot(context) == before
    for each in (context, untouched):
        assert each.observe(GOOD_ROW, 1, proba=UNDECIDED).added == 30
    assert snapshot(context) == snapshot(untouched)


# Without a row before it, a row of two or four features is as good as any.
BAD_FIRST_CALLS = sorted(BAD_CALLS.keys() - {"row: too short", "row: too long"})


@pytest.mark.parametrize("why", BAD_FIRST_CALLS)
def test_a_bad_first_row_does_not_set_the_width(why: str) -> None:
    x, y, proba = BAD_CALLS[why]
    context = Context()
    with pytest.raises(BadInput):
        context.observe(x, y, proba=proba)
    assert len(context) == 0
    assert context.observe([1.0, 2.0, 3.0, 4.0, 5.0], 0).added == 0
    assert context.arrays()[0].shape == (1, 5)


@pytest.mark.parametrize(
    "options",
    [
        {"budget": 1},
        {"budget": 0},
        {"budget": -5},
        {"budget": 10.0},
        {"budget": "10"},
        {"budget": None},
        {"short_ratio": 0.0},
        {"short_ratio": 1.0},
        {"short_ratio": -0.5},
        {"short_ratio": 1.5},
        {"short_ratio": float("nan")},
        {"short_ratio": "0.5"},
        {"tau": -0.01},
        {"tau": 1.01},
        {"tau": float("nan")},
        {"tau": float("inf")},
        {"tau": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("policy", ["fifo", "cure"])
def test_bad_options(policy: str, options: dict[str, Any]) -> None:
    """Also where the policy does not use them: an option that is wrong is never silently taken."""
    with pytest.raises(BadOption, match=next(iter(options))):
        Context(policy=policy, **options)


@pytest.mark.parametrize("options", [{"tau": 0}, {"tau": 1}, {"budget": np.int64(2)}], ids=str)
def test_options_at_their_bounds(options: dict[str, Any]) -> None:
    assert len(filled(**options)) <= 10


@pytest.mark.parametrize(
    ("name", "near"), [("cuer", "cure"), ("CURE", "cure"), ("dual-fifo", "dual_fifo")]
)
def test_an_unknown_policy_names_the_near_ones(name: str, near: str) -> None:
    with pytest.raises(UnknownName, match=f"did you mean.*{near}"):
        Context(policy=name)


def test_an_unknown_policy_far_from_all_lists_them() -> None:
    with pytest.raises(UnknownName) as error:
        Context(policy="xyzzy")
    assert all(policy in str(error.value) for policy in POLICIES)


# ---- Any sequence of good and bad rows -----------------------------------------------------------

# No score can equal one of these but by rounding, which is not what is tested.
taus = st.sampled_from([0.0, 0.27182, 0.57721, 0.91597])
values = st.one_of(
    st.integers(0, 2).map(float),
    st.sampled_from([float("nan"), 10_000.0, 10_000.001, 1e20, -1e-20]),
    st.floats(-4, 4, width=32),
)
codes = st.sampled_from([0, 1, 2, 10**12, -7])
probas = st.none() | st.lists(st.integers(1, 9).map(lambda n: n / 9), min_size=1, max_size=5)


class Streams(RuleBasedStateMachine):
    """Rows of any kind, errors among them: the library and the oracle stay equal."""

    @initialize(
        policy=st.sampled_from(POLICIES),
        budget=st.integers(2, 12),
        short_ratio=st.sampled_from([0.05, 0.3, 0.5, 0.75, 0.95]),
        tau=taus,
        width=st.integers(1, 3),
    )
    def begin(self, policy: str, budget: int, short_ratio: float, tau: float, width: int) -> None:
        self.context = Context(policy=policy, budget=budget, short_ratio=short_ratio, tau=tau)
        self.oracle = BruteForceContext(policy, budget, short_ratio, tau)
        self.budget = budget
        self.width = width

    def take(self, x: list[float], y: int, proba: list[float] | None) -> None:
        row = np.array(x)
        delta = self.context.observe(row, y, proba=proba)
        compare_step(delta, self.context, self.oracle.observe(row, y, proba), self.oracle)

    @rule(data=st.data(), y=codes, proba=probas)
    def observe(self, data: st.DataObject, y: int, proba: list[float] | None) -> None:
        x = data.draw(st.lists(values, min_size=self.width, max_size=self.width))
        self.take(x, y, proba)

    @rule(seed=st.integers(0, 999), rows=st.integers(1, 15), levels=st.integers(1, 4))
    def observe_many(self, seed: int, rows: int, levels: int) -> None:
        """A stretch of a coarse grid: enough rows to fill the banks, and ties among them."""
        rng = np.random.default_rng(seed)
        for _ in range(rows):
            x = rng.integers(0, levels, self.width).astype(float)
            proba = rng.dirichlet(np.ones(rng.integers(1, 4))).tolist()
            self.take(x.tolist(), int(rng.integers(0, 3)), proba)

    @rule(data=st.data())
    def observe_again(self, data: st.DataObject) -> None:
        """A duplicate of a row that is still held."""
        X, y, _ = self.context.arrays()
        if len(X):
            k = data.draw(st.integers(0, len(X) - 1))
            self.take(X[k].tolist(), int(y[k]), UNDECIDED)

    @rule(why=st.sampled_from(sorted(BAD_CALLS)))
    def observe_bad(self, why: str) -> None:
        x, y, proba = BAD_CALLS[why]
        if why in ("row: too short", "row: too long"):
            if not len(self.context):
                return
            x = [0.0] * (self.width - 1 if why == "row: too short" else self.width + 1)
        elif x is GOOD_ROW:
            x = [0.0] * self.width
        before = snapshot(self.context)
        with pytest.raises(BadInput):
            self.context.observe(x, y, proba=proba)
        assert snapshot(self.context) == before

    @invariant()
    def rows_are_equal(self) -> None:
        if len(self.context):
            compare_arrays(self.context, self.oracle)

    @invariant()
    def budget_holds(self) -> None:
        assert len(self.context) <= self.budget


Streams.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestStreams = Streams.TestCase
