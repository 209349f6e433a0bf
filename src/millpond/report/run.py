"""A run's `result.json` read once: typed, numbers that are not finite as None, gaps filled.

Everything in this package draws from `Run`; only this file knows the layout of the dict.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Label-only rules: what labels alone achieve, no feature seen.
FLOOR_NAMES = {
    "nochange": "no-change",
    "majority": "majority",
    "successor": "successor",
    "period": "best period",
}
WHY_NAMES = {"warmup": "warm-up", "one_class": "one class in the context"}


@dataclass(frozen=True)
class Floor:
    """A label-only rule and its accuracy."""

    name: str
    accuracy: float


@dataclass(frozen=True)
class Bin:
    """One bin of the reliability diagram; an empty one has no `confidence` and `accuracy`."""

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True)
class Trajectory:
    """What was recorded along the stream: lists of one length, those not recorded empty."""

    row: list[int]
    accuracy: list[float | None]
    window: list[float | None]
    short: list[int]
    long: list[int]
    long_by_class: list[list[int]]  # points x classes
    admitted: list[int]
    evicted: list[int]


@dataclass(frozen=True)
class Run:
    """One run, as the report and the summary need it."""

    stream: Mapping[str, Any]
    learner: Mapping[str, Any]
    protocol: Mapping[str, Any]
    versions: Mapping[str, Any]
    machine: Mapping[str, Any]
    rows: int
    scored: int
    unscored: int
    unscored_why: dict[str, int]
    resumed_from: int | None
    sha256: str
    steps: int
    seconds: dict[str, float]
    accuracy: float | None
    cumulative: dict[str, float | None]
    windowed: dict[str, float | None]
    floors: list[Floor]  # best first
    trajectory: Trajectory
    confusion: list[list[int]]
    reliability: list[Bin]
    classes: list[str]

    @property
    def stream_name(self) -> str:
        return str(self.stream.get("label") or self.stream.get("name") or "stream")

    @property
    def learner_name(self) -> str:
        return str(self.learner.get("name") or "learner")

    @property
    def warmup(self) -> int:
        return _whole(self.protocol.get("warmup"))

    @property
    def window(self) -> int:
        return _whole(self.protocol.get("window"))

    @property
    def floor(self) -> Floor | None:
        """The best label-only rule: what an accuracy has to be read beside."""
        return self.floors[0] if self.floors else None

    @property
    def duration(self) -> float | None:
        """Seconds of the whole run by the clock, or else of the learner's parts alone."""
        return self.seconds.get("wall", self.seconds.get("total"))

    @property
    def rows_per_second(self) -> float | None:
        return self.rows / self.duration if self.duration else None

    def per_step(self, part: str) -> float | None:
        """Seconds a step for fit, predict, evict or total (the paper's runtime table)."""
        seconds = self.seconds.get(part)
        return seconds / self.steps if seconds is not None and self.steps else None


def read(result: Mapping[str, Any]) -> Run:
    """The run that a `result.json` tells of."""
    metrics = result.get("metrics") or {}
    cumulative = _numbers(metrics.get("cumulative"))
    scored = _whole(result.get("scored"))
    stream = result.get("stream") or {}
    confusion = [[_whole(n) for n in row] for row in _list(result.get("confusion"))]
    trajectory = _trajectory(result.get("trajectory") or {})
    columns = max([len(confusion), *map(len, trajectory.long_by_class)])
    names = [str(name) for name in _list(stream.get("classes"))]
    return Run(
        stream=stream,
        learner=result.get("learner") or {},
        protocol=result.get("protocol") or {},
        versions=result.get("versions") or {},
        machine=result.get("machine") or {},
        rows=_whole(result.get("rows")),
        scored=scored,
        unscored=_whole(result.get("unscored")),
        unscored_why={
            WHY_NAMES.get(why, str(why).replace("_", " ")): _whole(n)
            for why, n in (result.get("unscored_why") or {}).items()
            if _whole(n)
        },
        resumed_from=None if result.get("resumed_from") is None else _whole(result["resumed_from"]),
        sha256=str(result.get("predictions_sha256") or ""),
        steps=_whole(result.get("steps")),
        seconds={k: v for k, v in _numbers(result.get("seconds")).items() if v is not None},
        accuracy=number(result.get("accuracy")) if scored else None,
        cumulative=cumulative,
        windowed=_numbers(metrics.get("windowed")),
        floors=_floors(result.get("floors") or {}),
        trajectory=trajectory,
        confusion=confusion,
        reliability=[_bin(b) for b in _list(result.get("reliability"))],
        classes=names + [f"class {code}" for code in range(len(names), columns)],
    )


def number(value: object) -> float | None:
    """A finite float, or None for null, NaN, infinity and what is no number."""
    if isinstance(value, numbers.Real) and math.isfinite(value):
        return float(value)
    return None


def _whole(value: object) -> int:
    return int(number(value) or 0)


def _list(values: Iterable[Any] | None) -> list[Any]:
    return [] if values is None else list(values)


def _numbers(values: Mapping[str, Any] | None) -> dict[str, float | None]:
    return {key: number(value) for key, value in (values or {}).items()}


def _floors(values: Mapping[str, Any]) -> list[Floor]:
    known = [(FLOOR_NAMES.get(key, key), number(value)) for key, value in values.items()]
    floors = [Floor(name, accuracy) for name, accuracy in known if accuracy is not None]
    return sorted(floors, key=lambda floor: -floor.accuracy)


def _bin(values: Mapping[str, Any]) -> Bin:
    return Bin(
        low=number(values.get("low")) or 0.0,
        high=number(values.get("high")) or 0.0,
        n=_whole(values.get("n")),
        confidence=number(values.get("confidence")),
        accuracy=number(values.get("accuracy")),
    )


def _trajectory(values: Mapping[str, Sequence[Any]]) -> Trajectory:
    row = [_whole(r) for r in _list(values.get("row"))]
    by_class = [[_whole(n) for n in counts] for counts in _list(values.get("long_by_class"))]
    # Classes appear as the stream goes on: early points may list fewer.
    most = max(map(len, by_class), default=0)

    def fractions(key: str) -> list[float | None]:
        known = [number(v) for v in _list(values.get(key))]
        return known if len(known) == len(row) else [None] * len(row)

    def counts(key: str) -> list[int]:
        known = [_whole(v) for v in _list(values.get(key))]
        return known if len(known) == len(row) else []

    return Trajectory(
        row=row,
        accuracy=fractions("accuracy"),
        window=fractions("window_accuracy"),
        short=counts("short"),
        long=counts("long"),
        long_by_class=[line + [0] * (most - len(line)) for line in by_class]
        if len(by_class) == len(row)
        else [],
        admitted=counts("admitted"),
        evicted=counts("evicted"),
    )
