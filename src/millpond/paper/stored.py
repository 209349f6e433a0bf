"""Baselines that ``benchmarks/baselines.py`` has run: accuracies, without the rows behind them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from millpond.errors import CheckpointError
from millpond.paper.published import published
from millpond.paper.record import Record
from millpond.paper.units import Unit

OPTIONS = ("grace_period", "tie_threshold", "ensemble_size")
KEPT = ("accuracy", "scored", "rows", "predictions_sha256", "floors", "learner", "versions")


def read_baselines(path: Path) -> dict[Unit, Record]:
    """Each line of the file as the unit that it is; the last of several lines for one unit counts."""
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
        records = [_record(line) for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} cannot be read as results of baselines: {error}") from None
    return {record.unit: record for record in records}


def _record(line: dict[str, Any]) -> Record:
    learner = line["learner"]
    options = {name: float(learner[name]) for name in OPTIONS if name in learner}
    unit = Unit(
        line["stream"],
        learner["name"],
        options=tuple(sorted(options.items())),
        limit=line["limit"],
        seed=line["seed"],
    )
    facts = {name: line[name] for name in KEPT}
    facts |= {
        "stream": {"name": unit.stream, "rows": published()["datasets"][unit.stream]["rows"]},
        "machine": {k: line["machine"][k] for k in ("system", "processor")},
        "cpu_seconds": line["cpu_seconds"],
        "device": "cpu",
        "weights_sha256": "",
    }
    return Record(unit, facts)
