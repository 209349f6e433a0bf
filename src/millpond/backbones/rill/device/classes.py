"""The classes of each lane by their places: which columns are whose, how many, when last seen.

Who gives a class its place is the caller's business. A column keeps its last row's class until another
row takes it, as a shut column has no vote.
"""

from __future__ import annotations

import torch
from torch import Tensor

from millpond.backbones.rill.device.lanes import At

NONE = -1


class Classes:
    """Counts, last arrivals and the class of each column."""

    def __init__(self, lanes: int, columns: int, classes: int, device: torch.device) -> None:
        def made(*size: int, value: int = 0) -> Tensor:
            return torch.full(size, value, dtype=torch.int64, device=device)

        self.of_column = made(lanes, columns, value=NONE)  # place of the row's class
        self.code = made(lanes, classes)  # which of the network's codes
        self.count = made(lanes, classes)  # rows in the context
        self.last = made(lanes, classes)  # position of the last arrival
        self.places = torch.arange(classes, device=device)

    def learn(
        self, at: At, place: Tensor, added: Tensor, evicted: Tensor, position: Tensor
    ) -> None:
        """A row came into a column of lanes `at`; another left (column 0, the sink: none did)."""
        gone = self.of_column[at.index, evicted]
        count = at.of(self.count) - (gone[:, None] == self.places).long()
        own = place[:, None] == self.places
        at.put(self.count, count + own.long())
        at.put(self.last, torch.where(own, position[:, None], at.of(self.last)))
        self.of_column[at.index, added] = place

    def ballot(self, at: At) -> Tensor:
        """(n, columns, C) in float32: whose vote a column is."""
        return (at.of(self.of_column)[..., None] == self.places).float()

    def widen(self, classes: int) -> None:
        """Room for more classes."""
        more = classes - len(self.places)
        for name in ("code", "count", "last"):
            setattr(self, name, torch.nn.functional.pad(getattr(self, name), (0, more)))
        self.places = torch.arange(classes, device=self.places.device)

    def saved(self) -> dict[str, Tensor]:
        return {name: getattr(self, name) for name in ("of_column", "code", "count", "last")}
