"""What a fleet does in a second, and how long an operation takes, against keys, load and durability.

    python benchmarks/fleet.py throughput [--backbone rill] [--seconds 20]
    python benchmarks/fleet.py latency | durability | recovery

Each writes results/fleet_PART.json. *throughput*: rows predicted and learned a second, in batches of one
row of each of up to 64 keys, for fleets of 1, 10, 100 ... keys; one case has more keys than memory is
given, so that each of them spills and returns. Rates are also given by the process's own seconds, which
say more where the machine is shared. *latency*: p50 and p99 of an operation at shares of the rate that
one process can do, arrivals at random. *durability*: the same operations with the log on disk, with the
operating system, and none. *recovery*: seconds until a key is there again against the changes behind
its snapshot.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from millpond import Fleet
from millpond.errors import MillpondError
from millpond.fleet import Operation
from results import machine, write

FEATURES, TOGETHER, ROUNDS = 10, 64, 5


class Fed:
    """A fleet of some keys, and rows for them."""

    def __init__(self, keys: int, budget: int, fill: int, **options: Any) -> None:
        self.keys, self.budget = keys, budget
        self.fleet = Fleet(budget=budget, tau=0.0, labels=4, remember=50, waiting=50, **options)
        self._rng = np.random.default_rng(keys)
        self._t = 0
        self.rows, self.wall, self.own = 0, 0.0, 0.0
        for _ in range(fill):
            for start in range(0, keys, TOGETHER):
                self._answer("learn", range(start, min(keys, start + TOGETHER)))

    def _answer(self, verb: Any, keys: range, rows: Any = None) -> None:
        if rows is None:
            rows = self._rng.standard_normal((len(keys), FEATURES)).tolist()
        asked = [
            Operation(verb, key, x, x[0] + x[1] > 0 if verb == "learn" else None)
            for key, x in zip(keys, rows, strict=True)
        ]
        for answer in self.fleet.answer(asked):
            if isinstance(answer, MillpondError):
                raise answer

    def step(self) -> int:
        """A row of some keys predicted and learned: two calls."""
        start = self._t % self.keys
        keys = range(start, min(self.keys, start + TOGETHER))
        self._t += len(keys)
        rows = self._rng.standard_normal((len(keys), FEATURES)).tolist()
        self._answer("predict", keys, rows)
        self._answer("learn", keys, rows)
        return len(keys)

    def turn(self, seconds: float) -> None:
        wall, own = time.perf_counter(), time.process_time()
        while time.perf_counter() - wall < seconds:
            self.rows += self.step()
        self.wall += time.perf_counter() - wall
        self.own += time.process_time() - own

    def figures(self) -> dict[str, Any]:
        memory = self.fleet.memory()
        return {
            "keys": self.keys,
            "budget": self.budget,
            "resident": memory["resident"],
            "rows": self.rows,
            "rows_per_second": round(self.rows / self.wall, 1),
            "rows_per_process_second": round(self.rows / self.own, 1),
            "spilled": memory["spilled"],
            "lane_bytes": memory["lane_bytes"],
        }


CASES: dict[str, list[tuple[int, int, int, int]]] = {
    # keys, budget, keys in memory, rows of each learned before
    "rill": [(1, 1000, 1, 300), (10, 1000, 10, 60), (100, 1000, 100, 10), (10, 1000, 5, 10)],
    "knn": [
        (1, 1000, 1, 1010), (10, 1000, 10, 300), (100, 1000, 100, 60), (1000, 1000, 1000, 5),
        (10_000, 100, 10_000, 1), (1000, 1000, 500, 2),
    ],
}  # fmt: skip


def throughput(backbone: str, seconds: float) -> None:
    found = []
    for keys, budget, resident, fill in CASES[backbone]:
        fed = Fed(keys, budget, fill, backbone=backbone, resident=resident)
        fed.turn(seconds)
        found.append({**fed.figures(), "rows_before": fill})
        print(found[-1], flush=True)
        fed.fleet.close()
    first = found[0]["rows_per_process_second"]
    for case in found:
        case["over_one_key"] = round(case["rows_per_process_second"] / first, 2)
    write(
        f"fleet_throughput_{backbone}",
        {
            "features": FEATURES,
            "cases": found,
            "load_of_the_machine": os.getloadavg()[0],
            "machine": machine(),
        },
    )


def latency(backbone: str, seconds: float) -> None:
    """Operations that arrive at random: what has arrived while a batch was served is the next."""
    fed = Fed(64, 200, 220, backbone=backbone, resident=64)
    fed.turn(seconds)
    most = 2 * fed.rows / fed.wall  # predictions and labels, at 64 together
    rng, found = np.random.default_rng(1), []
    for share in (0.1, 0.3, 0.6, 0.9):
        arrivals = np.cumsum(rng.exponential(1 / (share * most), int(share * most * seconds)))
        begin, done = time.perf_counter(), 0
        took = np.empty(len(arrivals))
        batches = 0
        while done < len(arrivals):
            now = time.perf_counter() - begin
            if arrivals[done] > now:
                time.sleep(arrivals[done] - now)
                continue
            there = int(np.searchsorted(arrivals, now, "right"))
            batch = range(done, min(there, done + 512))
            x = rng.standard_normal((len(batch), FEATURES)).tolist()
            keys = rng.integers(64, size=len(batch)).tolist()
            fed.fleet.answer(
                [
                    Operation("predict", key, row)
                    if at % 2
                    else Operation("learn", key, row, row[0] > 0)
                    for at, key, row in zip(batch, keys, x, strict=True)
                ]
            )
            end = time.perf_counter() - begin
            took[batch.start : batch.stop] = end - arrivals[batch.start : batch.stop]
            done, batches = batch.stop, batches + 1
        p50, p99 = np.quantile(took, [0.5, 0.99]) * 1e3
        found.append(
            {
                "share_of_most": share,
                "operations_per_second": round(len(took) / arrivals[-1], 1),
                "p50_ms": round(p50, 2),
                "p99_ms": round(p99, 2),
                "operations_a_batch": round(len(took) / batches, 1),
            }
        )
        print(found[-1], flush=True)
    fed.fleet.close()
    write(
        f"fleet_latency_{backbone}",
        {
            "keys": 64,
            "budget": 200,
            "most_per_second": round(most, 1),
            "loads": found,
            "machine": machine(),
        },
    )


def durability(backbone: str, seconds: float) -> None:
    """The same rows three ways, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        ways: dict[str, dict[str, Any]] = {
            "no log": {},
            "log with the operating system": {"data": Path(folder) / "os", "sync": False},
            "log on disk": {"data": Path(folder) / "disk"},
        }
        found = []
        for keys in (1, 64):
            fed = {
                way: Fed(keys, 200, 220, backbone=backbone, resident=64, **_at(options, keys))
                for way, options in ways.items()
            }
            for _ in range(ROUNDS):
                for each in fed.values():
                    each.turn(seconds / ROUNDS)
            base = fed["no log"].figures()["rows_per_second"]
            for way, each in fed.items():
                figures = each.figures()
                share = round(figures["rows_per_second"] / base, 3)
                found.append({"way": way, "rows_a_commit": keys, **figures, "of_no_log": share})
                print(found[-1], flush=True)
                each.fleet.close()
    write(
        f"fleet_durability_{backbone}",
        {"cases": found, "load_of_the_machine": os.getloadavg()[0], "machine": machine()},
    )


def _at(options: dict[str, Any], keys: int) -> dict[str, Any]:
    return {**options, "data": f"{options['data']}-{keys}"} if "data" in options else options


def recovery(backbone: str, seconds: float) -> None:
    """From a folder as a kill leaves it."""
    found = []
    for changes in (0, 100, 500, 2000) if backbone == "knn" else (0, 50, 200, 500):
        with tempfile.TemporaryDirectory() as folder:
            data, left = Path(folder) / "data", Path(folder) / "left"
            options = {"backbone": backbone, "resident": 4, "snapshot_every": 10**9}
            fed = Fed(1, 1000, 50, data=data, sync=False, **options)
            fed.fleet.snapshot()
            while fed.rows * 2 < changes:
                fed.rows += fed.step()
            whole = fed.fleet.fingerprint()
            shutil.copytree(data, left)
            fed.fleet.close()
            best: dict[str, float] = {}
            for _ in range(3):
                shutil.rmtree(data)
                shutil.copytree(left, data)
                begin, own = time.perf_counter(), time.process_time()
                fleet = Fleet(
                    budget=1000, tau=0.0, labels=4, remember=50, waiting=50, data=data, **options
                )
                opened = time.perf_counter()
                fleet.describe(0)
                there, own = time.perf_counter(), time.process_time() - own
                assert fleet.fingerprint() == whole
                fleet.close()
                best["open"] = min(best.get("open", 9e9), opened - begin)
                best["key"] = min(best.get("key", 9e9), there - opened)
                best["own"] = min(best.get("own", 9e9), own)
            log = (left / "fleet.sqlite").stat().st_size + (
                left / "fleet.sqlite-wal"
            ).stat().st_size
        found.append(
            {
                "changes_behind_snapshot": changes,
                "open_seconds": round(best["open"], 4),
                "key_seconds": round(best["key"], 4),
                "process_seconds": round(best["own"], 4),
                "file_bytes": log,
            }
        )
        print(found[-1], flush=True)
    write(
        f"fleet_recovery_{backbone}",
        {
            "budget": 1000,
            "cases": found,
            "load_of_the_machine": os.getloadavg()[0],
            "machine": machine(),
        },
    )


PARTS = {part.__name__: part for part in (throughput, latency, durability, recovery)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--backbone", choices=CASES, default="rill")
    parser.add_argument("--seconds", type=float, default=20.0)
    chosen = parser.parse_args()
    print(json.dumps({"part": chosen.part, "backbone": chosen.backbone}))
    PARTS[chosen.part](chosen.backbone, chosen.seconds)


if __name__ == "__main__":
    main()
