"""The k-nearest-neighbours backbone on whole streams: CURE and DualFIFO as two lanes of one run.

    python benchmarks/streams_knn.py noaa agr_a ...     # writes benchmarks/results/streams_knn.json

Streams that are not on this machine are named and left out. A run that was stopped goes on where it
was. tau is the paper's for each stream, which is not chosen on these results.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from millpond import load_stream, prequential
from millpond.errors import DataMissing
from results import FOLDER, machine, write

TAU = {"noaa": 0.4, "rialto": 0.1, "posture_no8": 0.2, "poker": 0.3, "nomao": 0.3, "agr_a": 0.4}
POLICIES = ["cure", "dual_fifo"]
FACTS = ("accuracy", "scored", "unscored", "rows", "predictions_sha256", "floors", "protocol")


def run(name: str) -> dict[str, Any]:
    stream = load_stream(name)
    results = prequential(
        stream,
        backbone="knn",
        policy=POLICIES,
        tau=[TAU[name]] * len(POLICIES),
        out=Path("runs") / "streams_knn" / name,
        resume=True,
    )
    return {
        policy: {fact: result.facts[fact] for fact in FACTS}
        | {"learner": result.facts["learner"], "metrics": result.metrics}
        for policy, result in zip(POLICIES, results, strict=True)
    }


def main() -> None:
    path = FOLDER / "streams_knn.json"
    figures = json.loads(path.read_text()) if path.exists() else {"streams": {}}
    for name in sys.argv[1:] or TAU:
        try:
            found = run(name)
        except DataMissing as error:
            print(f"{name}: left out. {error}")
            continue
        figures["streams"][name] = found
        figures["machine"] = machine()
        write("streams_knn", figures)
        cure, dual = (100 * found[policy]["accuracy"] for policy in POLICIES)
        print(f"{name:12} CURE {cure:.2f}  DualFIFO {dual:.2f}", flush=True)


if __name__ == "__main__":
    main()
