"""The theory on the exact model: how far its assumptions hold, and what CURE's proxies choose there.

Everything is computed, nothing approximated, on contexts and streams drawn from the model's own prior.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from millpond import Context, Stream
from millpond.backbones.base import Prediction
from millpond.context import Contexts, Deltas
from millpond.evaluate.prequential import prequential
from millpond.evaluate.significance import rank_rows
from millpond.paper.book import Book, Setup
from millpond.paper.exact import Chain, Counts, Floats, entropy, wasserstein
from millpond.paper.published import POLICIES
from millpond.paper.sheet import Row, Sheet, number
from millpond.policies import Banks, Details, Policy, get_policy

PLACES = 10
NOISES = {
    "none": [0.0] * PLACES,
    "10%": [0.1] * PLACES,
    "2%, 40%": [0.02] * (PLACES // 2) + [0.4] * (PLACES // 2),
}
"""none, the same everywhere, and two per cent in the left half but forty in the right"""
DRAWS = 200  # contexts
ROWS = 10  # of a context
RADIUS = 1  # places on either side that count as a candidate's future region
BUDGET, LONG = 16, 8
STEPS, STREAMS, HORIZON = 400, 4, 10


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    chains = {name: Chain(noise) for name, noise in NOISES.items()}
    return [_assumptions(chains), _removal(chains), _policies(chains)]


# -- recency, the gain, the entropy bound --------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """A context, a candidate, and where the near future lies."""

    counts: Counts
    candidate: int
    recent: Floats
    future: Floats


def draw(chain: Chain, rng: np.random.Generator) -> Drawn:
    function = chain.draw(rng)
    rows = [(p, chain.label(function, p, rng)) for p in rng.integers(0, PLACES, ROWS).tolist()]
    centre = rng.uniform(0, PLACES - 1)
    window = np.bincount(
        around(centre - 1).cumsum().searchsorted(rng.random(ROWS)), minlength=PLACES
    )
    future = around(centre)
    candidate = int(rng.choice(PLACES, p=future))
    return Drawn(chain.counts(rows), candidate, window / ROWS, future)


def around(centre: float) -> Floats:
    """Places near a centre."""
    weight = np.exp(-0.5 * ((np.arange(PLACES) - centre) / 1.5) ** 2)
    return np.asarray(weight / weight.sum())


def measure(chain: Chain, drawn: Drawn) -> dict[str, float]:
    """Both sides of Lemma 1 and of Theorem 1, for one context and candidate."""
    counts, c, future = drawn.counts, drawn.candidate, drawn.future
    f = chain.usefulness(counts)
    steepest = max(abs(f[i] - f[j]) / (j - i) for i, j in itertools.combinations(range(PLACES), 2))
    h = entropy(chain.predictive(counts))
    shared = chain.shared(counts, c)
    near = np.where(np.abs(np.arange(PLACES) - c) <= RADIUS, future, 0.0)
    alpha = float(near.sum())
    delta = max(0.0, float(h[c] - near @ h / alpha))
    epsilon = float(near @ chain.left(counts, c) / alpha)
    return {
        "gap": abs(float(f @ (future - drawn.recent))),
        "lemma 1": float(steepest) * wasserstein(drawn.recent, future),
        "alpha": alpha,
        "delta": delta,
        "epsilon": epsilon,
        "entropy": float(h[c]),
        "local": float(near @ shared),
        "bound": alpha * (float(h[c]) - delta - epsilon),
        "gain": float(future @ shared),
    }


def measured(chain: Chain, draws: int = DRAWS) -> dict[str, Floats]:
    rng = np.random.default_rng(0)
    found = [measure(chain, draw(chain, rng)) for _ in range(draws)]
    return {name: np.array([each[name] for each in found]) for name in found[0]}


def _assumptions(chains: dict[str, Chain]) -> Sheet:
    rows = []
    for name, chain in chains.items():
        m = measured(chain)
        best = np.sort(m["gain"])[::-1][: DRAWS // 2].mean()
        chosen = m["gain"][np.argsort(-m["entropy"], kind="stable")[: DRAWS // 2]].mean()
        values = (
            fmean((m["gap"] / np.maximum(m["lemma 1"], 1e-12)).tolist()),
            m["alpha"].mean(),
            m["delta"].mean(),
            m["epsilon"].mean(),
            100 * (m["bound"] > 0).mean(),
            m["bound"].mean() / m["local"].mean(),
            correlation(m["entropy"], m["gain"]),
            100 * chosen / best,
            100 * m["gain"].mean() / best,
        )
        decimals = (2, 2, 2, 2, 0, 2, 2, 0, 0)
        rows.append(
            Row(name, tuple(number(float(v), d) for v, d in zip(values, decimals, strict=True)))
        )
    return Sheet(
        "theory",
        "Lemma 1 and Theorem 1 on the exact model",
        (
            "Label noise", "gap/ bound", "alpha", "delta", "epsilon", "bound > 0, %",
            "bound/ gain", "rank corr.", "top half, %", "any half, %",
        ),
        tuple(rows),
        (
            f"Means over {DRAWS} contexts of {ROWS} rows. gap/bound: how much of Lemma 1's bound "
            "|J - J_S| takes. alpha, delta, epsilon: Theorem 1's, the smallest that its assumptions "
            "allow, in nats; bound > 0: candidates for which it says anything; bound/gain: how much of "
            "the local gain it accounts for. No bound is violated (tested).",
            "rank corr.: of a candidate's entropy and its true gain. top half: gain of the most "
            "uncertain half of the candidates, as a share of the best half's; any half: of a random one.",
        ),
    )  # fmt: skip


def correlation(one: Floats, other: Floats) -> float:
    """Spearman's: of the ranks."""
    ranks = rank_rows(np.stack([one, other]))
    centred = ranks - ranks.mean(1, keepdims=True)
    spread = np.sqrt((centred**2).sum(1))
    return float((centred[0] * centred[1]).sum() / (spread[0] * spread[1]))


# -- redundancy ----------------------------------------------------------------------------------


def losses(chain: Chain, context: Context, future: Floats) -> dict[int, float]:
    """arrival number of each long row -> what its removal takes from J, for the labels seen."""
    X, y, arrivals = context.arrays()
    places = np.rint(X[:, 0]).astype(int).tolist()
    whole = chain.counts(zip(places, y.tolist(), strict=True))
    j = float(future @ chain.usefulness(whole))
    found = {}
    for place, label, arrival in zip(places, y.tolist(), arrivals.tolist(), strict=True):
        less = whole.copy()
        less[place, label] -= 1
        found[arrival] = j - float(future @ chain.usefulness(less))
    return {a: found[a] for a in context.arrivals("long").tolist()}


def eta(chain: Chain, draws: int = DRAWS) -> list[float]:
    """The largest loss of a row whose nearest row of the same class is 0, 1 or 2 places away."""
    rng = np.random.default_rng(1)
    worst = [0.0, 0.0, 0.0]
    for _ in range(draws):
        drawn = draw(chain, rng)
        whole = float(drawn.future @ chain.usefulness(drawn.counts))
        for place, label in np.argwhere(drawn.counts > 0).tolist():
            less = drawn.counts.copy()
            less[place, label] -= 1
            rest = np.flatnonzero(less[:, label] > 0)
            if len(rest) and (near := int(np.abs(rest - place).min())) < len(worst):
                loss = whole - float(drawn.future @ chain.usefulness(less))
                worst[near] = max(worst[near], loss)
    return worst


def removal(chain: Chain, draws: int = DRAWS) -> dict[str, float]:
    """The mean loss of the row that goes, in 1000ths of a nat, as each rule chooses it."""
    rng = np.random.default_rng(2)
    sums: dict[str, list[float]] = {"best": [], "CURE": [], "class-aware FIFO": [], "any": []}
    for _ in range(draws):
        function, centre = chain.draw(rng), rng.uniform(0, PLACES - 1)
        # Long rows from everywhere, short rows from where the stream is now.
        places = [
            *rng.integers(0, PLACES, LONG + 1).tolist(),
            *rng.choice(PLACES, BUDGET - LONG, p=around(centre)).tolist(),
        ]
        rows = [(p, chain.label(function, p, rng)) for p in places]
        # One row more than the budget: a context of that size holds what the policies choose from.
        whole = Context(
            "redundancy_only", budget=BUDGET + 1, short_ratio=(BUDGET - LONG) / (BUDGET + 1)
        )
        picks = {
            "CURE": Context("redundancy_only", budget=BUDGET, short_ratio=1 - LONG / BUDGET),
            "class-aware FIFO": Context("dual_fifo", budget=BUDGET, short_ratio=1 - LONG / BUDGET),
        }
        for place, label in rows:
            whole.observe([float(place)], label)
            gone = {name: c.observe([float(place)], label).evicted for name, c in picks.items()}
        loss = losses(chain, whole, around(centre))
        sums["best"].append(min(loss.values()))
        sums["any"].append(fmean(loss.values()))
        for name, evicted in gone.items():
            sums[name].append(loss[evicted[0]])
    return {name: 1000 * fmean(values) for name, values in sums.items()}


def _removal(chains: dict[str, Chain]) -> Sheet:
    rows = []
    for name, chain in chains.items():
        worst, mean = eta(chain), removal(chain)
        cells = [
            *(number(value, 3) for value in worst),
            *(number(mean[rule], 1) for rule in ("best", "CURE", "class-aware FIFO", "any")),
        ]
        rows.append(Row(name, tuple(cells)))
    return Sheet(
        "theory_removal",
        "Redundancy on the exact model",
        ("Label noise", "eta(0)", "eta(1)", "eta(2)", "best", "CURE's", "FIFO's", "any row"),
        tuple(rows),
        (
            "eta(r): the largest loss of J, in nats, of a row with one of its class r places away; the "
            "assumption wants it to vanish with r. Without noise a duplicate is worth nothing; with "
            "noise it is a second look, and eta(0) is not 0.",
            f"Right: mean loss in 1000ths of a nat when a long bank of {LONG + 1} gives up a row: the "
            "least possible, CURE's nearest pair, the oldest of the majority class, any row. Labels are "
            "those that were seen: taking away a misleading one gains, so that a loss may be negative.",
        ),
    )


# -- policies along a stream ---------------------------------------------------------------------


class ExactBackbone:
    """The model's own posterior as a backbone; it notes J_t after each row."""

    name = "exact"

    def __init__(self, chain: Chain, futures: Floats) -> None:
        self.chain, self.futures = chain, futures
        self.kept: list[list[float]] = []

    def open(self, contexts: Contexts) -> _ExactSession:
        self.kept = [[] for _ in range(contexts.lanes)]
        return _ExactSession(self, contexts)


class _ExactSession:
    def __init__(self, backbone: ExactBackbone, contexts: Contexts) -> None:
        self._backbone, self._contexts = backbone, contexts

    def _counts(self, lane: int) -> Counts:
        slots = self._contexts.slots_of(lane)
        return counts_of(
            self._backbone.chain, self._contexts.X[lane, slots], self._contexts.y[lane, slots]
        )

    def update(self, deltas: Deltas) -> None:
        for lane, arrival in zip(deltas.lanes.tolist(), deltas.added_arrival.tolist(), strict=True):
            useful = self._backbone.chain.usefulness(self._counts(lane))
            self._backbone.kept[lane].append(float(self._backbone.futures[arrival] @ useful))

    def predict(self, X: Any, lanes: Any) -> list[Prediction]:
        found = []
        for rows, lane in zip(X, lanes.tolist(), strict=True):
            one = self._backbone.chain.predictive(self._counts(lane))[
                np.rint(rows[:, 0]).astype(int)
            ]
            present = np.unique(self._contexts.y[lane, self._contexts.slots_of(lane)])
            both = np.stack([1 - one, one], axis=1)
            found.append(
                Prediction(
                    present, both if len(present) == 2 else np.ones((len(rows), len(present)))
                )
            )
        return found

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        pass


def counts_of(chain: Chain, X: Any, y: Any) -> Counts:
    places = np.rint(X[:, 0]).astype(int).tolist()
    return chain.counts(zip(places, y.tolist(), strict=True))


def ideal(chain: Chain, futures: Floats) -> Policy:
    """Admits all and removes the long row whose loss is least: what no policy can know."""
    seen = itertools.count(BUDGET)  # it first removes when row number BUDGET arrives

    def remove(banks: Banks, details: Details) -> int:
        future = futures[next(seen)]
        rows = np.concatenate([banks.long, banks.short])
        whole = counts_of(chain, banks.X[rows], banks.y[rows])
        kept = []
        for slot in banks.long.tolist():
            less = whole.copy()
            less[round(float(banks.X[slot, 0])), banks.y[slot]] -= 1
            kept.append(float(future @ chain.usefulness(less)))
        return int(np.argmax(kept))

    return Policy("ideal", get_policy("cure").score, False, remove)


def stream_of(chain: Chain, seed: int) -> tuple[Stream, Floats]:
    """Rows whose place wanders to and fro, and the distribution of the next `HORIZON` rows after each."""
    rng = np.random.default_rng([3, seed])
    turns = np.arange(STEPS + HORIZON) * 2 * np.pi / 160
    where = np.stack([around(c) for c in (PLACES - 1) / 2 * (1 + np.sin(turns))])
    function = chain.draw(rng)
    while not 0.2 <= function.mean() <= 0.8:  # one class alone leaves nothing to predict
        function = chain.draw(rng)
    places = [int(rng.choice(PLACES, p=p)) for p in where[:STEPS]]
    y = np.array([chain.label(function, place, rng) for place in places])
    futures = np.stack([where[t + 1 : t + 1 + HORIZON].mean(0) for t in range(STEPS)])
    stream = Stream("made", np.array(places, np.float32)[:, None], y, ("place",), (0, 1))
    return stream, futures


def along(
    chain: Chain, names: Sequence[str], streams: int = STREAMS
) -> dict[str, tuple[float, float]]:
    """policy -> its mean J_t after the first `BUDGET` rows, and its accuracy, over made streams."""
    useful: dict[str, list[float]] = {name: [] for name in [*names, "ideal"]}
    right: dict[str, list[float]] = {name: [] for name in useful}
    for seed in range(streams):
        stream, futures = stream_of(chain, seed)
        backbone = ExactBackbone(chain, futures)
        lanes = [*names, ideal(chain, futures)]
        results = prequential(
            stream,
            backbone=backbone,
            policy=lanes,
            budget=BUDGET,
            short_ratio=1 - LONG / BUDGET,
            tau=0.3,
            warmup=BUDGET,
        )
        for name, result, kept in zip(useful, results, backbone.kept, strict=True):
            useful[name].append(fmean(kept[BUDGET:]))
            right[name].append(result.accuracy)
    return {name: (fmean(useful[name]), fmean(right[name])) for name in useful}


def _policies(chains: dict[str, Chain]) -> Sheet:
    names = [*POLICIES, "fifo"]
    found = {name: along(chain, names) for name, chain in chains.items()}
    rows = []
    for policy in [*names, "ideal"]:
        label = {**POLICIES, "fifo": "FIFO", "ideal": "least loss"}[policy]
        cells = []
        for each in found.values():
            j, accuracy = each[policy]
            cells += [number(j, 3), number(100 * accuracy, 1)]
        rows.append(Row(label, tuple(cells)))
    head = [part for name in chains for part in (f"J, {name}", "acc.")]
    return Sheet(
        "theory_policies",
        "What the policies keep of J_t on streams of the exact model",
        ("Policy", *head),
        tuple(rows),
        (
            f"Mean over {STREAMS} streams of {STEPS} rows whose place wanders to and fro; B = {BUDGET}, "
            f"long bank {LONG}, horizon {HORIZON}, tau 0.3; J in nats, accuracy in percent. The last "
            "line admits everything and removes the row whose loss is least, row by row, knowing where "
            "the stream goes; it is greedy, not optimal.",
        ),
    )
