"""What a step of a published backbone costs: bare forward, millpond's session, the library's own wrapper.

    python benchmarks/backbone_steps.py tabpfn_v1 tabicl tabpfn tabdpt

adds to benchmarks/results/backbone_steps.json.

Checkpoints are random ones of the released networks' shapes, since no time depends on the values. One
thread, and that thread's own time, since the machine may be shared. In the process of each backbone Rill
steps too, so that ratios to it are of one run. The bare forward is timed inside the session's very
calls: what is left is what millpond adds. Lanes and chunks are compared with one by one.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch and NumPy are loaded
os.environ["TABPFN_DISABLE_TELEMETRY"] = "1"

import argparse
import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from millpond.backbones import get_backbone
from millpond.context import Contexts
from results import FOLDER, machine, write

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "backbones" / "published"))
import tiny_checkpoints
from tabpfn_v1_cases import CONFIG, parameters

ROWS, FEATURES = 1000, 8
LANE_ROWS = 50
CHUNK = 16


def save_tabpfn_v1(folder: Path) -> Path:
    torch.manual_seed(0)
    state = {
        name: torch.ones(shape) if "norm" in name else torch.randn(shape) / shape[-1] ** 0.5
        for name, shape in parameters(512, 12, 1024).items()
    }
    path = folder / "tabpfn_v1.cpkt"
    shape = {"emsize": 512, "nlayers": 12, "nhead": 4, "nhid_factor": 2}
    torch.save((state, None, CONFIG | shape), path)
    return path


CHECKPOINTS: dict[str, Callable[[Path], Path]] = {
    "tabpfn_v1": save_tabpfn_v1,
    "tabicl": lambda folder: tiny_checkpoints.save_tabicl(folder, full=True),
    "tabpfn": lambda folder: tiny_checkpoints.save_tabpfn(folder, full=True),
    "tabdpt": lambda folder: tiny_checkpoints.save_tabdpt(folder, full=True),
}


def wrapper(name: str, path: Path) -> Any:
    """The library's own classifier at one estimator; TabPFN-v1's needs another scikit-learn."""
    if name == "tabicl":
        from tabicl import TabICLClassifier

        return TabICLClassifier(
            n_estimators=1,
            batch_size=1,
            model_path=path,
            allow_auto_download=False,
            device="cpu",
            random_state=0,
        )
    if name == "tabpfn":
        from tabpfn import TabPFNClassifier

        return TabPFNClassifier(
            n_estimators=1,
            model_path=path,
            device="cpu",
            ignore_pretraining_limits=True,
            memory_saving_mode=False,
        )
    if name == "tabdpt":
        from tabdpt import TabDPTClassifier

        return TabDPTClassifier(
            inf_batch_size=CHUNK,
            device="cpu",
            compile=False,
            model_weight_path=str(path),
            verbose=False,
        )
    return None


class Inside:
    """Adds up the thread's time inside one of the model's calls."""

    def __init__(self, model: Any) -> None:
        self.seconds = 0.0
        place, name = (model, "_logits") if hasattr(model, "_logits") else (model, "network")
        self._call = getattr(place, name)
        if name == "network":  # keep what else the model asks of it
            self._call = place.network.forward
            place.network.forward = self
        else:
            setattr(place, name, self)

    def __call__(self, *args: Any, **options: Any) -> Any:
        begin = time.thread_time()
        found = self._call(*args, **options)
        self.seconds += time.thread_time() - begin
        return found


def contexts_of(lanes: int, rows: int) -> Contexts:
    rng = np.random.default_rng(lanes)
    contexts = Contexts(lanes, policy="fifo", budget=rows)
    for _ in range(rows):
        X = rng.standard_normal((lanes, FEATURES)).astype(np.float32)
        y = (X[:, 0] + X[:, 1] > 0).astype(np.int64)
        contexts.observe(X, y, np.zeros(lanes), list(range(lanes)))
    return contexts


def timed(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The median of the thread's seconds, and the last answer."""
    seconds, found = [], None
    for _ in range(rounds):
        begin = time.thread_time()
        found = work()
        seconds.append(time.thread_time() - begin)
    return float(np.median(seconds)), found


def step(
    name: str, path: Path, backbone: Any, inside: Inside, rows: int, rounds: int
) -> dict[str, Any]:
    contexts = contexts_of(1, rows)
    session = backbone.open(contexts)
    lane = np.array([0])
    query = np.random.default_rng(9).standard_normal((1, CHUNK, FEATURES)).astype(np.float32)
    session.predict(query[:, :1], lane)
    whole, bare = [], []
    for _ in range(rounds):
        inside.seconds, begin = 0.0, time.thread_time()
        session.predict(query[:, :1], lane)
        whole.append(time.thread_time() - begin)
        bare.append(inside.seconds)
    found: dict[str, Any] = {
        "forward_s": round(float(np.median(bare)), 4),
        "millpond_s": round(float(np.median(whole)), 4),
        "millpond_over_forward": round(sum(whole) / sum(bare), 4),
    }
    slots = contexts.slots_of(0)
    X, y = contexts.X[0, slots], contexts.y[0, slots]
    library = wrapper(name, path)
    if library is not None:
        library.fit(X[:50], y[:50]).predict_proba(query[0, :1])
        seconds, proba = timed(lambda: library.fit(X, y).predict_proba(query[0, :1]), rounds)
        (ours,) = session.predict(query[:, :1], lane)
        found |= {
            "library_s": round(seconds, 4),
            "millpond_over_library": round(found["millpond_s"] / seconds, 4),
            "largest_difference": float(np.abs(ours.proba - proba).max()),
        }
    seconds, (together,) = timed(lambda: session.predict(query, lane), 1)
    alone = np.concatenate(
        [session.predict(query[:, i : i + 1], lane)[0].proba for i in range(0, CHUNK, 5)]
    )
    difference = np.abs(together.proba[::5] - alone)
    found["chunk"] = {
        "queries": CHUNK,
        "chunk_s": round(seconds, 4),
        "rows_per_s": round(CHUNK / seconds, 2),
        "compared": len(alone),
        "largest_difference": float(difference.max()),
        "flips": int((together.proba[::5].argmax(1) != alone.argmax(1)).sum()),
    }
    return found


def lanes(backbone: Any, counts: list[int]) -> list[dict[str, Any]]:
    found = []
    for count in counts:
        contexts = contexts_of(count, LANE_ROWS)
        session = backbone.open(contexts)
        numbers = np.arange(count)
        X = np.random.default_rng(5).standard_normal((count, 1, FEATURES)).astype(np.float32)
        session.predict(X[:1], numbers[:1])
        seconds, together = timed(lambda: session.predict(X, numbers), 1)  # noqa: B023
        alone = [session.predict(X[i : i + 1], numbers[i : i + 1])[0] for i in numbers]
        pairs = list(zip(together, alone, strict=True))
        found.append(
            {
                "lanes": count,
                "rows_per_s": round(count / seconds, 2),
                "largest_difference": float(max(np.abs(a.proba - b.proba).max() for a, b in pairs)),
                "flips": sum(int(a.best()[0] != b.best()[0]) for a, b in pairs),
            }
        )
    return found


def rill(rows: int) -> float:
    """Seconds of one of Rill's steps (a query and an update) on a full context, in this process."""
    contexts = Contexts(1, policy="fifo", budget=rows)
    session = get_backbone("rill").open(contexts)
    rng, lane, seconds = np.random.default_rng(0), np.array([0]), []
    for i in range(rows + 30):
        x = rng.standard_normal((1, FEATURES)).astype(np.float32)
        begin = time.thread_time()
        if i >= rows:
            session.predict(x[:, None], lane)
        session.update(contexts.observe(x, np.array([int(x[0, 0] > 0)]), np.zeros(1), [0]))
        seconds.append(time.thread_time() - begin)
    return float(np.median(seconds[rows:]))


def measure(name: str, asked: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = CHECKPOINTS[name](Path(folder))
        backbone = get_backbone(name, weights=path)
        model = backbone._model
        found: dict[str, Any] = {
            "parameters": sum(value.numel() for value in model.network.parameters()),
            "rows": asked.rows,
            "rounds": asked.rounds,
            "rill_step_s": round(rill(asked.rows), 5),
        }
        found |= step(name, path, backbone, Inside(model), asked.rows, asked.rounds)
        found["millpond_over_rill"] = round(found["millpond_s"] / found["rill_step_s"], 1)
        found["lanes"] = lanes(backbone, asked.lanes)
    gc.collect()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("backbones", nargs="+", choices=list(CHECKPOINTS), metavar="BACKBONE")
    parser.add_argument("--rows", type=int, default=ROWS, help="of the context of a step")
    parser.add_argument("--lanes", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    path = FOLDER / "backbone_steps.json"
    for name in asked.backbones:
        found = measure(name, asked) | {"machine": machine() | {"torch": torch.__version__}}
        figures = json.loads(path.read_text()) if path.exists() else {}
        figures |= {"features": FEATURES, "classes": 2, "lane_rows": LANE_ROWS}
        figures |= {"weights": "random, of the released shapes"}
        figures.setdefault("backbones", {}).setdefault(name, {})[f"{asked.rows} rows"] = found
        write("backbone_steps", figures)
        print(name, json.dumps({k: v for k, v in found.items() if k != "machine"}), flush=True)


if __name__ == "__main__":
    main()
