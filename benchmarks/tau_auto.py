"""tau="auto" against each fixed tau of the paper's grid: one run a stream, one lane a tau.

    python benchmarks/tau_auto.py noaa agr_a ...           # writes benchmarks/results/tau_auto_knn.json
    python benchmarks/tau_auto.py --limit 20000 poker      # the first rows only; the file says so
    python benchmarks/tau_auto.py --backbone rill noaa     # ... tau_auto_rill.json

A run that was stopped goes on where it was. The best fixed tau of a stream is chosen by the accuracy on
that stream, as in the paper; "auto" is not.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from millpond import load_stream, prequential
from millpond.errors import DataMissing
from millpond.policies.auto_tau import RATE, WINDOW
from results import FOLDER, machine, write

STREAMS = ["noaa", "agr_a", "nomao", "rialto", "posture_no8", "poker"]
GRID = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


def run(name: str, backbone: str, limit: int | None) -> dict[str, Any]:
    results = prequential(
        load_stream(name),
        backbone=backbone,
        policy="cure",
        tau=[*GRID, "auto"],
        limit=limit,
        out=Path("runs") / "tau_auto" / f"{backbone}-{name}-{limit or 'all'}",
        resume=True,
    )
    *fixed, auto = [100 * result.accuracy for result in results]
    admitted = [result.facts["trajectory"]["admitted"][-1] for result in results]
    return {
        "rows": results[0].facts["rows"],
        "limit": limit,
        "fixed": dict(zip(map(str, GRID), fixed, strict=True)),
        "auto": auto,
        "auto_minus_best_fixed": auto - max(fixed),
        "admitted": dict(zip([*map(str, GRID), "auto"], admitted, strict=True)),
    }


def summary(streams: dict[str, Any]) -> dict[str, float]:
    """Means over the streams that are there."""
    mean = {
        tau: sum(found["fixed"][tau] for found in streams.values()) / len(streams)
        for tau in map(str, GRID)
    }
    auto = sum(found["auto"] for found in streams.values()) / len(streams)
    best = sum(max(found["fixed"].values()) for found in streams.values()) / len(streams)
    return {
        "auto": auto,
        "best_fixed_of_each_stream": best,
        "auto_minus_best_fixed_of_each_stream": auto - best,
        "best_one_tau_for_all": max(mean.values()),
        "auto_minus_best_one_tau_for_all": auto - max(mean.values()),
        **{f"tau_{tau}": value for tau, value in mean.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("streams", nargs="*", default=STREAMS)
    parser.add_argument("--backbone", default="knn")
    parser.add_argument("--limit", type=int)
    chosen = parser.parse_args()
    file = f"tau_auto_{chosen.backbone}"
    path = FOLDER / f"{file}.json"
    figures = json.loads(path.read_text()) if path.exists() else {"streams": {}}
    for name in chosen.streams:
        try:
            found = run(name, chosen.backbone, chosen.limit)
        except DataMissing as error:
            print(f"{name}: left out. {error}")
            continue
        figures["streams"][name] = found
        figures |= {
            "backbone": chosen.backbone,
            "rate": RATE,
            "window": WINDOW,
            "mean": summary(figures["streams"]),
        }
        write(file, {**figures, "machine": machine()})
        print(f"{name:12} auto {found['auto']:.2f}  best fixed {max(found['fixed'].values()):.2f}")


if __name__ == "__main__":
    main()
