"""A published backbone on the paper's streams: CURE and DualFIFO as two lanes of one run.

    python benchmarks/published_streams.py noaa --limit 1000          # on a CPU: a prefix
    python benchmarks/published_streams.py noaa agr_a rialto posture_no8 --device cuda --dtype bfloat16

Writes benchmarks/results/published_streams.json: one entry for a backbone, a stream and a setting; an
entry of a prefix says so. Streams and weights that are not on this machine are named and left out. A run
that was stopped goes on where it was. tau is the paper's for TabICL-v2 on each stream, which was chosen
on that very stream there; it is not chosen on these results.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from millpond import load_stream, prequential
from millpond.errors import DataMissing, MissingExtra
from results import FOLDER, machine, write
from streams_knn import TAU

POLICIES = ["cure", "dual_fifo"]
FACTS = ("accuracy", "scored", "unscored", "rows", "predictions_sha256", "floors", "protocol")


def run(name: str, asked: argparse.Namespace) -> dict[str, Any]:
    stream = load_stream(name)
    setting = f"{asked.backbone}-{asked.dtype}-chunk{asked.chunk}-{asked.limit or 'whole'}"
    results = prequential(
        stream,
        backbone=asked.backbone,
        device=asked.device,
        dtype=asked.dtype,
        policy=POLICIES,
        tau=[TAU[name]] * len(POLICIES),
        chunk=asked.chunk,
        limit=asked.limit,
        out=Path("runs") / "published_streams" / setting / name,
        resume=True,
    )
    whole = asked.limit is None or asked.limit >= len(stream)
    return {
        "backbone": asked.backbone,
        "stream": name,
        "what": "whole stream"
        if whole
        else f"PREFIX: the first {asked.limit:,} of {len(stream):,}",
        "device": asked.device,
        "dtype": asked.dtype,
        "machine": machine(),
        "seconds": round(results[0].facts["seconds"]["total"], 1),
    } | {
        policy: {fact: result.facts[fact] for fact in FACTS}
        | {"learner": result.facts["learner"], "metrics": result.metrics}
        for policy, result in zip(POLICIES, results, strict=True)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("streams", nargs="*", metavar="STREAM", default=["noaa"])
    parser.add_argument("--backbone", default="tabpfn_v1")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--chunk", type=int, default=1)
    parser.add_argument("--limit", type=int)
    asked = parser.parse_args()
    path = FOLDER / "published_streams.json"
    for name in asked.streams:
        try:
            found = run(name, asked)
        except (DataMissing, MissingExtra) as error:
            print(f"{name}: left out. {error}")
            continue
        figures = json.loads(path.read_text()) if path.exists() else {}
        place = f"chunk {asked.chunk}, {asked.dtype}, {found['what'].partition(',')[0]}"
        figures.setdefault(asked.backbone, {}).setdefault(name, {})[place] = found
        write("published_streams", figures)
        cure, dual = (100 * found[policy]["accuracy"] for policy in POLICIES)
        print(f"{name:12} CURE {cure:.2f}  DualFIFO {dual:.2f}  ({found['what']})", flush=True)


if __name__ == "__main__":
    main()
