"""The service under wrk on loopback: with a log on disk, with one left to the operating system, without.

    python benchmarks/serve_load.py [--backbone rill] [--seconds 8]     # results/serve_load_BACKBONE.json

One connection, then 32; every request predicts or learns a row of one of 64 keys. The three services run
side by side and take turns, so that all meet the same machine. Needs wrk (Debian has it).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from millpond.errors import DataMissing
from results import machine, write

SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local turn, wrong = 0, 0
request = function()
  turn = turn + 1
  local key, a, b = turn % 64, math.random(), math.random()
  if turn % 2 == 0 then
    local body = '{"key":"k%d","x":[%f,%f,%f,%f]}'
    return wrk.format(nil, "/v1/predict", nil, body:format(key, a, b, a, b))
  end
  local body = '{"key":"k%d","x":[%f,%f,%f,%f],"y":%s}'
  return wrk.format(nil, "/v1/learn", nil, body:format(key, a, b, a, b, tostring(a > b)))
end
"""
WAYS: dict[str, list[str]] = {
    "no log": [],
    "log with the operating system": ["--no-sync"],
    "log on disk": [],
}


def load(url: str, script: Path, connections: int, seconds: int) -> dict[str, float]:
    words = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "30s"]
    said = subprocess.run(
        [*words, "--latency", "-s", str(script), url], capture_output=True, text=True, check=True
    ).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise SystemExit(said)
    found = dict(re.findall(r"(50%|99%)\s+([\d.]+\w+)", said))
    rate = re.search(r"Requests/sec:\s+([\d.]+)", said)
    assert rate
    return {
        "requests_per_second": float(rate[1]),
        "p50_ms": _ms(found["50%"]),
        "p99_ms": _ms(found["99%"]),
    }


def _ms(text: str) -> float:
    for unit, factor in (("us", 1e-3), ("ms", 1.0), ("s", 1e3)):
        if text.endswith(unit):
            return round(float(text.removesuffix(unit)) * factor, 3)
    raise ValueError(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--backbone", default="rill")
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    if shutil.which("wrk") is None:
        raise DataMissing("wrk is not installed: apt-get install wrk")
    services: dict[str, tuple[Any, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "load.lua"
        script.write_text(SCRIPT)
        try:
            for way, words in WAYS.items():
                kept = (
                    [] if way == "no log" else ["--data", str(Path(folder) / way.replace(" ", "-"))]
                )
                command = [
                    sys.executable, "-m", "millpond", "serve", "--port", "0", "--json",
                    "--backbone", chosen.backbone, "--budget", "200", *kept, *words,
                ]  # fmt: skip
                process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                assert process.stdout is not None
                services[way] = process, json.loads(process.stdout.readline())["url"]
            found = measure(services, script, chosen)
        finally:
            for process, _ in services.values():
                process.terminate()
                process.wait(timeout=30)
    figures = {"backbone": chosen.backbone, "budget": 200, "keys": 64, "cases": found}
    write(
        f"serve_load_{chosen.backbone}",
        {**figures, "load_of_the_machine": os.getloadavg()[0], "machine": machine()},
    )


def measure(services: dict[str, Any], script: Path, chosen: argparse.Namespace) -> list[Any]:
    """The median round of each service, by its rate."""
    found = []
    for connections in (1, 32):
        rounds: dict[str, list[dict[str, float]]] = {way: [] for way in services}
        for _ in range(chosen.rounds):
            for way, (_, url) in services.items():
                rounds[way].append(load(url, script, connections, chosen.seconds))
        middle = {
            way: sorted(each, key=lambda r: r["requests_per_second"])[len(each) // 2]
            for way, each in rounds.items()
        }
        for way, figures in middle.items():
            share = figures["requests_per_second"] / middle["no log"]["requests_per_second"]
            found.append(
                {"way": way, "connections": connections, **figures, "of_no_log": round(share, 3)}
            )
            print(found[-1], flush=True)
    return found


if __name__ == "__main__":
    main()
