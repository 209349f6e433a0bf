"""Writes the README's figures from the files in benchmarks/results; a test holds the two together.

python benchmarks/readme.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from millpond.streams.registry import entries

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"

# METER can only be fetched by hand: no figure here is of it.
LABELS = {entry.name: entry.label for entry in entries() if entry.name != "meter"}


def figures() -> str:
    """The README's section, as Markdown."""
    found = [_rill(_read("rill_streams")), _knn(_read("streams_knn")), _eviction(_read("eviction"))]
    return "\n".join(found)


def _rill(found: dict[str, Any]) -> str:
    lines = [
        "**Rill's first weights on whole streams** (`python benchmarks/rill_streams.py`), trained for",
        "17.5 minutes on synthetic streams: B = 1000, rho = 0.75, the paper's tau. Beside it the paper's",
        "best classical learner, and CURE with TabICL-v2. Other streams were not run to their end yet;",
        "more, with intervals, floors and controls: [docs/rill.md](docs/rill.md).",
        "",
        "| stream | rows | CURE | DualFIFO | best classical (paper) | CURE, TabICL-v2 (paper) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, label in LABELS.items():
        run = found["streams"].get(name)
        if run is None or run["protocol"]["limit"] is not None:
            continue
        lanes, paper = run["lanes"], found["paper"][name]
        lines.append(
            f"| {label} | {run['rows']:,} | {_percent(lanes['cure']['accuracy'])} "
            f"| {_percent(lanes['dual_fifo']['accuracy'])} "
            f"| {paper['best_classical']:.2f} | {paper['cure_tabicl_v2']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def _knn(found: dict[str, Any]) -> str:
    lines = [
        "**The `knn` floor on whole streams** (`python benchmarks/streams_knn.py`): B = 1000, rho =",
        "0.75, the paper's tau, accuracy in percent after 100 rows of warm-up. Beside it the best rule",
        "that sees only labels, on the same rows.",
        "",
        "| stream | rows | CURE | DualFIFO | labels only |",
        "|---|---:|---:|---:|---|",
    ]
    for name, label in LABELS.items():
        if name not in found["streams"]:
            continue
        runs = found["streams"][name]
        cure, dual = runs["cure"], runs["dual_fifo"]
        rule, floor = max(cure["floors"].items(), key=lambda item: item[1])
        lines.append(
            f"| {label} | {cure['rows']:,} | {_percent(cure['accuracy'])} "
            f"| {_percent(dual['accuracy'])} | {_percent(floor)} ({rule}) |"
        )
    return "\n".join(lines) + "\n"


def _eviction(found: dict[str, Any]) -> str:
    lines = [
        "**One update that ends in a CURE eviction** (`python benchmarks/eviction.py`), against the same",
        "update written down in plain NumPy, in the same run:",
        "",
        "| B | features | millpond | brute force | ratio |",
        "|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {case['budget']} | {case['features']} | {case['millpond_us']:.0f} us "
        f"| {case['brute_force_us']:.0f} us | {case['ratio']:.1f} |"
        for case in found["cases"]
    ]
    growth = found["growth"]
    lines += [
        "",
        f"Over a stream of {growth['rows']:,} rows the last tenth's median step took "
        f"{growth['late_over_early']:.2f} times the second tenth's.",
    ]
    return "\n".join(lines) + "\n"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}"


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return found


def main() -> None:
    before, _, rest = README.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(before + BEGIN + "\n" + figures() + "\n" + END + after)


if __name__ == "__main__":
    main()
