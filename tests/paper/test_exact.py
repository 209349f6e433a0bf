"""The paper's lemmas and theorem on a model in which everything can be computed exactly."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.paper.exact import Chain, entropy, wasserstein

M = 6
NOISES = {
    "none": [0.0] * M,
    "even": [0.1] * M,
    "uneven": [0.02] * 3 + [0.4] * 3,
}
CHAINS = {name: Chain(noise) for name, noise in NOISES.items()}
NOISY = st.sampled_from(["even", "uneven"])
PLACES = st.lists(st.integers(0, M - 1), max_size=4)
ROWS = st.lists(st.tuples(st.integers(0, M - 1), st.integers(0, 1)), max_size=6)
FUTURES = st.lists(st.integers(0, 9), min_size=M, max_size=M).filter(any)


def distribution(weights: list[int]) -> np.ndarray[Any, Any]:
    return np.array(weights) / sum(weights)


# ---- the model itself ----------------------------------------------------------------------------


@given(NOISY, ROWS)
def test_the_posterior_is_that_of_forward_and_backward_passes(
    name: str, rows: list[tuple[int, int]]
) -> None:
    """Two messages along a Markov chain give the same probabilities as the sum over all functions."""
    chain, counts = CHAINS[name], CHAINS[name].counts(rows)
    step = np.array([[0.85, 0.15], [0.15, 0.85]])
    evidence = np.ones((M, 2))
    for place, label in rows:
        for c in (0, 1):
            evidence[place, c] *= (1 - chain.noise[place]) if label == c else chain.noise[place]
    forward, backward = np.zeros((M, 2)), np.ones((M, 2))
    forward[0] = 0.5 * evidence[0]
    for x in range(1, M):
        forward[x] = (forward[x - 1] @ step) * evidence[x]
    for x in range(M - 2, -1, -1):
        backward[x] = step @ (evidence[x + 1] * backward[x + 1])
    classes = forward * backward
    classes = classes[:, 1] / classes.sum(1)
    expected = classes * (1 - chain.noise) + (1 - classes) * chain.noise
    np.testing.assert_allclose(chain.predictive(counts), expected, atol=1e-12)


def test_without_noise_a_seen_place_is_known() -> None:
    chain = CHAINS["none"]
    assert chain.predictive(chain.counts([(2, 1), (4, 0)]))[[2, 4]] == pytest.approx([1.0, 0.0])
    with pytest.raises(ValueError, match="contradict"):
        chain.predictive(chain.counts([(2, 1), (2, 0)]))


@given(FUTURES, FUTURES)
def test_the_distance_between_distributions_is_scipys(p: list[int], q: list[int]) -> None:
    stats = pytest.importorskip("scipy.stats")
    one, other = distribution(p), distribution(q)
    expected = stats.wasserstein_distance(range(M), range(M), one, other)
    assert wasserstein(one, other) == pytest.approx(expected, abs=1e-12)


@given(st.sampled_from([*CHAINS]), PLACES)
@settings(max_examples=40)
def test_information_is_that_of_the_joint_distribution(name: str, places: list[int]) -> None:
    """I(D; Y_x) from the table of all labels of D and of Y_x."""
    chain = CHAINS[name]
    prior = chain.posterior(chain.nothing())
    for x in (0, 3):
        joint = np.zeros((2,) * (len(places) + 1))
        for labels in itertools.product((0, 1), repeat=len(places) + 1):
            p = prior.copy()
            for place, label in zip([*places, x], labels, strict=True):
                one = chain.functions[:, place] * (1 - 2 * chain.noise[place]) + chain.noise[place]
                p *= one if label else 1 - one
            joint[labels] = p.sum()
        flat = joint.reshape(-1, 2)
        apart = flat.sum(1, keepdims=True) * flat.sum(0, keepdims=True)
        there = flat > 0
        expected = (flat[there] * np.log(flat[there] / apart[there])).sum()
        assert chain.information(places)[x] == pytest.approx(expected, abs=1e-10)


# ---- Lemma 1: the recent window ------------------------------------------------------------------


@given(st.sampled_from([*CHAINS]), PLACES, FUTURES, FUTURES)
@settings(max_examples=60)
def test_lemma_1_the_recent_window_bounds_the_future(
    name: str, places: list[int], recent: list[int], future: list[int]
) -> None:
    f = CHAINS[name].information(places)
    lipschitz = max(abs(f[i] - f[j]) / abs(i - j) for i, j in itertools.combinations(range(M), 2))
    window, after = distribution(recent), distribution(future)
    gap = abs(float(f @ after) - float(f @ window))
    assert gap <= lipschitz * wasserstein(window, after) + 1e-12


def test_lemma_1_is_tight_for_neighbouring_places() -> None:
    f = CHAINS["even"].information([0])
    steepest = int(np.abs(np.diff(f)).argmax())
    lipschitz = max(abs(f[i] - f[j]) / abs(i - j) for i, j in itertools.combinations(range(M), 2))
    window, after = np.eye(M)[[steepest, steepest + 1]]
    assert abs(float(f @ (after - window))) == pytest.approx(lipschitz)


# ---- Lemma 2: the marginal gain ------------------------------------------------------------------


@given(st.sampled_from([*CHAINS]), PLACES, st.integers(0, M - 1), FUTURES)
@settings(max_examples=40)
def test_lemma_2_the_gain_is_what_the_labels_share(
    name: str, places: list[int], candidate: int, future: list[int]
) -> None:
    """J(D + z) - J(D) equals E I(Y_c; Y_x' | D), the mean over D's labels of what is shared then."""
    chain, after = CHAINS[name], distribution(future)
    gain = chain.information([*places, candidate]) - chain.information(places)
    shared = np.zeros(M)
    for labels in itertools.product((0, 1), repeat=len(places)):
        chance, counts = chain._chance(places, labels)
        if chance > 0:
            shared += chance * chain.shared(counts, candidate)
    assert float(after @ gain) == pytest.approx(float(after @ shared), abs=1e-10)
    assert (shared >= -1e-12).all()


@given(NOISY, ROWS, st.integers(0, M - 1))
def test_lemma_2_for_labels_that_were_seen_holds_on_average_over_the_candidates_label(
    name: str, rows: list[tuple[int, int]], candidate: int
) -> None:
    chain = CHAINS[name]
    counts = chain.counts(rows)
    one = float(chain.predictive(counts)[candidate])
    after = sum(
        p * chain.usefulness(counts + chain.counts([(candidate, label)]))
        for label, p in ((0, 1 - one), (1, one))
    )
    np.testing.assert_allclose(
        after - chain.usefulness(counts), chain.shared(counts, candidate), atol=1e-10
    )


def test_a_label_that_was_seen_can_lower_the_usefulness() -> None:
    """One surprising label makes the model less sure: the identity holds on average only."""
    chain = CHAINS["even"]
    before = chain.counts([(2, 1), (2, 1), (3, 1), (3, 1)])
    after = before + chain.counts([(2, 0), (3, 0)])
    assert chain.usefulness(after)[2] < chain.usefulness(before)[2]


# ---- Theorem 1: the entropy bound ----------------------------------------------------------------


@given(
    st.sampled_from([*CHAINS]),
    PLACES,
    st.integers(0, M - 1),
    st.integers(0, 2),
    FUTURES,
    st.integers(0, 31),
)
def test_theorem_1_bounds_the_local_gain(
    name: str, places: list[int], candidate: int, radius: int, future: list[int], bits: int
) -> None:
    chain, after = CHAINS[name], distribution(future)
    rows = [(p, (bits >> p) & 1) for p in places]  # one label a place: never a contradiction
    counts = chain.counts(rows)
    near = np.abs(np.arange(M) - candidate) <= radius
    alpha = float(after[near].sum())
    if alpha == 0:
        return
    local = np.where(near, after, 0.0)
    h = float(entropy(chain.predictive(counts))[candidate])
    mean_h = float(local @ entropy(chain.predictive(counts))) / alpha
    epsilon = float(local @ chain.left(counts, candidate)) / alpha
    gain = float(local @ chain.shared(counts, candidate))
    assert gain >= alpha * (h - max(0.0, h - mean_h) - epsilon) - 1e-10
    # With the smallest delta that the assumption allows, signed, it is an equality.
    assert gain == pytest.approx(alpha * (h - (h - mean_h) - epsilon), abs=1e-10)


# ---- redundancy ----------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, M - 1), st.integers(0, 1)), max_size=5), st.integers(0, M - 1)
)
def test_without_noise_a_duplicate_is_worth_nothing(
    rows: list[tuple[int, int]], place: int
) -> None:
    """eta(0) = 0: the assumption of redundancy holds."""
    chain = CHAINS["none"]
    once = {p: label for p, label in rows if p != place} | {place: 1}
    counts = chain.counts(once.items())
    twice = counts + chain.counts([(place, 1)])
    np.testing.assert_allclose(chain.usefulness(twice), chain.usefulness(counts), atol=1e-12)


def test_with_noise_a_duplicate_is_a_second_look() -> None:
    """eta(0) > 0: the assumption fails, because a label seen twice is surer than one seen once."""
    chain = CHAINS["even"]
    once, twice = chain.counts([(2, 1)]), chain.counts([(2, 1), (2, 1)])
    assert (chain.usefulness(twice) - chain.usefulness(once))[2] > 0.05
