"""The paper's grid of MOA's learners: what the oracle selects, and what the first tenth selects.

    python benchmarks/baselines_grid.py                                  # both trees on every stream
    python benchmarks/baselines_grid.py --streams noaa --learners arf --seeds 1 --workers 2

`millpond grid` on each stream and learner, its report kept as benchmarks/results/baselines/grid/*.json.
A grid whose report is there is not run again; one that was stopped goes on where it was.
`python benchmarks/baselines_page.py` writes docs/baselines.md from these files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from baselines import PAPER
from millpond.baselines import moa_jvm
from millpond.baselines.grid import SEEDS
from millpond.baselines.options import ENSEMBLES, TREES
from results import FOLDER, machine, write

GRIDS = FOLDER / "baselines" / "grid"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", nargs="+", default=list(PAPER), choices=PAPER)
    parser.add_argument("--learners", nargs="+", default=TREES, choices=TREES + ENSEMBLES)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of an ensemble")
    parser.add_argument("--workers", type=int, default=1)
    chosen = parser.parse_args()
    moa_jvm.require()
    GRIDS.mkdir(parents=True, exist_ok=True)
    for stream in chosen.streams:
        for method in chosen.learners:
            seeds = chosen.seeds if method in ENSEMBLES else 1
            name = f"{stream}-{method}" + (f"-seeds{seeds}" if seeds > 1 else "")
            if (GRIDS / f"{name}.json").exists():
                continue
            out = Path("runs") / "grid" / name
            words = [stream, "--learner", f"moa:{method}", "--seeds", str(seeds)]
            words += ["--workers", str(chosen.workers), "--out", str(out), "--resume", "--json"]
            done = subprocess.run(
                [sys.executable, "-m", "millpond", "grid", *words],
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            )
            found = json.loads(done.stdout) if done.stdout else None
            if found is None or found["failed"]:
                print(f"{name}: left out, see above", flush=True)
                continue
            one = next(out.glob("*/result.json"))
            versions = json.loads(one.read_text())["versions"]
            del found["out"]
            write(f"baselines/grid/{name}", {**found, "versions": versions, "machine": machine()})
            print(f"{name}: {found['selections']}", flush=True)


if __name__ == "__main__":
    main()
