"""What is kept of a finished unit: enough for every table and test, small enough to be committed."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.evaluate.result import Result
from millpond.evaluate.steps import UNSCORED
from millpond.paper.units import Unit

POINTS = 100  # of a trajectory
KEPT = (
    "accuracy", "scored", "unscored", "rows", "unscored_why", "resumed_from", "predictions_sha256",
    "learner", "seconds", "floors", "reliability", "versions", "machine",
)  # fmt: skip
BANKS = ("short", "long", "long_by_class", "admitted", "evicted")


@dataclass(frozen=True)
class Record:
    """A unit and its facts, as they lie in a line of a file."""

    unit: Unit
    facts: dict[str, Any]

    @property
    def accuracy(self) -> float | None:
        """A fraction; None where no row was scored."""
        return self.facts["accuracy"]  # type: ignore[no-any-return]

    @property
    def prefix(self) -> bool:
        """Whether rows of the stream were left out."""
        return bool(self.facts["rows"] < self.facts["stream"]["rows"])

    def right(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(rows,) whether each was scored, and (rows,) whether each was predicted right."""
        rows = self.facts["rows"]
        return _unpack(self.facts["bits"]["scored"], rows), _unpack(
            self.facts["bits"]["right"], rows
        )

    def document(self) -> dict[str, Any]:
        return {"unit": self.unit.document(), **self.facts}

    @classmethod
    def read(cls, document: dict[str, Any]) -> Record:
        facts = dict(document)
        return cls(Unit.read(facts.pop("unit")), facts)


def record(
    unit: Unit, result: Result, labels: NDArray[np.int64], stream_rows: int, place: dict[str, Any]
) -> Record:
    """``labels`` (rows,) as the run saw them, ``stream_rows`` of the whole stream; ``place``: where."""
    facts = {name: result.facts[name] for name in KEPT}
    stream = result.facts["stream"]
    facts["stream"] = {
        "name": stream["name"],
        "rows": stream_rows,
        "features": stream["features"],
        "classes": stream["classes"],
        "fingerprint": stream["fingerprint"],
    }
    facts["metrics"] = result.facts["metrics"]["cumulative"]
    facts["lanes"] = result.facts["lanes"]
    along = result.facts["trajectory"]
    stride = -(-len(along["row"]) // POINTS)
    kept = range(len(along["row"]) - 1, -1, -stride)[::-1]  # the last point is the result
    facts["trajectory"] = {
        name: [_short(along[name][i]) for i in kept]
        for name in ("row", "accuracy", "window_accuracy")
    }
    facts["banks"] = {name: along[name][-1] for name in BANKS if along.get(name)}
    scored = result.predictions != UNSCORED
    right = result.predictions == labels
    facts["bits"] = {"scored": _pack(scored), "right": _pack(right)}
    return Record(unit, {**facts, **place})


def _short(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def _pack(bits: NDArray[np.bool_]) -> str:
    return base64.b64encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode()


def _unpack(text: str, rows: int) -> NDArray[np.bool_]:
    packed = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    return np.unpackbits(packed, count=rows).astype(bool)
