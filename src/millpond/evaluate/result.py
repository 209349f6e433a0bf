"""The result of one lane's run: its facts as a JSON document, and its predictions."""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.errors import MillpondError
from millpond.state import write_atomically


@dataclass(frozen=True)
class Result:
    """What a prequential run found.

    ``facts`` is the content of ``result.json``; the properties name its parts that are used most.
    Times apart (``seconds``, ``resumed_from``, ``machine``), the facts of a run that was interrupted
    and resumed are those of an uninterrupted one.
    """

    facts: dict[str, Any]
    predictions: NDArray[np.int32]
    """(rows,) predicted class codes; -1 where a row was not scored"""

    @property
    def accuracy(self) -> float:
        """The fraction of scored rows predicted right; NaN where no row was scored."""
        value = self.facts["accuracy"]
        return math.nan if value is None else float(value)

    @property
    def scored(self) -> int:
        return int(self.facts["scored"])

    @property
    def unscored(self) -> int:
        return int(self.facts["unscored"])

    @property
    def rows(self) -> int:
        return int(self.facts["rows"])

    @property
    def seconds(self) -> dict[str, float]:
        """``fit``, ``predict`` and ``evict``, as in the paper's runtime table, and ``total``."""
        return dict(self.facts["seconds"])

    @property
    def metrics(self) -> dict[str, float | None]:
        """The cumulative metrics; those of the last window are ``facts["metrics"]["windowed"]``."""
        return dict(self.facts["metrics"]["cumulative"])

    @property
    def floors(self) -> dict[str, float | None]:
        """What label-only rules reach on the same rows."""
        return dict(self.facts["floors"])

    @property
    def resumed_from(self) -> int | None:
        return self.facts["resumed_from"]  # type: ignore[no-any-return]

    def to_json(self, path: str | os.PathLike[str]) -> None:
        text = json.dumps(self.facts, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
        write_atomically(Path(path), text.encode())


def read_facts(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MillpondError(f"{path} cannot be read as a result: {error}") from None
    if not isinstance(facts, dict):
        raise MillpondError(f"{path} cannot be read as a result: it holds no JSON object")
    return facts


def predictions_digest(predictions: NDArray[np.int32]) -> str:
    """SHA-256 of the predicted codes as little-endian 32-bit integers."""
    return hashlib.sha256(predictions.astype("<i4", copy=False).tobytes()).hexdigest()


def finite(value: Any) -> Any:
    """NaN, which JSON does not have, becomes None, however deep it lies."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value
