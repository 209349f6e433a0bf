"""A Bayesian model small enough to be computed exactly: what the paper's theory is measured on.

Places 0 ... m-1 on a line. An unknown function gives each place a class, 0 or 1, and tends to give
neighbours the same one: of all 2^m functions the prior is a Markov chain that changes its class between
neighbours with a fixed probability. A label at a place is the function's class there, turned around with
the place's noise. Every posterior is a sum over all functions; nothing is approximated.

The paper writes I(D; Y_x') for a context D. Two readings of it are used here, and named:

- ``information(places)``: D's labels are random variables, as in the paper's proofs. Then J is a mutual
  information and the chain rule (Lemma 2) holds exactly.
- ``usefulness(counts)``: D's labels are the ones that were seen, as in a policy's context. Then it is
  the reduction of the entropy of Y_x', which over the labels' distribution averages to the first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
"""(m, 2) how many labels of each class a context holds at each place"""

NEVER = 1e-12
"""A probability below which something does not happen: rounding leaves such rests of zero."""


def entropy(p: Floats) -> Floats:
    """Of yes with probability p, in nats."""
    p = np.clip(p, 1e-300, 1.0)
    q = np.clip(1.0 - p, 1e-300, 1.0)
    return np.asarray(-(p * np.log(p) + q * np.log(q)))


def wasserstein(p: Floats, q: Floats) -> float:
    """W_1 of two distributions over the places, which lie one apart."""
    return float(np.abs(np.cumsum(p - q))[:-1].sum())


class Chain:
    """The model. ``noise`` (m,) below 1/2: how often a label at each place is turned around."""

    def __init__(self, noise: Sequence[float] | Floats, change: float = 0.15) -> None:
        self.noise = np.asarray(noise, dtype=np.float64)
        self.places = m = len(self.noise)
        codes = np.arange(2**m)
        self.functions = ((codes[:, None] >> np.arange(m)) & 1).astype(np.float64)  # (2^m, m)
        changes = np.abs(np.diff(self.functions, axis=1)).sum(1)
        self._log_prior = (
            np.log(0.5) + changes * np.log(change) + (m - 1 - changes) * np.log(1 - change)
        )
        # log P(label | class) where the two agree and where they differ. Without noise that is -inf,
        # which times 0 were NaN: -700 stands for it, whose exponential is 0 for all that matters.
        self._agree = np.log(1 - self.noise)
        self._differ = np.log(np.maximum(self.noise, np.exp(-700.0)))
        self._certain = self.noise == 0
        self.before = self.predictive(self.nothing())
        """(m,) P(Y_x = 1) before any label is seen"""

    def nothing(self) -> Counts:
        return np.zeros((self.places, 2), dtype=np.int64)

    def counts(self, rows: Iterable[tuple[int, int]]) -> Counts:
        """A context of (place, label) rows."""
        found = self.nothing()
        for place, label in rows:
            found[place, label] += 1
        return found

    # -- posteriors ------------------------------------------------------------------------------

    def posterior(self, counts: Counts) -> Floats:
        """(2^m,) the probability of each function, given the labels."""
        zero, one = counts[:, 0], counts[:, 1]
        if (self._certain & (zero > 0) & (one > 0)).any():
            raise ValueError(
                "two labels of one place contradict each other where there is no noise"
            )
        at_one = one * self._agree + zero * self._differ
        at_zero = zero * self._agree + one * self._differ
        log = self._log_prior + self.functions @ (at_one - at_zero) + at_zero.sum()
        weight = np.exp(log - log.max())
        return np.asarray(weight / weight.sum())

    def predictive(self, counts: Counts) -> Floats:
        """(m,) P(Y_x = 1 | D) of a new label at each place."""
        classes = np.clip(self.posterior(counts) @ self.functions, 0.0, 1.0)  # rounding
        return np.asarray(classes * (1 - self.noise) + (1 - classes) * self.noise)

    def draw(self, rng: np.random.Generator) -> Floats:
        """(m,) a function of the prior."""
        prior = np.exp(self._log_prior)
        return np.asarray(self.functions[rng.choice(len(prior), p=prior / prior.sum())])

    def label(self, function: Floats, place: int, rng: np.random.Generator) -> int:
        return int(function[place]) ^ int(rng.random() < self.noise[place])

    # -- how useful a context is -----------------------------------------------------------------

    def usefulness(self, counts: Counts) -> Floats:
        """(m,) H(Y_x) - H(Y_x | D = d), for the labels that were seen; may be negative."""
        return np.asarray(entropy(self.before) - entropy(self.predictive(counts)))

    def information(self, places: Sequence[int]) -> Floats:
        """(m,) I(D; Y_x) of labels yet unknown at these places: the mean usefulness over all of them."""
        total = np.zeros(self.places)
        for labels in itertools.product((0, 1), repeat=len(places)):
            chance, counts = self._chance(places, labels)
            if chance > 0:
                total += chance * self.usefulness(counts)
        return total

    def _chance(self, places: Sequence[int], labels: Sequence[int]) -> tuple[float, Counts]:
        """The probability of these labels, and the context they make."""
        chance, counts = 1.0, self.nothing()
        for place, label in zip(places, labels, strict=True):
            one = float(self.predictive(counts)[place])
            chance *= one if label else 1.0 - one
            if chance <= NEVER:
                return 0.0, counts
            counts[place, label] += 1
        return chance, counts

    def shared(self, counts: Counts, place: int) -> Floats:
        """(m,) I(Y_c; Y_x | D = d) of a candidate's label and a new label at each place x.

        From the joint distribution of the two labels, not from differences of usefulness.
        """
        weight = self.posterior(counts)
        own = self._given_class(weight, place)  # (2, 2^m): P(f, Y_c = y)
        p_own = own.sum(1)  # (2,)
        information = np.zeros(self.places)
        for x in range(self.places):
            one = self.functions[:, x] * (1 - 2 * self.noise[x]) + self.noise[x]
            for y_own, y in itertools.product((0, 1), repeat=2):
                likely = one if y else 1.0 - one
                both = float(own[y_own] @ likely)
                apart = float(p_own[y_own] * (weight @ likely))
                if both > NEVER:
                    information[x] += both * np.log(both / apart)
        return information

    def _given_class(self, weight: Floats, place: int) -> Floats:
        one = self.functions[:, place] * (1 - 2 * self.noise[place]) + self.noise[place]
        return np.stack([weight * (1.0 - one), weight * one])

    def left(self, counts: Counts, place: int) -> Floats:
        """(m,) H(Y_x | Y_c, D = d): what is left to know of each place once the candidate is known."""
        chance = float(self.predictive(counts)[place])
        total = np.zeros(self.places)
        for label, p in ((0, 1.0 - chance), (1, chance)):
            if p > NEVER:
                more = counts.copy()
                more[place, label] += 1
                total += p * entropy(self.predictive(more))
        return total
