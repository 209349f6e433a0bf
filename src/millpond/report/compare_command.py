"""``millpond compare``: the results of several runs beside each other."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from millpond.evaluate.result import read_facts
from millpond.report.comparison import comparison

SHOWN = ("accuracy", "scored", "rows", "stream", "learner", "protocol", "metrics", "floors")


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """The words of the command."""
    words = commands.add_parser(
        "compare",
        parents=[common],
        help="finished runs beside each other",
        description="Show the results of several runs, of one stream or of many, in one table.",
    )
    words.set_defaults(command=run)
    words.add_argument("runs", nargs="+", metavar="DIR", help="folders that `run --out` wrote")


def run(chosen: argparse.Namespace, errors: Console) -> int:
    results = [read_facts(_result(Path(folder))) for folder in chosen.runs]
    if chosen.json:
        found = [
            {"run": folder} | {key: result.get(key) for key in SHOWN}
            for folder, result in zip(chosen.runs, results, strict=True)
        ]
        print(json.dumps(found, indent=1, allow_nan=False))
    else:
        Console(highlight=False).print(comparison(results))
    return 0


def _result(path: Path) -> Path:
    return path / "result.json" if path.is_dir() else path
