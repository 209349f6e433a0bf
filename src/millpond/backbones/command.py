"""``millpond backbones``: which backbones are ready, where their weights lie, and getting them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from millpond.backbones import BACKBONES
from millpond.backbones.published import catalogue, fetch, weights
from millpond.errors import BadOption, UnknownName
from millpond.progress_bar import Arrivals, progress_bar

WHAT = "the backbones: list them, or get one's weights"


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """The words of the command."""
    words = commands.add_parser("backbones", parents=[common], help=WHAT, description=WHAT)
    words.add_argument("action", nargs="?", choices=("list", "get"), default="list")
    words.add_argument("name", nargs="?", metavar="NAME")
    words.set_defaults(command=run)


def run(chosen: argparse.Namespace, errors: Console) -> int:
    if chosen.action == "get":
        found: Any = _get(chosen, errors)
    else:
        found = [_facts(name, chosen.data_dir) for name in BACKBONES]
    if chosen.json:
        print(json.dumps(found, indent=1, allow_nan=False))
    elif chosen.action == "list":
        Console(highlight=False, markup=False).print(_table(found))
    elif "path" in found:
        print(f"{found['name']}: {found['path']}")
        if found["state"] == "no package":
            print(f"{found['label']} also needs {found['needs']}")
    else:
        print(f"{found['name']}: built in, nothing to fetch")
    return 0


def _get(chosen: argparse.Namespace, errors: Console) -> dict[str, Any]:
    name = chosen.name
    if name is None:
        raise BadOption("millpond backbones get needs a name; see: millpond backbones list")
    if name not in BACKBONES:
        raise UnknownName("backbone", name, BACKBONES)
    if name in catalogue.NAMES:
        entry = catalogue.entry(name)
        # Before anything is fetched: some may not be used for every purpose.
        errors.print(f"{entry.label}: weights under {entry.licence}; from {entry.page}")
        with progress_bar(errors, "bytes") as bar:
            fetch.get(entry, chosen.data_dir, Arrivals(bar))
    return _facts(name, chosen.data_dir)


def _facts(name: str, data_dir: str | None) -> dict[str, Any]:
    if name not in catalogue.NAMES:
        return {"name": name, "state": "ready"}
    entry = catalogue.entry(name)
    state, path = weights.state(entry, data_dir)
    return {
        "name": name,
        "state": state,
        "label": entry.label,
        "path": str(path),
        "variable": entry.variable,
        "licence": entry.licence,
        "code": entry.code,
        "page": entry.page,
        "limits": entry.limits,
        "needs": weights.install(entry),
    }


def _table(found: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("name", "state", "weights' licence", "weights"):
        table.add_column(column, overflow="fold")
    for facts in found:
        if "path" not in facts:
            table.add_row(facts["name"], "ready", "", "built in")
            continue
        where = facts["path"]
        if facts["state"] == "no weights":
            where = f"looks in {Path(where).parent}; {facts['page']}"
        elif facts["state"] == "no package":
            where = f"needs {facts['needs']}"
        table.add_row(facts["name"], facts["state"], facts["licence"], where)
    return table
