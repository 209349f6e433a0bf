"""Writes docs/paper.md's and docs/theory.md's tables from what is committed; a test holds them together.

    millpond paper --quick --workers 2 --out benchmarks/results/paper/quick     # prefixes
    millpond paper --device cuda --out benchmarks/results/paper/whole           # whole streams
    python benchmarks/paper_page.py --theory                                    # measures the theory anew
    python benchmarks/paper_page.py                                             # renders the pages

A folder's units/ and not_run.json are what every table is made of; report.html and work/ are not
committed. Beside the whole streams' units stand the results of baselines.py and of streams_knn.py.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from millpond.paper.book import Book, Setup
from millpond.paper.datasets import not_here
from millpond.paper.experiments import EXPERIMENTS
from millpond.paper.published import STREAMS, published
from millpond.paper.record import Record
from millpond.paper.sheet import Sheet
from millpond.paper.store import Store
from millpond.paper.stored import read_baselines
from millpond.paper.totals import totals
from millpond.paper.units import Unit, context
from results import FOLDER, machine

ROOT = Path(__file__).parents[1]
QUICK, WHOLE = FOLDER / "paper" / "quick", FOLDER / "paper" / "whole"
THEORY = FOLDER / "paper" / "theory.json"
BEGIN, END = "<!-- results -->\n", "<!-- end of results -->\n"
SHOWN = (
    "main", "floors", "robustness", "ablation", "tau", "runtime", "significance", "budget", "delay",
    "recovery", "calibration", "claims",
)  # fmt: skip
"""datasets needs the data, theory has a page of its own, trajectories are for the report"""
STORED = ("main", "floors", "robustness", "tau", "calibration")
"""what can be shown of results that hold accuracies and metrics only"""
STREAM_ROWS = {name: facts["rows"] for name, facts in published()["datasets"].items()}


def paper_page() -> str:
    """The section of docs/paper.md, as Markdown."""
    return "\n".join([*_whole(), *_quick()])


def _whole() -> list[str]:
    store = Store(WHOLE)
    run = store.read()
    baselines = read_baselines(FOLDER / "baselines" / "runs.jsonl")
    book = Book({**baselines, **_swept_knn(), **_knn(), **run}, store.read_failures())
    for backbones in (("rill", "knn"), ("knn",)):
        for name in SHOWN:
            for unit in EXPERIMENTS[name].units(Setup(("meter",), backbones)):
                book.failures.setdefault(unit, not_here("meter"))
    if run:
        setup, names, said = Setup(tuple(STREAMS), ("rill", "knn")), SHOWN, _took(run)
    else:
        setup, names = Setup(tuple(STREAMS), ("knn",)), STORED
        said = (
            "CURE here has `knn` as its backbone, in-context nearest neighbours, the library's floor; it "
            "and MOA's learners are the committed results of `benchmarks/streams_knn.py`, "
            "`benchmarks/tau_auto.py` and `benchmarks/baselines.py`. Rill's whole streams are for a GPU: "
            "what there is of them is in [rill.md](rill.md)."
        )
    return [f"## Whole streams\n\n{said}\n", *_sections(names, setup, book)]


def _quick() -> list[str]:
    store = Store(QUICK)
    run = store.read()
    if not run:
        return []
    setup = Setup(tuple(STREAMS), ("rill", "knn"), quick=True)
    said = f"`millpond paper --quick --workers 2`. {_took(run)}"
    sections = _sections(SHOWN, setup, Book(run, store.read_failures()))
    return [f"## A quick run\n\n{said}\n", *sections]


def _took(records: dict[Unit, Record]) -> str:
    found = totals(records.values())
    weights = {r.facts["weights_sha256"][:12] for u, r in records.items() if u.backbone == "rill"}
    return (
        f"{found.units} results of {found.runs} runs, {found.lane_rows:,} rows over all lanes, "
        f"{found.cpu_seconds:,.0f} CPU seconds and {found.wall_seconds:,.0f} by the clock, one run after "
        f"the other ({', '.join(found.devices)}; a machine that others use makes the clock say little). "
        f"Rill's weights file has the SHA-256 {', '.join(sorted(weights))}..."
    )


def _knn() -> dict[Unit, Record]:
    """What benchmarks/streams_knn.py has kept, as units."""
    found = json.loads((FOLDER / "streams_knn.json").read_text())
    records = {}
    for stream, lanes in found["streams"].items():
        for policy, kept in lanes.items():
            unit = context(stream, "knn", policy, kept["learner"]["tau"])
            facts = {**kept, "stream": {"name": stream, "rows": STREAM_ROWS[stream]}}
            records[unit] = Record(unit, facts)
    return records


def _swept_knn() -> dict[Unit, Record]:
    """What benchmarks/tau_auto.py has kept of whole streams, as units."""
    found = json.loads((FOLDER / "tau_auto_knn.json").read_text())
    records = {}
    for stream, kept in found["streams"].items():
        if kept["limit"] is not None:
            continue
        accuracies = {**{float(tau): a for tau, a in kept["fixed"].items()}, "auto": kept["auto"]}
        for tau, accuracy in accuracies.items():
            unit = context(stream, "knn", "cure", tau)
            whole = {"name": stream, "rows": STREAM_ROWS[stream]}
            facts = {"accuracy": accuracy / 100, "rows": kept["rows"], "stream": whole}
            records[unit] = Record(unit, facts)
    return records


def _sections(names: Sequence[str], setup: Setup, book: Book) -> list[str]:
    return [_section(sheet) for name in names for sheet in EXPERIMENTS[name].sheets(setup, book)]


def theory_page() -> str:
    """The section of docs/theory.md."""
    if not THEORY.exists():
        return ""
    found: dict[str, Any] = json.loads(THEORY.read_text())
    return "\n".join(_section(Sheet.read(document)) for document in found["sheets"])


def _section(sheet: Sheet) -> str:
    return f"### {sheet.title}\n\n{sheet.markdown()}"


def measure_theory() -> None:
    sheets = EXPERIMENTS["theory"].sheets(Setup((), ("rill",)), Book({}))
    found = {"sheets": [sheet.document() for sheet in sheets], "machine": machine()}
    THEORY.parent.mkdir(parents=True, exist_ok=True)
    THEORY.write_text(json.dumps(found, indent=1) + "\n")


PAGES = {"paper.md": paper_page, "theory.md": theory_page}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--theory", action="store_true", help="measure the theory's tables anew")
    if parser.parse_args().theory:
        measure_theory()
    for name, section in PAGES.items():
        path = ROOT / "docs" / name
        before, _, rest = path.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        path.write_text(f"{before}{BEGIN}\n{section().strip()}\n\n{END}{after}")


if __name__ == "__main__":
    main()
