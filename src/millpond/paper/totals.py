"""What all finished runs took together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from millpond.paper.record import Record


@dataclass(frozen=True)
class Totals:
    """Lanes of one run share its times: they count once."""

    units: int
    runs: int
    lane_rows: int
    """rows, times the lanes that stepped through them"""
    wall_seconds: float
    cpu_seconds: float
    devices: tuple[str, ...]


def totals(records: Iterable[Record]) -> Totals:
    there = [record for record in records if "seconds" in record.facts]  # run here, not `stored`
    runs = {record.unit.run(): record for record in there}.values()
    return Totals(
        units=len(there),
        runs=len(runs),
        lane_rows=sum(record.facts["rows"] for record in there),
        wall_seconds=float(sum(record.facts["seconds"]["wall"] for record in runs)),
        cpu_seconds=float(sum(record.facts["cpu_seconds"] for record in runs)),
        devices=tuple(sorted({str(record.facts["device"]) for record in there})),
    )
