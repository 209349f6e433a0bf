"""The bounded context: a FIFO short bank and a long bank of labelled rows, for one or many lanes.

A lane is one independent stream, policy, threshold or key. Rows lie in preallocated arrays and are
addressed by slot, so that a backbone can keep caches in step: `observe` says which slot was filled,
which row moved from the short bank to the long one, and which slot was freed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from millpond.checks import (
    check_budget,
    check_code,
    check_proba,
    check_ratio,
    check_row,
    check_tau,
    per_lane,
)
from millpond.errors import BadInput, BadOption, CheckpointError
from millpond.policies import Banks, Details, Policy, get_policy
from millpond.policies.auto_tau import AutoTau, read_rate
from millpond.policies.base import FloatArray, IntArray
from millpond.policies.moments import ClassMoments
from millpond.policies.scores import clip_probabilities
from millpond.state import State, named, under

Bank = Literal["short", "long", "all"]


@dataclass(frozen=True, slots=True)
class Delta:
    """What one `Context.observe` changed, in arrival numbers (0, 1, 2, ...)."""

    added: int
    promoted: tuple[int, ...]
    """Moved from the short to the long bank, also where it left the long bank in the same step."""
    evicted: tuple[int, ...]
    """Left the context: refused by the gate, or removed from the long bank."""


@dataclass(frozen=True, slots=True)
class Deltas:
    """What one `Contexts.observe` changed in n lanes, by slot and arrival number; -1 where nothing."""

    lanes: IntArray
    added: IntArray
    """(n,) slots now holding the new rows"""
    promoted: IntArray
    """(n,) slots whose rows moved from the short to the long bank"""
    evicted: IntArray
    """(n,) slots whose rows left the context; each is the next row's slot"""
    added_arrival: IntArray
    promoted_arrival: IntArray
    evicted_arrival: IntArray

    @classmethod
    def empty(cls, lanes: Sequence[int]) -> Deltas:
        blank = np.full((6, len(lanes)), -1, dtype=np.int64)
        return cls(np.asarray(lanes), *blank)


class Contexts:
    """The contexts of many lanes, updated in one call. `Context` is the one-lane form for users.

    ``policy``, ``budget``, ``short_ratio`` and ``tau`` may each be one value or a sequence of one per
    lane. Lanes of fewer features are padded with zeros by the caller: a constant column changes no
    decision. Rows are taken as they are; checking them is the caller's part.
    """

    def __init__(
        self,
        lanes: int,
        *,
        policy: str | Policy | Sequence[str | Policy] = "cure",
        budget: int | Sequence[int] = 1000,
        short_ratio: float | Sequence[float] = 0.75,
        tau: float | str | Sequence[float | str] = 0.3,
        details: Details | None = None,
    ) -> None:
        self.details = details or Details()
        self.banks = [
            _Banks(get_policy(p), check_budget(b), check_ratio(r), check_tau(t))
            for p, b, r, t in zip(
                per_lane(policy, lanes, "policy"),
                per_lane(budget, lanes, "budget"),
                per_lane(short_ratio, lanes, "short_ratio"),
                per_lane(tau, lanes, "tau"),
                strict=True,
            )
        ]
        self.lanes = lanes
        self.slots = (
            max(bank.budget for bank in self.banks) + 1
        )  # a row enters before another leaves
        self.X: NDArray[np.float32] = np.zeros((lanes, self.slots, 0), dtype=np.float32)
        self.y: IntArray = np.zeros((lanes, self.slots), dtype=np.int64)
        self.score: FloatArray = np.zeros((lanes, self.slots))
        self.arrival: IntArray = np.full((lanes, self.slots), -1, dtype=np.int64)
        """(lanes, slots) arrival numbers; -1 marks a free slot"""

    # -- reading ---------------------------------------------------------------------------------

    def sizes(self) -> tuple[IntArray, IntArray]:
        """(lanes,) rows in the short banks and in the long banks."""
        short = np.array([bank.n_short for bank in self.banks], dtype=np.int64)
        return short, np.array([bank.n_long for bank in self.banks], dtype=np.int64)

    def slots_of(self, lane: int, bank: Bank = "all") -> IntArray:
        """A bank's slots in order of arrival; every long row arrived before every short one."""
        banks = self.banks[lane]
        if bank == "short":
            return banks.short_slots()
        if bank == "long":
            return banks.long_slots().copy()
        return np.concatenate([banks.long_slots(), banks.short_slots()])

    # -- scoring and learning --------------------------------------------------------------------

    def score_of(self, lane: int, proba: FloatArray) -> FloatArray:
        """(k, C) probabilities over the C classes in the context -> (k,) scores to be stored with.

        A context of fewer than two classes leaves nothing to be unsure about: 0.
        """
        classes = proba.shape[-1]
        if classes < 2:
            return np.zeros(len(proba))
        banks = self.banks[lane]
        if self.details.entropy_over == "seen":
            classes = max(classes, len(banks.classes_seen))
        return banks.policy.score(clip_probabilities(proba), classes)

    def observe(
        self, X: NDArray[np.float32], y: IntArray, score: FloatArray, lanes: Sequence[int]
    ) -> Deltas:
        """Add one labelled row to each of n lanes: (n, d), (n,), (n,) -> what changed (Algorithm 1)."""
        if self.X.shape[2] != X.shape[1]:
            self._allocate_features(X.shape[1])
        deltas = Deltas.empty(lanes)
        for row, lane in enumerate(lanes):
            banks = self.banks[lane]
            deltas.added[row] = added = banks.take_slot()
            self.X[lane, added] = X[row]
            self.y[lane, added] = y[row]
            self.score[lane, added] = score[row]
            self.arrival[lane, added] = deltas.added_arrival[row] = banks.seen
            banks.enter_short(added)
            if banks.moments is not None:
                banks.moments.add(int(y[row]), X[row])
            if self.details.entropy_over == "seen":
                banks.classes_seen.add(int(y[row]))
            if banks.n_short > banks.short_budget:
                promoted, evicted = self._overflow(lane, banks)
                if promoted >= 0:
                    deltas.promoted[row] = promoted
                    deltas.promoted_arrival[row] = self.arrival[lane, promoted]
                if evicted >= 0:
                    deltas.evicted[row] = banks.freed = evicted
                    deltas.evicted_arrival[row] = self.arrival[lane, evicted]
                    self.arrival[lane, evicted] = -1
        return deltas

    def widen(self, features: int, lanes: Iterable[int] | None = None) -> None:
        """Make rows wider by columns on the right: missing in the rows of these lanes (by default of
        all), zeros, which change no decision, in the others."""
        before = self.X.shape[2]
        if features <= before:
            return
        X = np.zeros((self.lanes, self.slots, features), dtype=np.float32)
        X[:, :, :before] = self.X
        self.X = X
        later = set(range(self.lanes) if lanes is None else lanes)
        for lane, banks in enumerate(self.banks):
            if lane in later:
                X[lane, self.arrival[lane] >= 0, before:] = np.nan
            if banks.moments is not None:
                banks.moments.widen(features - before, np.nan if lane in later else 0.0)

    def _overflow(self, lane: int, banks: _Banks) -> tuple[int, int]:
        """The oldest short row becomes a candidate: (slot promoted or -1, slot evicted or -1)."""
        candidate = banks.leave_short()
        label = int(self.y[lane, candidate])
        if banks.moments is not None:
            banks.moments.leave_short(label, self.X[lane, candidate])
        filling = self.details.warm_fill and banks.n_long < banks.long_budget
        admitted = banks.admits(float(self.score[lane, candidate])) or filling
        if not banks.long_budget or not admitted:
            promoted, evicted = -1, candidate
        else:
            banks.enter_long(candidate, label)
            promoted, evicted = candidate, -1
            if banks.n_long > banks.long_budget:
                evicted = self._remove(lane, banks)
        if evicted >= 0 and banks.moments is not None:
            banks.moments.leave(int(self.y[lane, evicted]), self.X[lane, evicted])
        return promoted, evicted

    def _remove(self, lane: int, banks: _Banks) -> int:
        """Let the policy pick the long row that goes; its slot."""
        assert banks.policy.remove is not None  # who has no rule for it has no long bank
        view = Banks(
            X=self.X[lane],
            y=self.y[lane],
            long=banks.long_slots(),
            long_counts=banks.long_counts,
            short=banks.short_slots(),
            moments=banks.moments,
        )
        position = banks.policy.remove(view, self.details)
        return banks.leave_long(position, int(self.y[lane, view.long[position]]))

    def _allocate_features(self, features: int) -> None:
        if any(bank.seen for bank in self.banks):
            raise BadInput(
                f"rows of {features} features for contexts of {self.X.shape[2]}; "
                "widen(features) makes room for more"
            )
        self.X = np.zeros((self.lanes, self.slots, features), dtype=np.float32)

    # -- saving ----------------------------------------------------------------------------------

    def state(self) -> State:
        """Everything that decides the future, as arrays of its own."""
        state: State = {
            "X": self.X.copy(),
            "y": self.y.copy(),
            "score": self.score.copy(),
            "arrival": self.arrival.copy(),
        }
        for lane, banks in enumerate(self.banks):
            state |= banks.state(lane)
        return state

    def facts(self, lanes: Sequence[int] | None = None) -> State:
        """What the state means, whatever slots the rows are in: for fingerprints. Of some lanes, by
        their place among these, or of all."""
        facts: State = {}
        for place, lane in enumerate(range(self.lanes) if lanes is None else lanes):
            banks, slots = self.banks[lane], self.slots_of(lane)
            for name in ("X", "y", "score", "arrival"):
                facts[f"{name}_{place}"] = getattr(self, name)[lane, slots]
            counters = [banks.seen, banks.n_short, banks.n_long]
            facts[f"counters_{place}"] = np.array([*counters, *sorted(banks.classes_seen)])
            if banks.auto is not None:
                facts[f"auto_{place}"] = np.array(banks.auto.scores())
        return facts

    def restore(self, state: State) -> None:
        self._refuse_other_sizes(state)
        self.X, self.y = state["X"].copy(), state["y"].copy()
        self.score, self.arrival = state["score"].copy(), state["arrival"].copy()
        for lane, banks in enumerate(self.banks):
            banks.restore(state, lane, self.y[lane])

    def lane_state(self, lane: int) -> State:
        """One lane's part: the state that contexts of this lane alone would have."""
        state = {name: getattr(self, name)[lane : lane + 1].copy() for name in _BY_LANE}
        return state | self.banks[lane].state(0)

    def restore_lane(self, lane: int, state: State) -> None:
        """Put a lane's state in the place of another's; columns that its rows lack are missing."""
        features, width = state["X"].shape[2], self.X.shape[2]
        if features > width and not any(bank.seen for bank in self.banks):
            self._allocate_features(features)
        elif features > width:
            raise BadInput(f"rows of {features} features for contexts of {width}")
        for name in ("y", "score", "arrival"):
            getattr(self, name)[lane] = state[name][0]
        self.X[lane] = 0.0
        self.X[lane, :, :features] = state["X"][0]
        self.X[lane, self.arrival[lane] >= 0, features:] = np.nan
        banks = self.banks[lane]
        banks.restore(state, 0, self.y[lane])
        if banks.moments is not None and features < width:
            banks.moments.widen(width - features, np.nan)

    def _refuse_other_sizes(self, state: State) -> None:
        """A CheckpointError unless the arrays are such contexts' and every slot is one of theirs."""
        fits = state["X"].ndim == 3
        for name in _BY_LANE:
            own, saved = getattr(self, name), state[name]
            fits &= saved.dtype == own.dtype and saved.shape[:2] == own.shape[:2]
            fits &= name == "X" or saved.ndim == 2
        for lane, banks in enumerate(self.banks):
            short, long = state[f"short_{lane}"], state[f"long_{lane}"]
            fits &= short.ndim == long.ndim == 1 and short.dtype == long.dtype == np.int64
            fits &= len(short) <= banks.short_budget and len(long) <= banks.long_budget
            slots = set(short.tolist()) | set(long.tolist())
            fits &= len(slots) == len(short) + len(long) and slots <= set(range(self.slots))
        if not fits:
            raise CheckpointError("the saved contexts are not of these sizes, or not whole")


_BY_LANE = ("X", "y", "score", "arrival")


class _Banks:
    """One lane's slots: the short bank as a ring, the long bank as a list in order of arrival."""

    def __init__(self, policy: Policy, budget: int, short_ratio: float, tau: float | str) -> None:
        self.policy = policy
        self.budget = budget
        self.short_budget = budget
        if policy.remove is not None:
            self.short_budget = min(budget - 1, max(1, round(budget * short_ratio)))
        self.long_budget = budget - self.short_budget
        self.short_ratio = short_ratio
        self.threshold = tau
        # An ungated policy admits every candidate: its threshold lies below any score.
        self.tau = tau if policy.gated and not isinstance(tau, str) else -math.inf
        self.auto: AutoTau | None = None
        if policy.gated and isinstance(tau, str):
            self.auto = AutoTau(read_rate(tau))
        self.seen = 0
        self.admitted = 0  # candidates that entered the long bank so far
        self.classes_seen: set[int] = set()
        self.freed = -1  # the slot that the last eviction left, if any: the next row's
        # The ring is written twice, so that the bank is one slice wherever it starts.
        self._span = self.short_budget + 1
        self._ring = np.zeros(2 * self._span, dtype=np.int64)
        self._head = 0
        self.n_short = 0
        self._long = np.zeros(self.long_budget + 1, dtype=np.int64)
        self.n_long = 0
        self.long_counts: dict[int, int] = {}
        self.moments = ClassMoments() if policy.keeps_moments else None

    def short_slots(self) -> IntArray:
        return self._ring[self._head : self._head + self.n_short]

    def long_slots(self) -> IntArray:
        return self._long[: self.n_long]

    def take_slot(self) -> int:
        """A free slot. Every step frees at most one, so that the others were never used."""
        slot = self.freed if self.freed >= 0 else self.n_short + self.n_long
        self.freed = -1
        return slot

    def enter_short(self, slot: int) -> None:
        place = (self._head + self.n_short) % self._span
        self._ring[place] = self._ring[place + self._span] = slot
        self.n_short += 1
        self.seen += 1

    def leave_short(self) -> int:
        oldest = int(self._ring[self._head])
        self._head = (self._head + 1) % self._span
        self.n_short -= 1
        return oldest

    def admits(self, score: float) -> bool:
        return score >= self.tau if self.auto is None else self.auto.admits(score)

    def enter_long(self, slot: int, label: int) -> None:
        self._long[self.n_long] = slot
        self.n_long += 1
        self.admitted += 1
        self.long_counts[label] = self.long_counts.get(label, 0) + 1

    def leave_long(self, position: int, label: int) -> int:
        slot = int(self._long[position])
        self.long_counts[label] -= 1
        if not self.long_counts[label]:
            del self.long_counts[label]  # so that classes that are gone cost nothing
        self._long[position : self.n_long - 1] = self._long[position + 1 : self.n_long]
        self.n_long -= 1
        return slot

    def state(self, lane: int) -> State:
        """Under names that end in the lane's number."""
        counters = [self.seen, self.freed, self.admitted]
        state: State = {
            f"short_{lane}": self.short_slots().copy(),
            f"long_{lane}": self.long_slots().copy(),
            f"counters_{lane}": np.array(counters, dtype=np.int64),
        }
        if self.moments is not None:
            state |= named(f"moments_{lane}.", self.moments.state())
        if self.auto is not None:
            state[f"auto_{lane}"] = np.array(self.auto.scores())
        state[f"classes_seen_{lane}"] = np.array(sorted(self.classes_seen), dtype=np.int64)
        return state

    def restore(self, state: State, lane: int, y: IntArray) -> None:
        self.refill(state[f"short_{lane}"], state[f"long_{lane}"], y)
        self.seen, self.freed, self.admitted = map(int, state[f"counters_{lane}"])
        if self.moments is not None:
            self.moments.restore(under(f"moments_{lane}.", state))
        if self.auto is not None:
            self.auto = AutoTau(self.auto.rate, state[f"auto_{lane}"].tolist())
        self.classes_seen = set(map(int, state[f"classes_seen_{lane}"]))

    def refill(self, short: IntArray, long: IntArray, y: IntArray) -> None:
        self._head = self.n_short = self.n_long = 0
        self.long_counts.clear()
        for slot in short:
            self.enter_short(int(slot))
        for slot in long:
            self.enter_long(int(slot), int(y[slot]))


class Context:
    """A bounded context of labelled rows (section 4 of the paper): what a frozen model sees.

    Parameters
    ----------
    policy : name of a policy, or a `Policy` of your own
        ``fifo``, ``dual_fifo``, ``entropy_only``, ``redundancy_only``, ``cure``, ``cure_margin`` or
        ``cure_global_nn``.
    budget : int
        B, the number of rows kept; at least 2.
    short_ratio : float
        rho, the short bank's share: B_S = min(B - 1, max(1, round(B * rho))), B_L = B - B_S. A
        ``fifo`` context is one window of B whatever rho is.
    tau : float
        A candidate needs this score to enter a full long bank; in [0, 1]. ``"auto"`` admits a fixed
        share of the candidates, by the scores of past ones; ``"auto:0.2"`` says which share.
    entropy_over, standardise, ties, class_ties, warm_fill
        Details that the paper leaves open, see `millpond.policies.Details`; the defaults are what the
        authors' code does.

    Examples
    --------
    >>> context = Context(policy="cure", budget=4, short_ratio=0.5, tau=0.3)
    >>> for t in range(6):
    ...     delta = context.observe([t, t % 2], t % 2, proba=[0.5, 0.5])
    >>> delta
    Delta(added=5, promoted=(3,), evicted=(1,))
    >>> context.arrivals("long"), context.arrivals("short")
    (array([2, 3]), array([4, 5]))
    """

    def __init__(
        self,
        policy: str | Policy = "cure",
        budget: int = 1000,
        short_ratio: float = 0.75,
        tau: float | str = 0.3,
        **details: Any,
    ) -> None:
        self._contexts = Contexts(
            1,
            policy=policy,
            budget=budget,
            short_ratio=short_ratio,
            tau=tau,
            details=make_details(details),
        )

    def __len__(self) -> int:
        banks = self._contexts.banks[0]
        return banks.n_short + banks.n_long

    def observe(self, x: ArrayLike, y: int, proba: ArrayLike | None = None) -> Delta:
        """Add a labelled row, with the probabilities that were predicted for it.

        ``x`` is a 1-D row; NaN is a missing value, an infinity is an error. ``y`` is an integer code.
        ``proba`` holds the probabilities over the classes that were in the context (any length; they
        are clipped and renormalised), or None, which scores 0. Nothing changes when an error is raised.
        """
        contexts = self._contexts
        row = check_row(x, contexts.X.shape[2] if contexts.banks[0].seen else None)
        label = check_code(y)
        score = np.zeros(1) if proba is None else contexts.score_of(0, check_proba(proba)[None])
        deltas = contexts.observe(row[None], np.array([label]), score, (0,))
        promoted, evicted = int(deltas.promoted_arrival[0]), int(deltas.evicted_arrival[0])
        return Delta(
            added=int(deltas.added_arrival[0]),
            promoted=(promoted,) if promoted >= 0 else (),
            evicted=(evicted,) if evicted >= 0 else (),
        )

    def arrivals(self, bank: Bank = "all") -> IntArray:
        """The arrival numbers of a bank's rows, in order of arrival."""
        if bank not in ("short", "long", "all"):
            raise BadOption(f"bank must be 'short', 'long' or 'all', not {bank!r}")
        return np.asarray(self._contexts.arrival[0, self._contexts.slots_of(0, bank)])

    def arrays(self) -> tuple[NDArray[np.float32], IntArray, IntArray]:
        """X (n, d), y (n,) and arrival numbers (n,) of all rows, in order of arrival."""
        slots = self._contexts.slots_of(0)
        contexts = self._contexts
        return contexts.X[0, slots], contexts.y[0, slots], contexts.arrival[0, slots]


def make_details(options: dict[str, Any]) -> Details:
    """Details from keyword options; an unknown one is named."""
    unknown = set(options) - set(Details.__dataclass_fields__)
    if unknown:
        known = ", ".join(Details.__dataclass_fields__)
        raise BadOption(f"unknown option {sorted(unknown)[0]!r} for a context; known: {known}")
    return Details(**options)
