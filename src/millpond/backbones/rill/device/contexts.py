"""Contexts of many lanes on the device: a step of every policy as index arithmetic.

What `millpond.context.Contexts` does under the default details, with the same decisions: float64, one
tie rule. No branch depends on a value, so that a step of all lanes can be part of a CUDA graph.

Shapes: n lanes, N slots, L places of the longest long bank (and one more), F columns, C classes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from millpond.backbones.rill.device.nearest import closest_pairs, first, tie_limit
from millpond.context import Contexts
from millpond.policies.base import Details, Policy, Remove
from millpond.policies.class_fifo import remove_oldest_of_majority
from millpond.policies.nearest import EPSILON, remove_nearest_of_all, remove_nearest_of_majority
from millpond.policies.scores import FLOOR, entropy, margin

FREE, SHORT, LONG = 0, 1, 2
WINDOW, OLDEST, NEAREST, NEAREST_OF_ALL = range(4)
REMOVALS: dict[Remove | None, int] = {
    None: WINDOW,
    remove_oldest_of_majority: OLDEST,
    remove_nearest_of_majority: NEAREST,
    remove_nearest_of_all: NEAREST_OF_ALL,
}


def runs_on_device(contexts: Contexts) -> bool:
    """Whether all that the contexts ask for is written for the device: a policy of your own is not."""
    return contexts.details == Details() and all(
        banks.auto is None and _known(banks.policy) for banks in contexts.banks
    )


def _known(policy: Policy) -> bool:
    return policy.remove in REMOVALS and policy.score in (entropy, margin)


class DeviceContexts:
    """The banks of lanes that are set up as those of `contexts`, which hold no rows yet."""

    def __init__(
        self, contexts: Contexts, features: int, classes: int, device: torch.device
    ) -> None:
        banks, slots = contexts.banks, contexts.slots

        def of_lanes(values: list[float], dtype: torch.dtype) -> Tensor:
            return torch.tensor(values, dtype=dtype, device=device)

        def zeros(*size: int, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.zeros((len(banks), *size), dtype=dtype, device=device)

        whole, real = torch.int64, torch.float64
        self._short_budget = of_lanes([each.short_budget for each in banks], whole)
        self._long_budget = of_lanes([each.long_budget for each in banks], whole)
        self._tau = of_lanes([float(each.tau) for each in banks], real)
        rules = of_lanes([REMOVALS[each.policy.remove] for each in banks], whole)
        self._oldest, self._of_all = rules == OLDEST, (rules == NEAREST_OF_ALL)[:, None]
        self._margin = of_lanes([each.policy.score is margin for each in banks], torch.bool)
        self._lanes = torch.arange(len(banks), device=device)
        self._span = max(each.short_budget for each in banks) + 1
        self._places = torch.arange(max(each.long_budget for each in banks) + 1, device=device)
        self._classes = torch.arange(classes, device=device)

        self.X = zeros(slots, features, dtype=torch.float32)
        self.y, self.bank = zeros(slots), zeros(slots)
        self.score = zeros(slots, dtype=real)
        self.ring = zeros(self._span)  # the slot of arrival t, at t modulo the span
        self.long = zeros(len(self._places))  # slots in order of arrival
        self.long_counts = zeros(classes)
        self.seen, self.n_short, self.n_long = zeros(), zeros(), zeros()
        self.admitted = zeros()  # candidates that entered the long bank so far
        self.freed = zeros() - 1  # the slot that the last eviction left: the next row's

    def score_of(self, proba: Tensor, count: Tensor) -> Tensor:
        """(n, C) probabilities and rows of each class in the context -> (n,) uncertainty to keep."""
        here = count > 0
        classes = here.sum(1)
        clipped = proba.clamp(FLOOR, 1.0).masked_fill(~here, 0.0)
        p = clipped / clipped.sum(1, keepdim=True).clamp(min=FLOOR)
        h = -torch.special.xlogy(p, p).sum(1) / classes.clamp(min=2).double().log()
        top = p.topk(2).values if p.shape[1] > 1 else p.expand(-1, 2)
        score = torch.where(self._margin, 1.0 - (top[:, 0] - top[:, 1]), h.clamp(0.0, 1.0))
        return torch.where(classes < 2, 0.0, score)

    def observe(self, X: Tensor, y: Tensor, score: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """One labelled row for each lane, (n, F), (n,), (n,) -> slots added, evicted, promoted (-1)."""
        at = self._lanes
        added = torch.where(self.freed >= 0, self.freed, self.n_short + self.n_long)
        self.X[at, added], self.y[at, added], self.score[at, added] = X, y, score
        self.bank[at, added] = SHORT
        self.ring[at, self.seen % self._span] = added
        self.seen += 1
        self.n_short += 1

        # The oldest short row becomes a candidate.
        over = self.n_short > self._short_budget
        candidate = self.ring[at, (self.seen - self.n_short) % self._span]
        filling = self.n_long < self._long_budget
        passes = filling | (self.score[at, candidate] >= self._tau)
        admitted = over & passes & (self._long_budget > 0)
        bank = torch.where(admitted, LONG, torch.where(over, FREE, self.bank[at, candidate]))
        self.bank[at, candidate] = bank
        self.n_short -= over.long()
        self.long[at, self.n_long] = torch.where(admitted, candidate, self.long[at, self.n_long])
        self.long_counts[at, self.y[at, candidate]] += admitted.long()
        self.n_long += admitted.long()
        self.admitted += admitted.long()

        # A long bank with one row too many loses one.
        full = self.n_long > self._long_budget
        position = self._removed()
        gone = self.long[at, position]
        self.bank[at, gone] = torch.where(full, FREE, self.bank[at, gone])
        self.long_counts[at, self.y[at, gone]] -= full.long()
        behind = (self._places + (self._places >= position[:, None])).clamp(max=self._places[-1])
        self.long.copy_(torch.where(full[:, None], self.long.gather(1, behind), self.long))
        self.n_long -= full.long()
        refused = torch.where(over & ~admitted, candidate, -1)
        self.freed.copy_(torch.where(full, gone, refused))
        return added, self.freed.clone(), torch.where(admitted, candidate, -1)

    def _removed(self) -> Tensor:
        """(n,) the place in its long bank of the row that goes, where one is to go."""
        there = self._places < self.n_long[:, None]
        label = self.y.gather(1, self.long)  # (n, L)
        # The most represented class; of equally frequent ones the larger code.
        rank = self.long_counts * len(self._classes) + self._classes
        majority = rank.argmax(1)[:, None]
        own = there & ((label == majority) | self._of_all)
        oldest = first(own)
        if len(self._places) < 2:
            return oldest
        nearest = self._nearest(own, label, majority)
        alone = own.sum(1) < 2
        return torch.where(alone | self._oldest, oldest, nearest)

    def _nearest(self, own: Tensor, label: Tensor, majority: Tensor) -> Tensor:
        """(n,) the endpoint of the closest pair that is farther from its recent centroid."""
        long = (self.bank == LONG) & ((self.y == majority) | self._of_all)
        short = self.bank == SHORT
        of_class = self._recent(majority)[:, 0] > 0
        weight = (long | torch.where(self._of_all, short, of_class)).double()
        values = self.X.double()  # (n, N, F)
        present = ~values.isnan()
        values = torch.where(present, values, 0.0)
        mean, scale = _standard(values, present.double(), weight)
        phi = torch.where(present, (values - mean[:, None]) * scale[:, None], 0.0)
        rows = phi.take_along_dim(self.long[..., None], 1)  # (n, L, F)
        ends = torch.stack(closest_pairs(rows, own), 1)  # (n, 2)
        recent = self._recent(label.gather(1, ends))  # (n, 2, N)
        centroid = (recent @ phi) / (recent @ present.double()).clamp(min=1.0)
        away = rows.take_along_dim(ends[..., None], 1) - centroid
        far = away.square().sum(-1).sqrt()  # (n, 2)
        tied = far.amax(1) <= tie_limit(far.amin(1))
        return torch.where(tied | (far[:, 0] > far[:, 1]), ends[:, 0], ends[:, 1])

    def _recent(self, labels: Tensor) -> Tensor:
        """(n, k) classes -> (n, k, N) 1.0 at their short rows; at all short rows of absent classes."""
        short = (self.bank == SHORT)[:, None]
        own = short & (self.y[:, None] == labels[..., None])
        return torch.where(own.any(-1, keepdim=True), own, short).double()

    def saved(self) -> dict[str, Tensor]:
        """Every tensor that decides the future, by name."""
        return {name: getattr(self, name) for name in _SAVED}


def _standard(values: Tensor, present: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """(n, N, F) values, 0 where not present, of which some count -> mean and 1 / (std + 1e-6), (n, F)."""
    number = (weight[:, None] @ present)[:, 0].clamp(min=1.0)
    mean = (weight[:, None] @ values)[:, 0] / number
    centred = (values - mean[:, None]) * present
    rest = (weight[:, None] @ centred)[:, 0] / number  # the rounding of the mean
    variance = (weight[:, None] @ centred.square())[:, 0] / number - rest * rest
    return mean + rest, 1.0 / (variance.clamp(min=0.0).sqrt() + EPSILON)


_SAVED = (
    "X", "y", "bank", "score", "ring", "long", "long_counts", "seen", "n_short", "n_long",
    "admitted", "freed",
)  # fmt: skip
