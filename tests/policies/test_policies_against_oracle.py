"""Every policy against the brute-force reading of the paper: equal after each step."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray

from millpond import Context
from oracle import POLICIES, BruteForceContext, Step, follow

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]
Stream = tuple[Rows, Labels]

every_policy = pytest.mark.parametrize("policy", POLICIES)


def labels(rng: Generator, n: int, classes: int = 3) -> Labels:
    return rng.integers(0, classes, n)


def probabilities(rng: Generator, n: int) -> list[NDArray[np.float64] | None]:
    """As a run sees them: none at first, then vectors of any length, sharp and flat."""
    drawn: list[NDArray[np.float64] | None] = [None] * min(n, 5)
    while len(drawn) < n:
        classes = int(rng.integers(1, 7))
        p = rng.dirichlet(np.full(classes, rng.choice([0.1, 1.0, 10.0])))
        drawn.append(None if rng.random() < 0.05 else p)
    return drawn


def steps(X: NDArray[np.floating], y: Labels, seed: int = 0) -> list[Step]:
    proba = probabilities(np.random.default_rng(seed), len(X))
    return [(x, int(label), p) for x, label, p in zip(X, y, proba, strict=True)]


def check(
    policy: str, stream: list[Step], budget: int = 20, rho: float = 0.6, tau: float = 0.5
) -> Context:
    context = Context(policy=policy, budget=budget, short_ratio=rho, tau=tau)
    follow(context, BruteForceContext(policy, budget, rho, tau), stream)
    return context


# ---- Made streams, one difficulty each -----------------------------------------------------------


def gaussian(rng: Generator, n: int) -> Stream:
    return rng.normal(size=(n, 4)) * [1, 3, 0.2, 10], labels(rng, n)


def grid(rng: Generator, n: int) -> Stream:
    """Ties of distance everywhere, and every row many times."""
    return rng.integers(0, 3, (n, 3)).astype(float), labels(rng, n)


def lattice(rng: Generator, n: int) -> Stream:
    """Many ties of distance, but few duplicates: the first tied pair is not a duplicate."""
    return np.stack([rng.permutation(n) * 1.0, np.arange(n) % 7 * 2.0], axis=1), labels(rng, n, 2)


def binary(rng: Generator, n: int) -> Stream:
    return (rng.random((n, 6)) < 0.3).astype(float), labels(rng, n, 2)


def identical(rng: Generator, n: int) -> Stream:
    return np.full((n, 3), 0.1), labels(rng, n)


def one_class(rng: Generator, n: int) -> Stream:
    return rng.normal(size=(n, 3)), np.zeros(n, np.int64)


def late_classes(rng: Generator, n: int) -> Stream:
    """A new code every 30 rows, larger and smaller than those before, while the first ones fade."""
    codes = np.array([4, 9, -3, 10**12, 0, 7, -(10**15), 5])
    newest = np.arange(n) // 30
    return rng.normal(size=(n, 3)), codes[(newest - rng.geometric(0.6, n) + 1) % len(codes)]


def one_row_a_class(rng: Generator, n: int) -> Stream:
    """Each class once: the majority class of the long bank has a single member."""
    return rng.normal(size=(n, 2)), rng.permutation(n) * 1000 - 5


def imbalance(rng: Generator, n: int) -> Stream:
    return rng.normal(size=(n, 3)), (rng.random(n) < 0.04).astype(np.int64)


def class_leaves(rng: Generator, n: int) -> Stream:
    """The long bank's majority class is absent from the short bank for long, and comes back."""
    return rng.normal(size=(n, 3)), np.arange(n) // 50 % 3


def near_duplicates(rng: Generator, n: int) -> Stream:
    """Rows that differ by one unit in the last place of a float32, far from the origin."""
    centres = (1e4 + rng.normal(size=(6, 3))).astype(np.float32)
    X = centres[rng.integers(0, 6, n)]
    return np.where(rng.random(X.shape) < 0.3, np.nextafter(X, np.float32(2e4)), X), labels(rng, n)


def tiny_distances(rng: Generator, n: int) -> Stream:
    """Clusters a millionth wide: a Gram matrix would see noise."""
    centres = np.concatenate([np.zeros((1, 3)), rng.normal(size=(3, 3)) * 100])
    return centres[rng.integers(0, 4, n)] + 1e-7 * rng.normal(size=(n, 3)), labels(rng, n, 2)


def near_ties(rng: Generator, n: int) -> Stream:
    """Pairs whose distances part in the eighth digit: too near for float32, too far for a tie."""
    t = np.arange(n)
    place = np.where(t % 2 == 0, 2.0**24, rng.integers(1, 40, n) / 8)
    place[t % 10 == 0] = 2.0**34  # against this spread the pairs are narrow
    return np.stack([place, t // 2 * 1.0], axis=1), np.zeros(n, np.int64)


def simplex(rng: Generator, n: int) -> Stream:
    """All rows equally far from each other, but for the seventh digit: every pair is a candidate."""
    return np.eye(n) * (1 + 1e-6 * rng.random((n, 1))), np.zeros(n, np.int64)


def at_the_floor_of_the_deviation(rng: Generator, n: int) -> Stream:
    """Deviations of about the 1e-6 that is added to them, beside a column far from the origin."""
    return rng.normal([0, 0, 0, 1e4], [3e-7, 1e-6, 1e-5, 1], (n, 4)), labels(rng, n, 2)


def constant_columns(rng: Generator, n: int) -> Stream:
    """Columns without spread at large offsets, of which one moves later on."""
    X = np.tile([1e6, 16777215.0, 0.0, -3.3e30, 0.1], (n, 1))
    X[:, 2] = rng.normal(size=n)
    X[n // 2 :, 0] += rng.integers(0, 3, n - n // 2)
    return X, labels(rng, n)


def mixed_scales(rng: Generator, n: int) -> Stream:
    return rng.normal(size=(n, 9)) * 10.0 ** np.linspace(-20, 20, 9), labels(rng, n)


def heavy_tails(rng: Generator, n: int) -> Stream:
    """Every magnitude of a float32 in one column: an outlier's leaving must leave no trace."""
    X = rng.normal(size=(n, 3))
    X[rng.random(n) < 0.1, 0] *= 1e20
    X[rng.random(n) < 0.05, 1] = 3e38
    X[rng.random(n) < 0.05, 2] *= 1e-30
    return X, labels(rng, n, 2)


def one_outlier(rng: Generator, n: int) -> Stream:
    X = rng.normal(size=(n, 3))
    X[n // 4] = [1e20, -1e12, 3e38]
    return X, labels(rng, n, 2)


def drift(rng: Generator, n: int) -> Stream:
    """A fine structure that wanders far from where it began."""
    path = np.cumsum(rng.normal([0, 300, -1000], 1, (n, 3)), axis=0)
    return path + rng.integers(0, 2, (n, 3)) * 0.125, labels(rng, n, 2)


def drift_on_a_grid(rng: Generator, n: int) -> Stream:
    """The same with ties everywhere: quarters are exact in float32 up to four million."""
    path = np.cumsum(rng.integers(-3, 4, (n, 3)) * [1, 100, 1000], axis=0)
    return path + rng.integers(0, 3, (n, 3)) / 4, labels(rng, n, 2)


def decimals(rng: Generator, n: int) -> Stream:
    """Tenths: 0.3 - 0.2 and 0.2 - 0.1 part in the eighth digit in float32, and are no tie."""
    return rng.integers(0, 10, (n, 2)) / 10, labels(rng, n, 2)


def missing_values(rng: Generator, n: int) -> Stream:
    X = rng.normal(size=(n, 4))
    X[rng.random(X.shape) < 0.25] = np.nan
    return X, labels(rng, n)


def missing_rows_and_columns(rng: Generator, n: int) -> Stream:
    """Rows without a value, columns with none or hardly any, one that a class lacks."""
    X = rng.normal([0, 0, 0, 1e5, 0], 1, (n, 5))
    y = labels(rng, n)
    X[:, 1] = np.nan
    X[np.arange(n) % 40 != 7, 2] = np.nan
    X[y == 1, 3] = np.nan
    X[rng.random(n) < 0.3] = np.nan
    return X, y


def missing_from_recent_rows(rng: Generator, n: int) -> Stream:
    """A column that goes silent: the long bank still knows it, the recent centroid does not."""
    X = rng.normal(size=(n, 3))
    X[np.arange(n) // 40 % 2 == 1, 0] = np.nan
    return X, labels(rng, n, 2)


def missing_on_a_grid(rng: Generator, n: int) -> Stream:
    X = rng.integers(0, 2, (n, 3)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    return X, labels(rng, n, 2)


def missing_among_near_duplicates(rng: Generator, n: int) -> Stream:
    X, y = near_duplicates(rng, n)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


def beyond_float32(rng: Generator, n: int) -> Stream:
    """Different in float64, equal once stored."""
    return 1.0 + 1e-12 * rng.normal(size=(n, 2)) + rng.integers(0, 3, (n, 2)), labels(rng, n)


def one_feature(rng: Generator, n: int) -> Stream:
    return rng.normal(size=(n, 1)), labels(rng, n, 2)


def many_features(rng: Generator, n: int) -> Stream:
    return rng.normal(size=(n, 96)), labels(rng, n, 2)


MADE: tuple[Callable[[Generator, int], Stream], ...] = (
    gaussian,
    grid,
    lattice,
    binary,
    identical,
    one_class,
    late_classes,
    one_row_a_class,
    imbalance,
    class_leaves,
    near_duplicates,
    tiny_distances,
    near_ties,
    simplex,
    at_the_floor_of_the_deviation,
    constant_columns,
    mixed_scales,
    heavy_tails,
    one_outlier,
    drift,
    drift_on_a_grid,
    decimals,
    missing_values,
    missing_rows_and_columns,
    missing_from_recent_rows,
    missing_on_a_grid,
    missing_among_near_duplicates,
    beyond_float32,
    one_feature,
    many_features,
)


@every_policy
@pytest.mark.parametrize("made", MADE, ids=lambda made: made.__name__)
def test_made_streams(policy: str, made: Callable[[Generator, int], Stream]) -> None:
    rng = np.random.default_rng(MADE.index(made))
    for budget, rho, tau in [(9, 0.4, 0.3), (60, 0.3, 0.5), (24, 0.6, 0.9)]:
        check(policy, steps(*made(rng, 120)), budget, rho, tau)


@every_policy
@pytest.mark.parametrize("rho", [0.05, 0.3, 0.75, 0.95])
@pytest.mark.parametrize("budget", [2, 3, 4, 5, 16, 120])
def test_bank_sizes(policy: str, budget: int, rho: float) -> None:
    rng = np.random.default_rng(budget)
    check(policy, steps(*gaussian(rng, budget + 30), seed=1), budget, rho, tau=0.4)
    check(policy, steps(*grid(rng, budget + 30), seed=2), budget, rho, tau=0.4)


@every_policy
@pytest.mark.parametrize(("rho", "rows"), [(0.05, 1020), (0.75, 1150), (0.95, 1150)])
def test_a_thousand_rows(policy: str, rho: float, rows: int) -> None:
    rng = np.random.default_rng(3)
    check(policy, steps(*gaussian(rng, rows)), 1000, rho, tau=0.3)
    check(policy, steps(*grid(rng, rows)), 1000, rho, tau=0.3)


@pytest.mark.parametrize(
    "made",
    [
        grid,
        class_leaves,
        near_duplicates,
        constant_columns,
        heavy_tails,
        one_outlier,
        drift,
        drift_on_a_grid,
        decimals,
        missing_values,
    ],
    ids=lambda made: made.__name__,
)
@pytest.mark.parametrize("policy", ["redundancy_only", "cure"])
def test_nothing_accumulates(policy: str, made: Callable[[Generator, int], Stream]) -> None:
    """After a thousand steps a decision is as exact as the first."""
    rng = np.random.default_rng(16)
    check(policy, steps(*made(rng, 1000)), budget=30, rho=0.5, tau=0.5)


@pytest.mark.parametrize("policy", ["cure", "cure_margin", "cure_global_nn"])
def test_a_spike_that_the_gate_refused_leaves_no_trace(policy: str) -> None:
    """Binary columns of equal counts have equal deviations: rounding left behind breaks their ties."""
    rng = np.random.default_rng(17)
    n, d = 600, 12
    X = (
        rng.random((n, d)) < 0.5
    ) * 0.1  # beside a spike's square, that of a small integer is exact
    spikes = np.arange(n) % 30 == 29
    X[spikes] *= 10 ** rng.uniform(2.5, 4.5, (spikes.sum(), d))
    stream: list[Step] = [
        (x, 0, [1.0, 0.0] if spike else [0.5, 0.5]) for x, spike in zip(X, spikes, strict=True)
    ]
    context = check(policy, stream, budget=29, rho=0.4, tau=0.5)
    assert not spikes[context.arrivals("long")].any()


# ---- Decisions worked out by hand: the oracle and the library must both take them ----------------


def worked(policy: str, rows: list[tuple[float, int]], budget: int, rho: float) -> list[int]:
    """What (value, label) rows leave in the long bank; each is as uncertain as can be."""
    stream: list[Step] = [(np.array([value]), label, np.array([0.5, 0.5])) for value, label in rows]
    return check(policy, stream, budget, rho, tau=1.0).arrivals("long").tolist()


# B_S = 2 and B_L = 3 in all of them: the sixth row brings the first removal, among rows 0 to 3.


@pytest.mark.parametrize("policy", ["redundancy_only", "cure", "cure_margin", "cure_global_nn"])
def test_the_endpoint_farther_from_the_recent_centroid_goes(policy: str) -> None:
    assert worked(policy, [(0, 0), (5, 0), (6, 0), (20, 0), (9, 0), (9, 0)], 5, 0.4) == [0, 2, 3]
    assert worked(policy, [(0, 0), (5, 0), (6, 0), (20, 0), (1, 0), (1, 0)], 5, 0.4) == [0, 1, 3]


@pytest.mark.parametrize("policy", ["redundancy_only", "cure", "cure_margin", "cure_global_nn"])
def test_ties_take_the_first_pair_and_its_older_endpoint(policy: str) -> None:
    # Pairs (0, 3) and (1, 2) are tied; both endpoints of (0, 3) are as far from the centroid, 4.5.
    assert worked(policy, [(4, 0), (8, 0), (9, 0), (5, 0), (4, 0), (5, 0)], 5, 0.4) == [1, 2, 3]


@pytest.mark.parametrize("policy", ["redundancy_only", "cure", "cure_margin"])
def test_the_majority_class_alone_loses_a_row(policy: str) -> None:
    # Rows 1 and 2 are duplicates, but of two classes; of class 0, rows 0 and 3 are the nearest.
    rows = [(0.0, 0), (7.0, 1), (7.0, 0), (3.0, 0), (1.0, 0), (9.0, 0)]
    assert worked(policy, rows, 5, 0.4) == [1, 2, 3]


def test_global_nn_looks_at_pairs_of_any_labels() -> None:
    # Rows 1 (class 1) and 2 (class 0) are both at 7; each is compared with its own class.
    rows = [(0.0, 0), (7.0, 1), (7.0, 0), (3.0, 0), (1.0, 0), (8.0, 1)]
    assert worked("cure_global_nn", rows, 5, 0.4) == [0, 1, 3]
    rows = [(0.0, 0), (7.0, 1), (7.0, 0), (3.0, 0), (8.0, 0), (1.0, 1)]
    assert worked("cure_global_nn", rows, 5, 0.4) == [0, 2, 3]


@pytest.mark.parametrize("policy", ["redundancy_only", "cure", "cure_margin"])
def test_class_ties_go_to_the_larger_code(policy: str) -> None:
    rows = [(0.0, 10**12), (1.0, 10**12), (7.0, -4), (7.0, -4), (0.0, 10**12), (0.0, 10**12)]
    assert worked(policy, rows, 5, 0.4) == [0, 2, 3]


@pytest.mark.parametrize("policy", ["redundancy_only", "cure", "cure_margin"])
def test_a_class_absent_from_the_short_bank_is_compared_with_all_of_it(policy: str) -> None:
    rows = [(0.0, 0), (5.0, 0), (6.0, 0), (20.0, 0), (9.0, 1), (9.0, 2)]
    assert worked(policy, rows, 5, 0.4) == [0, 2, 3]


@pytest.mark.parametrize("policy", ["redundancy_only", "cure", "cure_margin"])
def test_a_majority_class_of_one_loses_its_row(policy: str) -> None:
    assert worked(policy, [(0, 5), (0, 8), (0, 6), (0, 7), (0, 1), (0, 1)], 5, 0.4) == [0, 2, 3]


@pytest.mark.parametrize("policy", ["dual_fifo", "entropy_only"])
def test_class_fifo_drops_the_oldest_of_the_majority_class(policy: str) -> None:
    assert worked(policy, [(0, 0), (7, 1), (7, 1), (3, 1), (9, 0), (9, 0)], 5, 0.4) == [0, 2, 3]
    assert worked(policy, [(0, 0), (7, 1), (7, 1), (3, 0), (9, 0), (9, 0)], 5, 0.4) == [0, 2, 3]


# ---- Scores --------------------------------------------------------------------------------------

SHARP = [0.97, 0.01, 0.01, 0.01]
TOP_TWO = [0.5, 0.5 - 3e-3, 1e-3, 1e-3, 1e-3]  # undecided by margin, not so by entropy
FLAT = [0.4, 0.15, 0.15, 0.15, 0.15]  # undecided by entropy, not so by margin


@pytest.mark.parametrize(
    ("policy", "proba", "tau", "admitted"),
    [
        ("cure", [0.5, 0.5], 1.0, True),  # >=, not >
        ("cure", SHARP, 0.5, False),
        ("cure", TOP_TWO, 0.8, False),
        ("cure", FLAT, 0.8, True),
        ("cure", [0.9, 0.1], 0.46, True),  # H = 0.469 over the two classes in the context
        ("cure", [0.9, 0.1], 0.48, False),
        ("cure", [0.9, 0.1, 0.0, 0.0], 0.24, False),  # H = 0.2345 over four
        ("cure", [0.9, 0.1, 0.0, 0.0], 0.23, True),
        ("cure", [1.0], 0.01, False),
        ("cure", [0.3], 0.01, False),
        ("cure", [1.0], 0.0, True),
        ("cure", None, 0.01, False),
        ("cure", None, 0.0, True),
        ("cure", [0.2, 0.2], 1.0, True),  # renormalised
        ("cure", [1.0000001, 1e-9], 0.01, False),
        ("cure", [3.0, 1.0], 1.0, True),  # clipped first
        ("cure_margin", [0.5, 0.5], 1.0, True),
        ("cure_margin", [0.75, 0.25], 0.5, True),
        ("cure_margin", [0.25, 0.75], 0.51, False),
        ("cure_margin", TOP_TWO, 0.8, True),
        ("cure_margin", FLAT, 0.8, False),
        ("cure_margin", [0.1, 0.1, 0.3], 0.61, False),  # 1 - (0.6 - 0.2), renormalised
        ("cure_margin", [0.1, 0.1, 0.3], 0.59, True),
        ("cure_margin", [1.0], 0.01, False),
        ("cure_margin", None, 0.01, False),
        ("cure_margin", None, 0.0, True),
        ("entropy_only", [0.5, 0.5], 1.0, True),
        ("entropy_only", SHARP, 0.5, False),
        ("cure_global_nn", FLAT, 0.8, True),
        ("cure_global_nn", TOP_TWO, 0.8, False),
        ("redundancy_only", None, 1.0, True),
        ("dual_fifo", None, 1.0, True),
    ],
)
def test_admission(policy: str, proba: list[float] | None, tau: float, admitted: bool) -> None:
    """Rows enter with a score and are judged by it later, when they overflow the short bank."""
    stream: list[Step] = [(np.array([float(i)]), 0, None) for i in range(5)]
    stream += [(np.array([5.0]), 0, proba), (np.array([6.0]), 0, [0.5, 0.5])]
    context = Context(policy=policy, budget=5, short_ratio=0.4, tau=tau)
    oracle = BruteForceContext(policy, 5, 0.4, tau)
    follow(context, oracle, stream)
    last = (np.array([7.0]), 0, [0.5, 0.5])
    oracle.observe(*last)
    delta = context.observe(last[0], last[1], proba=last[2])
    assert delta.promoted == ((5,) if admitted else ())
    assert admitted or delta.evicted == (5,)


@every_policy
@pytest.mark.parametrize("tau", [0.0, 0.2, 0.7, 1.0])
def test_thresholds(policy: str, tau: float) -> None:
    rng = np.random.default_rng(11)
    check(policy, steps(*gaussian(rng, 200)), 20, 0.5, tau)


# ---- Relations between runs ----------------------------------------------------------------------


def decisions(policy: str, stream: list[Step], tau: float = 0.5) -> list[tuple[object, ...]]:
    context = Context(policy=policy, budget=24, short_ratio=0.5, tau=tau)
    deltas = [context.observe(x, y, proba=p) for x, y, p in stream]
    return [(delta.added, delta.promoted, delta.evicted) for delta in deltas]


@pytest.mark.parametrize(
    ("gated", "ungated"),
    [
        ("cure", "redundancy_only"),
        ("cure_margin", "redundancy_only"),
        ("entropy_only", "dual_fifo"),
    ],
)
def test_a_threshold_of_zero_admits_everything(gated: str, ungated: str) -> None:
    stream = steps(*gaussian(np.random.default_rng(5), 300))
    assert decisions(gated, stream, tau=0.0) == decisions(ungated, stream, tau=0.7)
    assert decisions(gated, stream, tau=0.7) != decisions(ungated, stream, tau=0.7)


def test_margin_and_entropy_order_two_classes_alike_but_threshold_differently() -> None:
    X, y = gaussian(np.random.default_rng(6), 300)
    two = np.random.default_rng(7).dirichlet([1, 1], 300)
    stream: list[Step] = [(x, int(label), p) for x, label, p in zip(X, y, two, strict=True)]
    p = 0.2  # where the two scores of (p, 1 - p) serve as thresholds, the admitted are the same
    entropy = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    assert decisions("cure", stream, tau=entropy) == decisions("cure_margin", stream, tau=2 * p)
    assert decisions("cure", stream, tau=0.5) != decisions("cure_margin", stream, tau=0.5)


@every_policy
def test_the_order_of_columns_does_not_matter(policy: str) -> None:
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(300, 7)), labels(rng, 300)
    turned = X[:, rng.permutation(7)]
    assert decisions(policy, steps(X, y)) == decisions(policy, steps(turned, y))


@every_policy
def test_the_scale_of_columns_does_not_matter(policy: str) -> None:
    rng = np.random.default_rng(9)
    X, y = 2.0**20 * rng.normal(size=(300, 4)), labels(rng, 300)
    scaled = X * [2.0**3, 2.0**30, 2.0, 2.0**50]
    assert decisions(policy, steps(X, y)) == decisions(policy, steps(scaled, y))


@every_policy
def test_an_offset_does_not_matter(policy: str) -> None:
    """Quarters around 0 and around a million are exact in float32, so ties stay ties."""
    rng = np.random.default_rng(10)
    X, y = rng.integers(0, 9, (300, 3)) / 4, labels(rng, 300)
    offset = np.array([2.0**20, -(2.0**21), 7.0])
    assert decisions(policy, steps(X, y)) == decisions(policy, steps(X + offset, y))


@every_policy
def test_codes_matter_by_their_order_alone(policy: str) -> None:
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(300, 3)), labels(rng, 300, 5)
    codes = np.array([-(10**17), -1, 0, 3, 10**12])
    assert decisions(policy, steps(X, y)) == decisions(policy, steps(X, codes[y]))


@pytest.mark.parametrize("policy", ["fifo", "dual_fifo", "entropy_only"])
def test_policies_without_distances_do_not_look_at_features(policy: str) -> None:
    rng = np.random.default_rng(13)
    X, y = rng.normal(size=(300, 3)), labels(rng, 300)
    assert decisions(policy, steps(X, y)) == decisions(policy, steps(X[::-1], y))


def test_the_policies_differ() -> None:
    """A comparison that two policies share would prove nothing of either."""
    stream = steps(*gaussian(np.random.default_rng(14), 300))
    taken = [decisions(policy, stream) for policy in POLICIES]
    assert all(a != b for i, a in enumerate(taken) for b in taken[:i])


# ---- POKER: ties, duplicates, ten classes of very different size ---------------------------------


@cache
def read_poker(path: Path) -> list[Step]:
    """The first 20,000 rows with made probabilities; no class is predicted before it is seen."""
    with lzma.open(path, "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.float32, max_rows=20_000)
    X, y = table[:, :-1], table[:, -1].astype(np.int64)
    first = np.sort(np.unique(y, return_index=True)[1])
    rng = np.random.default_rng(15)
    proba: list[NDArray[np.float64] | None] = [None] * 100
    for classes, (start, stop) in enumerate(pairwise([*first, len(X)]), start=1):
        proba += list(rng.dirichlet(np.ones(classes), max(0, stop - max(start, 100))))
    return [(x, int(label), p) for x, label, p in zip(X, y, proba, strict=True)]


@pytest.fixture
def poker(data_dir: Path) -> list[Step]:
    path = data_dir / "POKER.csv.xz"
    if not path.exists():
        pytest.skip(f"{path.name} is not in the data folder")
    stream = read_poker(path)
    assert len(stream) == 20_000
    return stream


@every_policy
def test_poker(policy: str, poker: list[Step]) -> None:
    check(policy, poker, budget=60, rho=0.6, tau=0.85)


@pytest.mark.long
@every_policy
def test_poker_at_the_papers_budget(policy: str, poker: list[Step]) -> None:
    check(policy, poker, budget=1000, rho=0.75, tau=0.85)
