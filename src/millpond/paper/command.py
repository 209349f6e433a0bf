"""``millpond paper``: the paper's tables and figures, computed here, beside the paper's numbers."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rich.console import Console

from millpond.errors import UnknownName
from millpond.paper.axes import policies
from millpond.paper.claims import claims_sheet
from millpond.paper.datasets import datasets
from millpond.paper.hyperparameters import hyperparameters
from millpond.paper.published import STREAMS
from millpond.paper.sheet import Sheet
from millpond.paper.terminal import show
from millpond.streams.registry import canonical

EXPERIMENTS = ("datasets", "hyperparameters", "policies", "claims")


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """The words of the command."""
    paper = commands.add_parser(
        "paper",
        parents=[common],
        help="the paper's tables and figures, computed here",
        description="Compute the paper's tables and figures on the streams and backbones at hand and "
        "show them beside the paper's numbers. What cannot be run says what is missing.",
    )
    paper.set_defaults(command=run)
    paper.add_argument(
        "experiments",
        nargs="*",
        metavar="EXPERIMENT",
        help=f"of {', '.join(EXPERIMENTS)}; default all",
    )
    paper.add_argument("--streams", nargs="+", metavar="NAME", help="default: the paper's seven")


def run(chosen: argparse.Namespace, errors: Console) -> int:
    wanted = _known(chosen.experiments, "experiment", EXPERIMENTS)
    streams = _known([canonical(s) for s in chosen.streams or STREAMS], "stream", STREAMS)
    made = {
        "datasets": lambda: datasets(streams, chosen.data_dir),
        "hyperparameters": lambda: hyperparameters(streams),
        "policies": policies,
        "claims": claims_sheet,
    }
    sheets: list[Sheet] = [made[name]() for name in wanted or EXPERIMENTS]
    if chosen.json:
        print(json.dumps({sheet.key: sheet.document() for sheet in sheets}, indent=1))
    else:
        show(sheets, Console(highlight=False, markup=False, emoji=False))
    return 0


def _known(names: list[str], kind: str, known: Any) -> list[str]:
    """The names in the order of the paper, each once."""
    for name in names:
        if name not in known:
            raise UnknownName(kind, name, known)
    return [name for name in known if name in names]
