"""Kills of a durable fleet at random points, and what was lost or done twice: see `tests/crashes.py`.

    PYTHONPATH=tests python benchmarks/fleet_crashes.py [--kills 1040] [--runs 8]

Some runs at a time, each with a folder and a seed of its own; writes results/fleet_crashes.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from crashes import figures_of
from results import machine, write

SUMMED = (
    "kills", "kills_while_opening", "kills_with_a_batch_under_way", "found_applied", "batches",
    "operations", "repeated",
)  # fmt: skip


def one(kills: int, seed: int) -> dict[str, Any]:
    """A run in a process of its own."""
    words = [sys.executable, __file__, "--kills", str(kills), "--runs", "1", "--seed", str(seed)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"seed {seed} failed:\n{done.stderr}")
    figures: dict[str, Any] = json.loads(done.stdout)
    print(f"seed {seed}: {figures}", file=sys.stderr, flush=True)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=1040)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.runs == 1:
        with tempfile.TemporaryDirectory() as folder:
            figures = figures_of(Path(folder) / "data", chosen.kills, chosen.seed)
        print(json.dumps({**figures, "seed": chosen.seed}))
        return
    seeds = range(chosen.seed, chosen.seed + chosen.runs)
    with ThreadPoolExecutor(chosen.runs) as threads:
        runs = list(threads.map(lambda seed: one(-(-chosen.kills // chosen.runs), seed), seeds))
    whole = {name: sum(run[name] for run in runs) for name in SUMMED}
    whole["same_fingerprint"] = all(run["same_fingerprint"] for run in runs)
    print(json.dumps(whole, indent=1))
    write("fleet_crashes", {**whole, "runs": runs, "machine": machine()})
    assert whole["same_fingerprint"]


if __name__ == "__main__":
    main()
