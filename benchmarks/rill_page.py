"""Writes the figures of docs/rill.md from the files in benchmarks/results; a test holds the two together.

python benchmarks/rill_page.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "rill.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"

LABELS = {
    "agr_a": "AGR(A)",
    "noaa": "NOAA",
    "nomao": "NOMAO",
    "rialto": "RIALTO",
    "posture_no8": "POSTURE-No8",
    "poker": "POKER",
    "elec2": "Elec2 (validation)",
    "transient_chessboard": "chessboard (validation)",
    "2cht": "2CHT (validation)",
    "usenet2": "usenet2 (validation)",
}


def figures() -> str:
    """The page's section, as Markdown: a part for each result file that is there."""
    parts = {
        "rill_streams": _streams,
        "rill_parity": _parity,
        "rill_step": _step,
        "rill_classes": _classes,
        "rill_engines": _engines,
    }
    there = {name: RESULTS / f"{name}.json" for name in parts}
    written = [
        parts[name](json.loads(path.read_text())) for name, path in there.items() if path.exists()
    ]
    return "\n".join(written)


def _streams(found: dict[str, Any]) -> str:
    lines = [
        f"**Accuracy** (`python benchmarks/rill_streams.py`): B = {found['budget']}, rho = "
        f"{found['short_ratio']}, warm-up 100, percent. *Mixed*",
        f"is CURE on the same rows shuffled inside blocks of {found['shuffled_within']}; *labels* is "
        "the best rule that sees no",
        "feature. The last two columns are the paper's, on whole streams.",
        "",
        "| stream | rows | CURE, paper's tau | CURE, tau 0.3 | DualFIFO | FIFO | mixed | labels "
        "| best classical | CURE, TabICL-v2 |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    streams = {name: found["streams"][name] for name in LABELS if name in found["streams"]}
    for name, case in streams.items():
        lanes, paper = case["lanes"], found["paper"].get(name, {})
        own = "cure" if paper else None
        fixed = "cure_fixed_tau" if "cure_fixed_tau" in lanes else "cure"
        cells = [
            _percent(lanes[lane]["accuracy"]) if lane else ""
            for lane in (own, fixed, "dual_fifo", "fifo", "cure_shuffled")
        ]
        rule, floor = max(case["floors"].items(), key=lambda item: item[1])
        goals = [f"{paper[goal]:.2f}" if paper else "" for goal in _GOALS]
        row = [LABELS[name], _rows(case), *cells, f"{_percent(floor)} ({rule})", *goals]
        lines.append(f"| {' | '.join(row)} |")
    lines += [
        "",
        "Points by which CURE is above DualFIFO (paired 95% interval of a block bootstrap), and the "
        "expected",
        "calibration error of CURE, in points:",
        "",
        "| stream | paper's tau | tau 0.3 | calibration error |",
        "|---|---:|---:|---:|",
    ]
    for name, case in streams.items():
        own = case["cure_minus_dual_fifo"] if name in found["paper"] else None
        fixed = case.get("cure_fixed_tau_minus_dual_fifo", case["cure_minus_dual_fifo"])
        ece = f"{100 * case['lanes']['cure']['ece']:.2f}"
        lines.append(f"| {LABELS[name]} | {_points(own)} | {_points(fixed)} | {ece} |")
    made = found["weights"]["provenance"]
    lines += [
        "",
        f"Weights {found['weights']['sha256'][:12]}: {made['step']:,} steps, "
        f"{made['seconds'] / 60:.1f} minutes on one {made['device']}.",
    ]
    return "\n".join(lines) + "\n"


def _parity(found: dict[str, Any]) -> str:
    lines = [
        "**A cache against a context encoded afresh** (`python benchmarks/rill_parity.py`): points by "
        "which a session",
        "that encodes its whole context afresh at every 16th, 64th or 256th row is above the one that "
        "ships, which never",
        "does (paired 95% interval).",
        "",
        "| stream, policy | rows | B | as it ships | every 16 | every 64 | every 256 |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for case in found["cases"].values():
        name = f"{LABELS[case['stream']]}, {case['policy']}"
        ships = _percent(case["accuracy_by_rows_between"]["0"])
        gains = [_points(case["afresh_minus_shipped"][every]) for every in ("16", "64", "256")]
        rows = _rows(case)
        lines.append(f"| {name} | {rows} | {case['budget']} | {ships} | {' | '.join(gains)} |")
    return "\n".join(lines) + "\n"


def _step(found: dict[str, Any]) -> str:
    ratios, one = found["ratios_of_thread_time"], found["cases"][0]
    lines = [
        "**A step** (`python benchmarks/rill_step.py`): one prediction and one update with its CURE "
        f"eviction, B = {found['budget']}, {found['features']}",
        "features, one thread of a shared machine, in milliseconds of the thread's own time.",
        "",
        "| lanes | mean | median | p99 | slowest | rows a second |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for case in found["cases"]:
        ms = case["thread_ms"]
        cells = [f"{ms[name]:.2f}" for name in ("mean", "median", "p99", "max")]
        rate = f"{case['rows_per_thread_second']:,.0f}"
        lines.append(f"| {case['lanes']} | {' | '.join(cells)} | {rate} |")
    lines += [
        "",
        f"The slowest of one lane's {one['steps']:,} steps took {ratios['max_over_median']} medians, "
        f"of the {one['steps_not_interrupted']:,} that the system did not interrupt "
        f"{ratios['max_over_median_not_interrupted']}.",
        f"{found['cases'][-1]['lanes']} lanes do {ratios['lanes_rows_per_second']} times the rows a "
        "second of one lane on the same thread.",
    ]
    if "tabicl_v2" in found:
        lines.append(
            "A step of TabICL-v2 (its network alone, random weights, in turns with Rill's) takes "
            f"{ratios['tabicl_v2_step']:.0f} of Rill's."
        )
    seconds = found["seconds"]
    lines += [
        f"State: {one['state_bytes_per_lane']:,} bytes a lane, whatever has passed. Import and load "
        f"of the weights take {seconds['own_import'] + seconds['own_load']:.2f} s",
        "of the process's own time.",
    ]
    return "\n".join(lines) + "\n"


def _classes(found: dict[str, Any]) -> str:
    lines = [
        "**Many classes** (`python benchmarks/rill_classes.py`): FIFO, B = 1000, "
        f"{found['rows']:,} rows of streams that are not",
        "the training prior's, percent.",
        "",
        "| stream, classes | Rill | 1-NN on the same context |",
        "|---|---:|---:|",
    ]
    for name, case in found["streams"].items():
        lines.append(f"| {name} | {case['rill']:.2f} | {case['one_nearest']:.2f} |")
    return "\n".join(lines) + "\n"


def _engines(found: dict[str, Any]) -> str:
    lines = [
        f"**Engines** (`python benchmarks/rill_engines.py`): {found['rows']:,} rows with CURE's "
        "evictions, B = 1000; how far torch's",
        f"probabilities ({found['device']}) are from NumPy's, and how many answers differ.",
        "",
        "| stream | float32, largest | answers | bfloat16, largest | answers |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, case in found["streams"].items():
        cells = []
        for dtype in ("float32", "bfloat16"):
            apart = case["torch"][dtype]
            cells += [f"{apart['largest_difference']:.1e}", str(apart["labels_that_flip"])]
        lines.append(f"| {LABELS[name]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


_GOALS = ("best_classical", "cure_tabicl_v2")


def _rows(case: dict[str, Any]) -> str:
    rows, of = case["rows"], case["of"]
    return f"{rows:,}" if rows == of else f"first {rows:,} of {of:,}"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}"


def _points(gain: dict[str, Any] | None) -> str:
    if gain is None:
        return ""
    low, high = gain["interval_95"]
    return f"{gain['points']:+.2f} [{low:+.2f}, {high:+.2f}]"


def main() -> None:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + "\n" + figures() + "\n" + END + after)


if __name__ == "__main__":
    main()
