"""Kills of a durable fleet at random points, and what was lost or done twice: see `tests/crashes.py`.

PYTHONPATH=tests python benchmarks/fleet_crashes.py [--kills 1000]    # results/fleet_crashes.json
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from crashes import figures_of
from results import machine, write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = figures_of(Path(folder) / "data", arguments.kills, arguments.seed)
    print(json.dumps(figures, indent=1))
    write("fleet_crashes", {**figures, "seed": arguments.seed, "machine": machine()})
    assert figures["same_fingerprint"]


if __name__ == "__main__":
    main()
