"""Writes the figures of docs/classifier.md and docs/adapters.md; a test holds them to benchmarks/results.

python benchmarks/classifier_page.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from millpond.streams.registry import entries

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parents[1] / "docs"

LABELS = {entry.name: entry.label for entry in entries()}


def _tau() -> str:
    found = _read_those_there("tau_auto", ("rill", "knn"))
    streams, mean = found["knn"]["streams"], found["knn"]["mean"]
    best = abs(mean["auto_minus_best_fixed_of_each_stream"])
    one = abs(mean["auto_minus_best_one_tau_for_all"])
    shares = [case["admitted"]["0.3"] / case["rows"] for case in streams.values()]
    said = (
        f"Over the {len(streams)} streams with `knn`, auto ends on average {best:.2f} points below the "
        f"best fixed tau of each\nstream, {one:.2f} below the best one tau for all and "
        f"{mean['tau_0.3'] - mean['auto']:.2f} below 0.3, which admits from {min(shares):.0%} to "
        f"{max(shares):.0%} of the rows.\n"
    )
    taus = list(next(iter(found["knn"]["streams"].values()))["fixed"])
    lines = [
        said,
        f"| backbone | stream | rows | {' | '.join(f'{tau}' for tau in taus)} | auto | auto - best |",
        f"|---|---|---:|{'---:|' * (len(taus) + 2)}",
    ]
    for backbone, figures in found.items():
        streams = figures["streams"]
        for name in (name for name in LABELS if name in streams):
            case = streams[name]
            rows = f"{case['rows']:,}" if case["limit"] is None else f"first {case['rows']:,}"
            fixed = " | ".join(_marked(value, case["fixed"]) for value in case["fixed"].values())
            lines.append(
                f"| `{backbone}` | {LABELS[name]} | {rows} | {fixed} | {case['auto']:.2f} "
                f"| {case['auto_minus_best_fixed']:+.2f} |"
            )
        mean = figures["mean"]
        fixed = " | ".join(f"{mean[f'tau_{tau}']:.2f}" for tau in taus)
        lines.append(
            f"| `{backbone}` | mean | | {fixed} | {mean['auto']:.2f} "
            f"| {mean['auto_minus_best_fixed_of_each_stream']:+.2f} |"
        )
    return "\n".join(lines)


def _marked(value: float, all_of_them: dict[str, float]) -> str:
    shown = f"{value:.2f}"
    return f"**{shown}**" if value == max(all_of_them.values()) else shown


def _soak() -> str:
    lines = [
        "| backbone | lanes | budget | rows | memory, first tenth | last / first | time, last / first |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, figures in _read_those_there("soak", ("knn", "rill")).items():
        tenths = figures["tenths"]
        lines.append(
            f"| `{name}` | {figures['lanes']} | {figures['budget']} | {tenths[-1]['rows']:,} "
            f"| {tenths[0]['resident_bytes'] / 2**20:.1f} MiB "
            f"| {figures['memory_last_over_first']:.4f} | {figures['time_last_over_first']:.3f} |"
        )
    return "\n".join(lines)


def _fuzz() -> str:
    lines = [
        "| reader | seconds | executions | coverage | findings | inputs kept |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {name} | {found['seconds']} | {found['executions']:,} | {found['coverage']} "
        f"| {len(found['findings'])} | {found['inputs_kept']} |"
        for name, found in sorted(_read("fuzz")["readers"].items())
    ]
    return "\n".join(lines)


def _conformance() -> str:
    found = _read("conformance")
    lines = [
        "| library | its own checks | its evaluation against `prequential` |",
        "|---|---|---|",
    ]
    for part, label in {"river": "River", "sklearn": "scikit-learn", "capymoa": "CapyMOA"}.items():
        figures = found[part]
        checks = figures["checks"]
        if isinstance(checks, dict):
            others = {"xfail": "expected to fail"}
            counts = [f"{checks['passed']} passed"]
            counts += [
                f"{len(named) or 'none'} {others.get(status, status)}"
                for status, named in checks.items()
                if status != "passed"
            ]
            said = ", ".join(counts)
        else:
            said = "ships none"
        loops = figures.get("against_our_loop", {})
        different = sum(loop["different"] for loop in loops.values())
        scored = sum(loop["scored"] for loop in loops.values())
        agreed = f"{different or 'no'} other prediction in {scored:,} scored rows of {len(loops)} streams"
        lines.append(f"| {label} {figures['version']} | {said} | {agreed if loops else ''} |")
    return "\n".join(lines)


def _read_those_there(what: str, backbones: tuple[str, ...]) -> dict[str, Any]:
    names = [name for name in backbones if (RESULTS / f"{what}_{name}.json").exists()]
    return {name: _read(f"{what}_{name}") for name in names}


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return found


SECTIONS: dict[str, dict[str, Callable[[], str]]] = {
    "classifier.md": {"tau": _tau, "soak": _soak, "fuzz": _fuzz},
    "adapters.md": {"conformance": _conformance},
}


def written(page: str) -> str:
    """The page with its sections made anew."""
    text = (DOCS / page).read_text()
    for name, make in SECTIONS[page].items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        text, n = re.subn(
            f"{re.escape(begin)}.*?{re.escape(end)}",
            lambda _, made=make, b=begin, e=end: f"{b}{made()}\n{e}",
            text,
            flags=re.DOTALL,
        )
        assert n == 1, f"{page} has {n} sections {name}"
    return text


def main() -> None:
    for page in SECTIONS:
        (DOCS / page).write_text(written(page))


if __name__ == "__main__":
    main()
