"""What a step of Rill costs: one prediction and one update with its CURE eviction, B = 1000, d = 27.

One, eight and 64 lanes on one thread, in turns of some steps, so that all meet the same machine; the
first steps of a turn, which find the others' data in the processor's caches, do not count. Wall time,
and the thread's own time, which is less where the machine is shared; the latter also over the steps
that the system did not interrupt, after which the caches are cold. Weights are the packaged ones,
those of a file, or random ones of the full shape: no time depends on their values.

Where `tabicl` 2.x is installed, a step of TabICL-v2 (its architecture, random weights, one estimator,
the bare network without the library's preparation of the table) takes its turns too.

    python benchmarks/rill_step.py [--weights FILE]      # prints a table, writes results/rill_step.json
"""

from __future__ import annotations

import os
import resource

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from millpond.backbones.rill import Rill
from millpond.backbones.rill.weights import (
    FEATURES,
    FORMAT,
    PACKAGED,
    VERSION,
    Shape,
    checksum,
    load,
)
from millpond.learner import ContextLearner
from results import machine, write

BUDGET, FEATURES_HERE, CLASSES = 1000, 27, 2
LANES = (1, 8, 64)
STEPS = {1: 40, 8: 8, 64: 2}
"""Steps of a turn"""
WARMING = {1: 3, 8: 1}
"""Steps before them; 64 lanes' caches exceed the processor's at each step anyway"""
ROUNDS = 30
TABICL_ROUNDS = 3
"""A step of TabICL-v2 at every so many rounds, as it takes as long as many"""
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
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
    return path


class Stream:
    """Lanes at the end of their warm-up: contexts full, every further step evicts a row."""

    def __init__(self, backbone: Rill, lanes: int) -> None:
        self.rng = np.random.default_rng(lanes)
        self.numbers = np.arange(lanes)
        self.learner = ContextLearner(lanes, backbone=backbone, policy="cure", tau=0.0)
        self.wall: list[float] = []
        self.own: list[float] = []
        self.calm: list[bool] = []
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
            before = interruptions()
            wall, own = self._step()
            self.calm.append(interruptions() == before)
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
            "steps_not_interrupted": sum(self.calm),
            "thread_ms_not_interrupted": _spread(own[self.calm] if any(self.calm) else own),
            "rows_per_second": round(lanes * 1e3 / wall.mean(), 1),
            "rows_per_thread_second": round(lanes * 1e3 / own.mean(), 1),
            "parts": parts,
            "state_bytes_per_lane": sum(array.nbytes for array in state.values()) // lanes,
        }


def interruptions() -> int:
    """How often the system has taken the processor from this thread."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def _spread(ms: Any) -> dict[str, float]:
    figures = {"mean": ms.mean(), "median": np.median(ms), "p99": np.quantile(ms, 0.99)}
    return {name: round(float(value), 3) for name, value in (figures | {"max": ms.max()}).items()}


class Tabicl:
    """Steps of TabICL-v2: a forward pass of its network over the context and one query."""

    def __init__(self) -> None:
        import torch
        from tabicl._model.tabicl import TabICL

        torch.set_num_threads(1)
        torch.manual_seed(0)
        # The library's defaults are those of v2, but for these two, which concern no shape.
        self._network = TabICL(row_rope_interleaved=False, zero_init=False).eval()
        self._parameters = sum(p.numel() for p in self._network.parameters())
        self._X = torch.randn(1, BUDGET + 1, FEATURES_HERE)
        self._y = torch.randint(0, CLASSES, (1, BUDGET)).float()
        self._torch = torch
        self.wall: list[float] = []
        self.own: list[float] = []

    def turn(self) -> None:
        wall, own = time.perf_counter(), time.thread_time()
        with self._torch.inference_mode():
            self._network(self._X, self._y)
        self.wall.append(time.perf_counter() - wall)
        self.own.append(time.thread_time() - own)

    def figures(self) -> dict[str, Any]:
        return {
            "version": version("tabicl"),
            "torch": self._torch.__version__,
            "parameters": self._parameters,
            "steps": len(self.own),
            "wall_ms": _spread(np.array(self.wall) * 1e3),
            "thread_ms": _spread(np.array(self.own) * 1e3),
        }


def tabicl_or_none() -> Tabicl | None:
    try:
        return Tabicl()
    except ImportError as error:
        print(f"TabICL-v2 is left out: {error}; pip install tabicl==2.2.0 brings it")
        return None


def load_seconds(weights: Path) -> dict[str, float]:
    """Import (NumPy's too) and load in a fresh process, five times: the best wall and process time."""
    code = (
        "import time; t = lambda: (time.perf_counter(), time.process_time());"
        "a = t(); from millpond.backbones.rill import Rill; b = t();"
        f"Rill(weights={str(weights)!r}); c = t();"
        "print(b[0] - a[0], c[0] - b[0], b[1] - a[1], c[1] - b[1])"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        for _ in range(5)
    ]
    parts = [[float(part) for part in run.stdout.split()] for run in runs]
    wall, own = min(parts, key=lambda p: p[0] + p[1]), min(parts, key=lambda p: p[2] + p[3])
    found = {"import": wall[0], "load": wall[1], "own_import": own[2], "own_load": own[3]}
    return {name: round(value, 3) for name, value in found.items()}


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
    tabicl = tabicl_or_none()
    for stream in streams:
        stream.learner.seconds.update(fit=0.0, predict=0.0, evict=0.0)
    for round_ in range(arguments.rounds):
        for stream in streams:
            stream.turn()
        if tabicl is not None and round_ % TABICL_ROUNDS == 0:
            tabicl.turn()
    cases = [stream.figures() for stream in streams]
    print(
        f"weights: {name}; import {seconds['import']} s, load {seconds['load']} s "
        f"(own time {seconds['own_import']} s, {seconds['own_load']} s)"
    )
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
    calm = one["thread_ms_not_interrupted"]
    ratios = {
        "max_over_median": _ratio(one, "max", one, "median"),
        "p99_over_median": _ratio(one, "p99", one, "median"),
        "max_over_median_not_interrupted": round(calm["max"] / calm["median"], 2),
        "lanes_rows_per_second": round(best["lanes"] * _ratio(one, "mean", best, "mean", 4), 2),
    }
    found: dict[str, Any] = {"cases": cases}
    if tabicl is not None:
        found["tabicl_v2"] = tabicl.figures()
        ratios["tabicl_v2_step"] = _ratio(found["tabicl_v2"], "mean", one, "mean", 0)
    print("by the thread's own time:")
    print(
        f"  the slowest step of one lane is {ratios['max_over_median']} medians, of the "
        f"{one['steps_not_interrupted']} that were not interrupted "
        f"{ratios['max_over_median_not_interrupted']}"
    )
    print(f"  {best['lanes']} lanes do {ratios['lanes_rows_per_second']} times one lane's rows/s")
    if tabicl is not None:
        print(f"  a step of TabICL-v2 is {ratios['tabicl_v2_step']:.0f} of Rill's")
    print(f"state: {one['state_bytes_per_lane']:,} bytes a lane")
    about = {"budget": BUDGET, "features": FEATURES_HERE, "weights": name}
    about |= {"sha256": load(weights).sha256} if weights.exists() else {}
    found = {**about, "seconds": seconds, **found, "ratios_of_thread_time": ratios}
    write("rill_step", {**found, "machine": machine()})


def _ratio(
    one: dict[str, Any], which: str, other: dict[str, Any], than: str, digits: int = 2
) -> float:
    return round(float(one["thread_ms"][which] / other["thread_ms"][than]), digits)


if __name__ == "__main__":
    main()
