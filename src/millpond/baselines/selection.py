"""Choosing a configuration of a grid: as the paper did, and so that it could be done in practice.

The paper's choice is the best final accuracy on the stream that is then reported: an oracle. The honest
one is the best on the first tenth of the stream, reported on the rest, which it has not seen.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from millpond.baselines.grid import Done
from millpond.evaluate.result import finite
from millpond.evaluate.steps import UNSCORED

FIRST = 0.1  # the share of the stream that the honest choice sees


def report(done: Sequence[Done]) -> dict[str, Any]:
    """Every cell of the grid with its accuracies, what failed, and both choices.

    Only cells whose every seed has a result can be chosen.
    """
    cells: dict[tuple[int, float], list[dict[str, float]]] = {}
    failed = []
    for each in done:
        cell = cells.setdefault(
            (each.configuration.grace_period, each.configuration.tie_threshold), []
        )
        if each.failure is None:
            cell.append(_accuracies(each))
        else:
            failed.append({"configuration": each.configuration.name, "reason": each.failure})
    seeds = len(done) // max(1, len(cells))
    rows = [
        {
            "grace_period": g,
            "tie_threshold": t,
            "seeds": len(runs),
            **{part: statistics.fmean(run[part] for run in runs) for part in _PARTS},
            "std": statistics.stdev(run["accuracy"] for run in runs) if len(runs) > 1 else None,
            "accuracies": [run["accuracy"] for run in runs],
        }
        for (g, t), runs in cells.items()
        if runs
    ]
    complete = [row for row in rows if row["seeds"] == seeds]
    found: dict[str, Any] = {
        "configurations": rows,
        "failed": failed,
        "selections": {
            "oracle": _chosen(complete, "accuracy"),
            "honest": _chosen(complete, "first"),
        },
    }
    return cast(dict[str, Any], finite(found))


_PARTS = ("accuracy", "first", "rest")


def _accuracies(done: Done) -> dict[str, float]:
    """Over all scored rows, over those of the first tenth of the stream, and over the rest."""
    facts = json.loads((done.folder / "result.json").read_text(encoding="utf-8"))
    with np.load(done.folder / "steps.npz", allow_pickle=False) as steps:
        prediction, label = steps["prediction"], steps["label"]
    border = int(FIRST * len(label))
    right, scored = prediction == label, prediction != UNSCORED
    return {
        "accuracy": facts["accuracy"],
        "first": _share(right[:border], scored[:border]),
        "rest": _share(right[border:], scored[border:]),
    }


def _share(right: Any, scored: Any) -> float:
    """NaN where no row was scored."""
    return float(right[scored].mean()) if scored.any() else float("nan")


def _chosen(rows: list[dict[str, Any]], by: str) -> dict[str, Any] | None:
    """The best cell by one of its accuracies, the first of equals; None where none is comparable."""
    known = [row for row in rows if row[by] == row[by]]
    if not known:
        return None
    best = max(known, key=lambda row: row[by])
    return {name: best[name] for name in ("grace_period", "tie_threshold", *_PARTS, "std")}
