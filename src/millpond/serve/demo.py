"""A service with something to look at: starts `millpond serve` and feeds it drifting streams.

    python -m millpond.serve.demo [--port 8765] [--seconds 600]    # then open http://127.0.0.1:8765

Two streams drift: `loans` (AGR(A), whose concept changes at a third and at two thirds) and `machine`
(two sensors, whose fault pattern turns over every 400 rows). Some quiet ones run beside them.
Labels come 20 rows late, by the id of their row.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from millpond import load_stream

DELAY = 20


def loans(rows: int = 3000) -> Iterator[tuple[Any, Any]]:
    """Thirds of AGR(A) of different concepts, each shortened."""
    stream = load_stream("agr_a")
    third = len(stream) // 3
    while True:
        for start in (0, third + 20_000, 2 * third + 20_000):
            for row in range(start, start + rows // 3):
                yield stream.X[row].tolist(), str(stream.classes[stream.y[row]])


def machine(seed: int, period: int) -> Iterator[tuple[Any, Any]]:
    """Two sensors; which of them tells of a fault changes every so often."""
    rng = np.random.default_rng(seed)
    t = 0
    while True:
        t += 1
        heat, hum = rng.normal(size=2)
        fault = heat > 0.3 if (t // period) % 2 == 0 else hum < -0.3
        shift = str(rng.choice(["day", "night"]))
        yield {"heat": float(heat), "hum": float(hum), "shift": shift}, "fault" if fault else "fine"


def post(url: str, content: Any) -> Any:
    request = urllib.request.Request(
        url, json.dumps(content).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def feed(url: str, until: float, pause: float) -> None:
    """Rows of every stream in one batch, and the labels of those that came some rows before."""
    streams = {"loans": loans(), "machine": machine(1, 400)}
    streams |= {f"quiet {k}": machine(k, 10**9) for k in range(1, 5)}
    late: dict[str, deque[tuple[int, Any]]] = {key: deque() for key in streams}
    begun, t = time.time_ns(), 0  # ids of this run alone: the service may have seen another
    while time.time() < until:
        t += 1
        operations: list[dict[str, Any]] = []
        for key, stream in streams.items():
            x, y = next(stream)
            id = f"{begun}-{t}"
            operations.append({"op": "predict", "key": key, "x": x, "id": id})
            late[key].append((t, y))
            if len(late[key]) > DELAY:
                row, label = late[key].popleft()
                operations.append({"op": "learn", "key": key, "y": label, "id": f"{begun}-{row}"})
        answers = post(f"{url}/v1/batch", {"operations": operations})["answers"]
        wrong = [answer["error"] for answer in answers if "error" in answer]
        if wrong:
            raise SystemExit(f"refused: {wrong[0]}")
        time.sleep(pause)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between batches")
    parser.add_argument("--backbone", default="knn")
    chosen = parser.parse_args()
    words = ["serve", "--port", str(chosen.port), "--budget", "200", "--backbone", chosen.backbone]
    command = [sys.executable, "-m", "millpond", *words, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            told = service.stdout.readline()
            if not told:
                raise SystemExit("the service did not start")
            url = json.loads(told)["url"]
            print(f"\n  open {url}\n", flush=True)
            wait_for(f"{url}/health")
            feed(url, time.time() + chosen.seconds, chosen.pause)
        except KeyboardInterrupt:
            pass
        finally:
            service.terminate()


def wait_for(url: str) -> None:
    for _ in range(100):
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.URLError:
            time.sleep(0.1)


if __name__ == "__main__":
    main()
