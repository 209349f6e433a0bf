"""MOA's six learners at the paper's selected hyper-parameters, beside the paper's accuracies.

    python benchmarks/baselines.py                                 # all of PLAN in its order: hours
    python benchmarks/baselines.py --streams noaa rialto --learners vfdt efdt      # a part of it
    python benchmarks/baselines.py --river                      # River's trees, kept apart from MOA's

Each finished run is one line of benchmarks/results/baselines/runs.jsonl (River's: river.jsonl). A run
that is there already is not done again, and one that was stopped goes on where it was (SRP, which MOA
cannot save, starts over). A stream that is not on this machine and a run that fails are named and left
out. `python benchmarks/baselines_page.py` writes docs/baselines.md from these files.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from millpond import load_stream, prequential
from millpond.baselines import require
from millpond.baselines.options import ENSEMBLES, TREES
from millpond.errors import MillpondError
from results import FOLDER, machine

RUNS = {
    "moa": FOLDER / "baselines" / "runs.jsonl",
    "river": FOLDER / "baselines" / "river.jsonl",
}


class Paper(NamedTuple):
    """The paper's final accuracy in percent, its deviation over 5 seeds, what it selected."""

    accuracy: float
    std: float | None
    grace_period: int
    tie_threshold: float


PAPER = {
    "noaa": {
        "vfdt": Paper(75.66, None, 400, 0.1),
        "efdt": Paper(75.56, None, 400, 0.1),
        "arf": Paper(79.42, 0.08, 400, 0.1),
        "srp": Paper(79.43, 0.10, 400, 0.1),
        "levbag": Paper(79.40, 0.10, 100, 0.1),
        "bole": Paper(74.97, 0.19, 100, 0.1),
    },
    "agr_a": {
        "vfdt": Paper(76.32, None, 400, 0.1),
        "efdt": Paper(75.15, None, 100, 0.1),
        "arf": Paper(90.26, 0.08, 100, 0.1),
        "srp": Paper(90.13, 0.15, 100, 0.01),
        "levbag": Paper(87.62, 0.29, 100, 0.1),
        "bole": Paper(88.29, 0.10, 100, 0.1),
    },
    "nomao": {
        "vfdt": Paper(93.98, None, 100, 0.1),
        "efdt": Paper(94.55, None, 100, 0.05),
        "arf": Paper(97.19, 0.04, 100, 0.1),
        "srp": Paper(97.42, 0.04, 100, 0.1),
        "levbag": Paper(97.27, 0.03, 400, 0.1),
        "bole": Paper(95.82, 0.12, 1000, 0.01),
    },
    "meter": {
        "vfdt": Paper(55.44, None, 400, 0.1),
        "efdt": Paper(61.39, None, 1000, 0.01),
        "arf": Paper(68.27, 0.09, 400, 0.1),
        "srp": Paper(71.49, 0.18, 100, 0.1),
        "levbag": Paper(69.40, 0.25, 100, 0.1),
        "bole": Paper(68.06, 0.27, 1000, 0.1),
    },
    "rialto": {
        "vfdt": Paper(40.46, None, 400, 0.1),
        "efdt": Paper(58.73, None, 100, 0.1),
        "arf": Paper(63.40, 0.12, 100, 0.1),
        "srp": Paper(72.45, 0.15, 100, 0.1),
        "levbag": Paper(64.13, 0.18, 100, 0.1),
        "bole": Paper(53.62, 0.32, 100, 0.1),
    },
    "posture_no8": {
        "vfdt": Paper(53.11, None, 100, 0.1),
        "efdt": Paper(55.34, None, 400, 0.1),
        "arf": Paper(59.44, 0.08, 100, 0.1),
        "srp": Paper(58.88, 0.15, 100, 0.1),
        "levbag": Paper(60.52, 0.04, 100, 0.1),
        "bole": Paper(54.60, 0.38, 100, 0.1),
    },
    "poker": {
        "vfdt": Paper(89.09, None, 400, 0.1),
        "efdt": Paper(82.75, None, 100, 0.1),
        "arf": Paper(84.05, 0.11, 100, 0.1),
        "srp": Paper(89.29, 0.16, 100, 0.1),
        "levbag": Paper(97.53, 0.10, 100, 0.1),
        "bole": Paper(88.46, 0.19, 100, 0.1),
    },
}


class Run(NamedTuple):
    """What is run, with the paper's hyper-parameters for it."""

    stream: str
    method: str
    seed: int
    limit: int | None = None


def runs_of(
    streams: Iterable[str], methods: Iterable[str], seeds: Iterable[int], limit: int | None = None
) -> list[Run]:
    return [Run(s, m, seed, limit) for seed in seeds for s in streams for m in methods]


# First every learner once on every stream, then the further seeds, the short streams first.
SHORT, LONGER, PREFIX = ("noaa", "agr_a", "nomao", "meter"), ("rialto", "posture_no8"), 200_000
PLAN = [
    *runs_of(PAPER, TREES, [1]),  # trees draw nothing: one seed
    *runs_of((*SHORT, *LONGER), ENSEMBLES, [1]),
    *runs_of(["noaa", "agr_a"], ENSEMBLES, range(2, 6)),
    *runs_of(["poker"], ENSEMBLES, [1], PREFIX),
    *runs_of(["poker"], ENSEMBLES, [1]),
    *runs_of(["nomao", "meter", "rialto"], ENSEMBLES, range(2, 6)),
    *runs_of(["posture_no8"], ENSEMBLES, range(2, 6)),
]

RIVERS_PLAN = runs_of(PAPER, TREES, [1])  # its ensembles of 90 do a hundred rows a second

FACTS = ("accuracy", "scored", "rows", "predictions_sha256", "floors", "learner", "versions")


def read_runs(path: Path) -> dict[Run, dict[str, Any]]:
    lines = path.read_text().splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    return {Run(*(each[field] for field in Run._fields)): each for each in found}


def do(library: str, run: Run) -> dict[str, Any]:
    begin = time.process_time()
    paper = PAPER[run.stream][run.method]
    name = f"{library}-{run.stream}-{run.method}-seed{run.seed}-{run.limit or 'all'}"
    result = prequential(
        load_stream(run.stream),
        learner=f"{library}:{run.method}",
        grace_period=paper.grace_period,
        tie_threshold=paper.tie_threshold,
        limit=run.limit,
        seed=run.seed,
        out=Path("runs") / "baselines" / name,
        resume=True,
    )
    return {
        **run._asdict(),
        **{fact: result.facts[fact] for fact in FACTS},
        # On a machine that others use: of use to plan further runs, not a figure. Of a run that was
        # resumed, the last part only.
        "cpu_seconds": round(time.process_time() - begin, 1),
        "resumed_from": result.facts["resumed_from"],
        "machine": machine(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", nargs="+", default=list(PAPER), choices=PAPER)
    parser.add_argument(
        "--learners", nargs="+", default=TREES + ENSEMBLES, choices=TREES + ENSEMBLES
    )
    parser.add_argument("--river", action="store_true", help="River's versions instead of MOA's")
    chosen = parser.parse_args()
    library, plan = ("river", RIVERS_PLAN) if chosen.river else ("moa", PLAN)
    require(f"{library}:vfdt")
    kept = RUNS[library]
    kept.parent.mkdir(parents=True, exist_ok=True)
    for run in plan:
        if run.stream not in chosen.streams or run.method not in chosen.learners:
            continue
        if run in read_runs(kept):
            continue
        try:
            # A process for each: a Java machine that dies takes its process with it, and no more.
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                found = process.submit(do, library, run).result()
        except (MillpondError, BrokenProcessPool) as error:
            print(f"{run}: left out: {error}", flush=True)
            continue
        with kept.open("a") as file:
            file.write(json.dumps(found) + "\n")
        print(
            f"{run.stream:12} {library}:{run.method:7} seed {run.seed}  {100 * found['accuracy']:.2f}  "
            f"paper {PAPER[run.stream][run.method].accuracy:.2f}  {found['cpu_seconds']:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
