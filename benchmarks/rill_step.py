"""What a step of Rill costs: one prediction and one update with its CURE eviction, B = 1000, d = 27.

One, eight and 64 lanes on one thread, in turns of some steps, so that all meet the same machine; the
first steps of a turn, which find the others' data in the processor's caches, do not count. Wall time,
and the thread's own time, which is less where the machine is shared. Weights are the packaged ones,
those of a file, or random ones of the full shape: no time depends on their values.

    python benchmarks/rill_step.py [--weights FILE]      # prints a table, writes results/rill_step.json
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from millpond.backbones.rill import Rill
from millpond.backbones.rill.weights import FEATURES, FORMAT, PACKAGED, VERSION, Shape, checksum
from millpond.learner import ContextLearner
from results import machine, write

BUDGET, FEATURES_HERE, CLASSES = 1000, 27, 2
LANES = (1, 8, 64)
STEPS = {1: 40, 8: 8, 64: 2}
"""Steps of a turn"""
WARMING = {1: 3, 8: 1}
"""Steps before them; 64 lanes' caches exceed the processor's at each step anyway"""
ROUNDS = 30
FULL = Shape(
    width=256,
    layers=8,
    heads=8,
    kv_heads=1,
    head_dim=64,
    rotary=48,
    hidden=640,
    row_layers=2,
    row_hidden=512,
    slots=128,
    codes=64,
    matches=8,
    match_dim=32,
    head_hidden=64,
)


def random_weights(path: Path) -> Path:
    """A file of the full shape; matrices keep the size of what goes through them, norms are 1."""
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = {}
    for name, size in FULL.arrays().items():
        drawn = rng.standard_normal(size) / np.sqrt(size[-1])
        arrays[name] = np.asarray(np.ones(size) if name.endswith("gain") else drawn, np.float16)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "shape": asdict(FULL),
        "features": FEATURES,
        "provenance": "random",
        "sha256": checksum(arrays),
    }
    np.savez_compressed(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
    return path


class Stream:
    """Lanes at the end of their warm-up: contexts full, every further step evicts a row."""

    def __init__(self, backbone: Rill, lanes: int) -> None:
        self.rng = np.random.default_rng(lanes)
        self.numbers = np.arange(lanes)
        self.learner = ContextLearner(lanes, backbone=backbone, policy="cure", tau=0.0)
        self.wall: list[float] = []
        self.own: list[float] = []
        for _ in range(BUDGET + 10):
            self.learner.learn(0, *self._row(), np.zeros(lanes), self.numbers)

    def _row(self) -> tuple[Any, Any]:
        X = self.rng.standard_normal((len(self.numbers), FEATURES_HERE)).astype(np.float32)
        return X, (X[:, 0] + X[:, 1] > 0).astype(np.int64)

    def turn(self) -> None:
        lanes = len(self.numbers)
        for _ in range(WARMING.get(lanes, 0)):
            self._step()
        for _ in range(STEPS.get(lanes, 1)):
            wall, own = self._step()
            self.wall.append(wall)
            self.own.append(own)

    def _step(self) -> tuple[float, float]:
        X, y = self._row()
        wall, own = time.perf_counter(), time.thread_time()
        predictions = self.learner.predict(range(1), X[:, None], self.numbers)
        scores = self.learner.score(predictions, self.numbers)[:, 0]
        self.learner.learn(0, X, y, scores, self.numbers)
        return time.perf_counter() - wall, time.thread_time() - own

    def figures(self) -> dict[str, Any]:
        wall, own, lanes = np.array(self.wall) * 1e3, np.array(self.own) * 1e3, len(self.numbers)
        whole = sum(self.learner.seconds.values())
        parts = {part: round(s / whole, 3) for part, s in self.learner.seconds.items()}
        state = self.learner.session.state()
        return {
            "lanes": lanes,
            "steps": len(wall),
            "wall_ms": _spread(wall),
            "thread_ms": _spread(own),
            "rows_per_second": round(lanes * 1e3 / wall.mean(), 1),
            "rows_per_thread_second": round(lanes * 1e3 / own.mean(), 1),
            "parts": parts,
            "state_bytes_per_lane": sum(array.nbytes for array in state.values()) // lanes,
        }


def _spread(ms: Any) -> dict[str, float]:
    figures = {"mean": ms.mean(), "median": np.median(ms), "p99": np.quantile(ms, 0.99)}
    return {name: round(float(value), 3) for name, value in (figures | {"max": ms.max()}).items()}


def load_seconds(weights: Path) -> dict[str, float]:
    """Import and load in a fresh process, three times; the best counts."""
    code = (
        "import time; a = time.perf_counter(); from millpond.backbones.rill import Rill;"
        f"b = time.perf_counter(); Rill(weights={str(weights)!r}); c = time.perf_counter();"
        "print(b - a, c - b)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        for _ in range(3)
    ]
    parts = [[float(part) for part in run.stdout.split()] for run in runs]
    best = min(parts, key=sum)
    return {"import": round(best[0], 3), "load": round(best[1], 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--lanes", type=int, nargs="+", default=list(LANES))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        weights = arguments.weights or (PACKAGED if PACKAGED.exists() else None)
        name = "random, full shape" if weights is None else weights.name
        if weights is None:
            weights = random_weights(Path(folder) / "random.npz")
        seconds = load_seconds(weights)
        streams = [Stream(Rill(weights=weights), lanes) for lanes in arguments.lanes]
    for stream in streams:
        stream.learner.seconds.update(fit=0.0, predict=0.0, evict=0.0)
    for _ in range(arguments.rounds):
        for stream in streams:
            stream.turn()
    cases = [stream.figures() for stream in streams]
    print(f"weights: {name}; import {seconds['import']} s, load {seconds['load']} s")
    print(
        f"{'lanes':>5} {'mean':>8} {'median':>8} {'p99':>8} {'max':>8} {'own mean':>9} {'rows/s':>8}"
    )
    for case in cases:
        wall = case["wall_ms"]
        print(
            f"{case['lanes']:>5} {wall['mean']:>8} {wall['median']:>8} {wall['p99']:>8} {wall['max']:>8} "
            f"{case['thread_ms']['mean']:>9} {case['rows_per_second']:>8}  {case['parts']}"
        )
    best, one = cases[-1], cases[0]
    for clock in ("rows_per_second", "rows_per_thread_second"):
        print(f"{best['lanes']} lanes over {one['lanes']}, {clock}: {best[clock] / one[clock]:.2f}")
    print(f"state: {one['state_bytes_per_lane']:,} bytes a lane")
    shape = {"budget": BUDGET, "features": FEATURES_HERE, "weights": name}
    write("rill_step", {**shape, "seconds": seconds, "cases": cases, "machine": machine()})


if __name__ == "__main__":
    main()
