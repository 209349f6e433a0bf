"""Selected hyper-parameters (the paper's appendix): what the main table is run with, here as there."""

from __future__ import annotations

from collections.abc import Sequence

from millpond.paper.published import METHODS, STREAMS, selected, selected_tau
from millpond.paper.sheet import Cell, Row, Sheet, number, words


def hyperparameters(streams: Sequence[str]) -> Sheet:
    methods = [method for method in METHODS if method != "cure"]
    rows = tuple(
        Row(
            STREAMS[name],
            (number(selected_tau(name), 1), *(_cell(name, method) for method in methods)),
            "paper",
        )
        for name in streams
    )
    return Sheet(
        "hyperparameters",
        "Selected hyper-parameters, as the paper gives them",
        ("Dataset", "tau", *(METHODS[method] for method in methods)),
        rows,
        (
            "g: grace period, t: tie threshold; ensembles of 90, split confidence 1e-7, NBAdaptive.",
            "Each tau is the best column of its own sweep on that very stream, an oracle's choice: see "
            "`millpond paper tau` for the choice on the first tenth. `millpond grid` runs the nine "
            "pairs of (g, t) of a baseline.",
        ),
    )


def _cell(stream: str, method: str) -> Cell:
    chosen = selected(stream, method)
    return words(f"g{chosen['grace_period']:.0f} t{chosen['tie_threshold']:g}")
