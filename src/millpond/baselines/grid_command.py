"""``millpond grid``: the paper's hyperparameter grid of a classical baseline on one stream."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from millpond.baselines import require
from millpond.baselines.grid import Done, Grid
from millpond.baselines.selection import report
from millpond.state import write_atomically
from millpond.streams import load_stream

ORACLE = "best final accuracy on this very stream: an oracle, as in the paper"
HONEST = "best on the first 10% of the stream; see its accuracy on the rest"


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """The words of the command."""
    grid = commands.add_parser(
        "grid",
        parents=[common],
        help="the paper's grid of a classical baseline",
        description="Run a classical baseline with the paper's nine pairs of grace period and tie "
        "threshold, and choose among them as the paper did and without looking ahead.",
    )
    grid.set_defaults(command=run)
    grid.add_argument("stream", help="a name from `millpond streams list`, or a file")
    grid.add_argument("--target", metavar="COL", help="a file's label column; the last by default")
    grid.add_argument("--learner", metavar="NAME", required=True, help="moa:arf, river:vfdt ...")
    whole: dict[str, Any] = {"type": int, "metavar": "N"}
    grid.add_argument("--seeds", **whole, help="seeds 1 to N of an ensemble; default 5")
    grid.add_argument("--limit", **whole, help="use the first N rows, warm-up included")
    grid.add_argument("--workers", **whole, default=1, help="processes at a time; default 1")
    grid.add_argument("--out", metavar="DIR", help="default runs/grid/STREAM-LEARNER")
    grid.add_argument("--resume", action="store_true", help="keep what is there, do the rest")


def run(chosen: argparse.Namespace, errors: Console) -> int:
    """Exit code 0 if every configuration has a result; the others are reported all the same."""
    learner = chosen.learner.replace(":", "-")
    out = Path(chosen.out or Path("runs") / "grid" / f"{Path(chosen.stream).stem}-{learner}")
    words = [chosen.stream]
    for flag, value in (
        ("--target", chosen.target),
        ("--data-dir", chosen.data_dir),
        ("--limit", chosen.limit),
    ):
        words += [] if value is None else [flag, str(value)]
    grid = Grid(chosen.learner, words, out, chosen.seeds, chosen.resume, chosen.workers)
    grid.configurations()  # what no configuration can do without is missed once, not nine times
    require(chosen.learner)
    load_stream(chosen.stream, target=chosen.target, data_dir=chosen.data_dir)
    done = _run_with_progress(grid, errors)
    found = {"stream": chosen.stream, "learner": chosen.learner, "out": str(out), **report(done)}
    write_atomically(out / "grid.json", (json.dumps(found, indent=1) + "\n").encode())
    errors.print(f"wrote {out}/grid.json", style="dim")
    if chosen.json:
        print(json.dumps(found, indent=1, allow_nan=False))
    else:
        _show(found, Console(highlight=False, markup=False))
    return 1 if found["failed"] else 0


def _run_with_progress(grid: Grid, errors: Console) -> list[Done]:
    configurations = grid.configurations()
    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("configurations, left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("", total=len(configurations))

        def tell(done: Done) -> None:
            outcome = "done" if done.failure is None else f"failed: {done.failure}"
            errors.print(f"{done.configuration.name}: {outcome}", style="dim")
            bar.advance(task)

        return grid.run(tell)


def _show(found: dict[str, Any], console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("grace period", "tie threshold", "accuracy", "std", "first 10%", "rest", "seeds"):
        table.add_column(name, justify="right")
    for row in found["configurations"]:
        table.add_row(
            str(row["grace_period"]),
            str(row["tie_threshold"]),
            *(_percent(row[part]) for part in ("accuracy", "std", "first", "rest")),
            str(row["seeds"]),
        )
    console.print(table)
    for name, what in (("oracle", ORACLE), ("honest", HONEST)):
        choice = found["selections"][name]
        if choice is None:
            console.print(f"{name}: no configuration has all its results")
            continue
        console.print(
            f"{name}: g {choice['grace_period']}, t {choice['tie_threshold']}: "
            f"{_percent(choice['accuracy'])}, on the rest {_percent(choice['rest'])} ({what})"
        )
    for failure in found["failed"]:
        console.print(f"failed: {failure['configuration']}: {failure['reason']}")


def _percent(fraction: float | None) -> str:
    return "" if fraction is None or math.isnan(fraction) else f"{100 * fraction:.2f}"
