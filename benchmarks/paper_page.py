"""Writes docs/paper.md's and docs/theory.md's tables from what is committed; a test holds them together.

    millpond paper --quick --workers 2 --out benchmarks/results/paper/quick    # the finished units
    python benchmarks/paper_page.py --theory                                   # measures the theory anew
    python benchmarks/paper_page.py                                            # renders the pages

The units' folder holds what every table is made of; report.html and work/ are not committed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from millpond.paper.book import Book, Setup
from millpond.paper.experiments import EXPERIMENTS
from millpond.paper.published import STREAMS
from millpond.paper.sheet import Sheet
from millpond.paper.store import Store
from millpond.paper.totals import totals
from results import FOLDER, machine

ROOT = Path(__file__).parents[1]
QUICK = FOLDER / "paper" / "quick"
THEORY = FOLDER / "paper" / "theory.json"
BEGIN, END = "<!-- results -->\n", "<!-- end of results -->\n"
SHOWN = (
    "main", "floors", "robustness", "ablation", "tau", "runtime", "significance", "budget", "delay",
    "recovery", "calibration", "claims",
)  # fmt: skip
"""datasets needs the data, theory has a page of its own, trajectories are for the report"""
SETUP = Setup(tuple(STREAMS), ("rill", "knn"), quick=True)


def paper_page() -> str:
    """The section of docs/paper.md, as Markdown."""
    store = Store(QUICK)
    records = store.read()
    if not records:
        return ""
    book = Book(records, store.read_failures())
    found = totals(records.values())
    weights = {r.facts["weights_sha256"][:12] for u, r in records.items() if u.backbone == "rill"}
    said = (
        f"## A quick run\n\n`millpond paper --quick --workers 2`: {found.units} results of {found.runs} "
        f"runs, {found.lane_rows:,} rows over all lanes, {found.cpu_seconds:,.0f} CPU seconds "
        f"({', '.join(found.devices)}; others used the machine, so that the clock says little). "
        f"Rill's weights: SHA-256 {', '.join(sorted(weights))}....\n"
    )
    sheets = [sheet for name in SHOWN for sheet in EXPERIMENTS[name].sheets(SETUP, book)]
    return "\n".join([said, *map(_section, sheets)])


def theory_page() -> str:
    """The section of docs/theory.md."""
    if not THEORY.exists():
        return ""
    found: dict[str, Any] = json.loads(THEORY.read_text())
    return "\n".join(_section(Sheet.read(document)) for document in found["sheets"])


def _section(sheet: Sheet) -> str:
    return f"### {sheet.title}\n\n{sheet.markdown()}"


def measure_theory() -> None:
    sheets = EXPERIMENTS["theory"].sheets(SETUP, Book({}))
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
