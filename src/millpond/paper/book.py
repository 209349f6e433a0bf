"""What tables read: the settings of a run of the paper, and the units that are finished."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from millpond.paper.published import SWEPT, selected_tau
from millpond.paper.record import Record
from millpond.paper.sheet import Cell, absent, percent
from millpond.paper.units import Unit, context

QUICK = 2500
"""Rows of each stream in a quick run: from row 1,000 on both banks are full, and policies differ."""
SIDE = ("noaa", "rialto", "agr_a")
"""The streams of the quick run's experiments beyond the paper."""


@dataclass(frozen=True)
class Setup:
    """What is asked for."""

    streams: tuple[str, ...]
    backbones: tuple[str, ...]
    """the first one is the main one: its tables are the paper's"""
    quick: bool = False
    data_dir: str | None = None

    @property
    def backbone(self) -> str:
        return self.backbones[0]

    @property
    def limit(self) -> int | None:
        return QUICK if self.quick else None

    def swept(self) -> list[str]:
        """The streams of the paper's ablation that are asked for."""
        return [name for name in self.streams if name in SWEPT]

    def side(self) -> list[str]:
        """Those of the experiments that the paper does not have."""
        return [name for name in self.swept() if name in SIDE or not self.quick]

    def unit(self, stream: str, policy: str, **settings: object) -> Unit:
        """A context unit with the paper's settings, but for those given."""
        chosen = {
            "backbone": self.backbone,
            "tau": selected_tau(stream),
            "limit": self.limit,
            **settings,
        }
        return context(stream, policy=policy, **chosen)  # type: ignore[arg-type]


@dataclass
class Book:
    """Finished units, and why others are not."""

    records: Mapping[Unit, Record]
    failures: dict[Unit, str] = field(default_factory=dict)

    def get(self, unit: Unit) -> Record | None:
        return self.records.get(unit)

    def why_not(self, unit: Unit) -> str:
        return self.failures.get(unit, "not run yet")

    def accuracy(self, unit: Unit) -> Cell:
        """In percent, or why it is not there."""
        record = self.records.get(unit)
        if record is None:
            return absent(self.why_not(unit))
        if record.accuracy is None:
            return absent("no row was scored")
        return percent(record.accuracy, prefix=record.prefix)

    def all(self, units: Iterable[Unit]) -> list[Record] | None:
        """Every one of them, or None."""
        found = [self.records.get(unit) for unit in units]
        there = [each for each in found if each is not None]
        return there if len(there) == len(found) else None
