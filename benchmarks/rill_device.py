"""Rill on a GPU, policies and all: whole streams as lanes of one graph, and what a step costs there.

    python benchmarks/rill_device.py --device cuda                       # the cost of a step
    python benchmarks/rill_device.py --device cuda poker rialto ...      # and whole streams
    python benchmarks/rill_device.py --device cpu noaa:600 --lanes 1 4   # does it run?

Writes benchmarks/results/rill_device.json. The streams, their lanes and the table are those of
rill_streams.py; `--dtype float32` is the NumPy engine's arithmetic, bfloat16 the quick one.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from millpond.backbones import Prediction
from millpond.backbones.rill.device.model import DTYPES, Model
from millpond.backbones.rill.device.stepper import BLOCK, Stepper
from millpond.backbones.rill.network import Network
from millpond.backbones.rill.weights import PACKAGED, load
from millpond.context import Contexts
from millpond.evaluate.lane import Lane
from millpond.evaluate.result import finite, predictions_digest
from millpond.evaluate.schedule import Protocol
from paired import difference
from results import FOLDER, machine, write
from rill_streams import METRICS, PAPER, SEED, SHUFFLED, lanes_of, read, table

WARMUP, FEATURES = 100, 27
LANES = (1, 64, 512)
FILL, TIMED = 1024, 1024
"""Rows before and in the measurement: contexts are full, every step evicts"""


def cost(model: Model, lanes: int) -> dict[str, Any]:
    """CURE at tau 0 with B = 1000, d = 27, two classes: milliseconds a step and rows a second."""
    rng = np.random.default_rng(lanes)
    contexts = Contexts(lanes, policy="cure", tau=0.0)
    stepper = Stepper(model, contexts, FEATURES, 2, WARMUP)
    seconds = []
    for begin in range(0, FILL + TIMED, BLOCK):
        X = rng.standard_normal((lanes, BLOCK, FEATURES)).astype(np.float32)
        y = (X[..., 0] + X[..., 1] > 0).astype(np.int64)
        started = time.perf_counter()
        stepper.test_then_train(X, y)  # which brings the answers back, and so waits for them
        if begin >= FILL:
            seconds.append(time.perf_counter() - started)
    step = sum(seconds) / TIMED
    return {"lanes": lanes, "step_ms": round(1e3 * step, 3), "rows_per_second": round(lanes / step)}


def run(model: Model, name: str, limit: int | None) -> dict[str, Any]:
    whole = read(name)
    stream = whole if limit is None else whole.head(limit)
    plan, mixed = lanes_of(name), stream.shuffled_within(SHUFFLED, SEED)
    protocol = Protocol(warmup=WARMUP)
    lanes = [Lane(mixed if shuffled else stream, protocol) for _, _, _, shuffled in plan]
    contexts = Contexts(
        len(plan), policy=[p for _, p, _, _ in plan], tau=[t for _, _, t, _ in plan]
    )
    classes = len(stream.classes)
    stepper = Stepper(model, contexts, stream.X.shape[1], classes, WARMUP)
    started = time.perf_counter()
    bounds = [0, WARMUP, *range(WARMUP + BLOCK, len(stream), BLOCK), len(stream)]
    for start, stop in pairwise(bounds):
        X = np.stack([lane.stream.X[start:stop] for lane in lanes])
        y = np.stack([lane.stream.y[start:stop] for lane in lanes])
        answers = stepper.test_then_train(X, y)
        if start and answers.classes.min() < 2:
            raise SystemExit(
                f"{name}: a context of one class behind the warm-up is not provided for"
            )
        for lane, proba in zip(lanes, answers.proba, strict=True):
            lane.follow(range(start, stop), Prediction(np.arange(classes), proba))
    found: dict[str, Any] = {"rows": len(stream), "of": len(whole), "lanes": {}}
    found["seconds"] = round(time.perf_counter() - started, 1)
    for (key, policy, tau, _), lane in zip(plan, lanes, strict=True):
        metrics = lane.metrics.cumulative()
        found["lanes"][key] = {
            "policy": policy,
            "tau": tau if policy == "cure" else None,
            "scored": lane.metrics.n,
            "predictions_sha256": predictions_digest(lane.predictions),
            **{metric: metrics[metric] for metric in ("accuracy", *METRICS)},
        }
    found["floors"], found["floors_shuffled"] = (lanes[i].floors.accuracies() for i in (0, -1))
    predicted = {key: lane.predictions for (key, *_), lane in zip(plan, lanes, strict=True)}
    for cure in (key for key in ("cure", "cure_fixed_tau") if key in predicted):
        found[f"{cure}_minus_dual_fifo"] = difference(
            predicted[cure], predicted["dual_fifo"], stream.y
        )
    return dict(finite(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("streams", nargs="*", help="NAME or NAME:ROWS")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="float32", choices=list(DTYPES))
    parser.add_argument("--lanes", type=int, nargs="*", default=list(LANES))
    parser.add_argument("--weights", type=Path, default=PACKAGED)
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", FOLDER)))
    arguments = parser.parse_args()
    weights = load(arguments.weights)
    device = torch.device(arguments.device)
    model = Model(Network(weights), device, DTYPES[arguments.dtype])
    path = arguments.out / "rill_device.json"
    about = {"sha256": weights.sha256, "provenance": weights.provenance}
    figures = json.loads(path.read_text()) if path.exists() else {}
    if figures.get("weights") != about:
        figures = {"weights": about, "paper": PAPER, "streams": {}, "steps": {}}
    named = torch.cuda.get_device_name() if device.type == "cuda" else "cpu"
    figures |= {"device": named, "torch": torch.__version__, "machine": machine()}
    for lanes in arguments.lanes:
        found = cost(model, lanes)
        figures["steps"][f"{lanes} {arguments.dtype}"] = found
        print(json.dumps(found), flush=True)
        write(path, figures)
    for each in arguments.streams:
        name, _, limit = each.partition(":")
        found = run(model, name, int(limit) if limit else None)
        figures["streams"][name] = {**found, "dtype": arguments.dtype}
        print(table({name: found}), flush=True)
        write(path, figures)


if __name__ == "__main__":
    main()
