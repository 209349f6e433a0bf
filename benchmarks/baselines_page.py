"""Writes the figures of docs/baselines.md from its results; a test holds the two together.

python benchmarks/baselines_page.py
"""

from __future__ import annotations

import json
import statistics
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Any

from baselines import PAPER, Paper
from millpond.baselines.options import TREES
from readme import LABELS

RESULTS = Path(__file__).parent / "results" / "baselines"
PAGE = Path(__file__).parents[1] / "docs" / "baselines.md"

NAMES = {
    "vfdt": "VFDT",
    "efdt": "EFDT",
    "arf": "ARF",
    "srp": "SRP",
    "levbag": "LevBag",
    "bole": "BOLE",
}
WIDTH = 116  # of the page's prose
TREE_MAY_DIFFER, ENSEMBLE_MAY_DIFFER, DEVIATIONS = 0.2, 0.3, 3  # percentage points

Runs = dict[tuple[str, str, int | None], list[dict[str, Any]]]


def sections() -> dict[str, str]:
    """What stands between the marks of docs/baselines.md, by the name in the mark."""
    runs = _runs("runs.jsonl")
    return {
        "paper": _paper(runs),
        "grid": _grid(),
        "agr": _agr(_read("tried")),
        "coding": _coding(_read("tried"), runs),
        "speed": _speed(_read("throughput")),
        "river": _river(_runs("river.jsonl"), runs),
    }


def marks(name: str) -> tuple[str, str]:
    return f"<!-- figures: {name} -->\n", f"<!-- end of figures: {name} -->\n"


# -- beside the paper ----------------------------------------------------------------------------


def allowed(method: str, paper: Paper) -> float:
    """How many points a figure may differ from the paper's and still count as reproduced."""
    if method in TREES:
        return TREE_MAY_DIFFER
    return max(ENSEMBLE_MAY_DIFFER, DEVIATIONS * (paper.std or 0.0))


def _paper(runs: Runs) -> str:
    tables, whole, good, missing = [], 0, 0, defaultdict(list)
    for stream, learners in PAPER.items():
        if stream not in LABELS:
            continue
        rows = []
        for method, paper in learners.items():
            found = runs.get((stream, method, None))
            if found:
                difference = round(_mean(found) - paper.accuracy, 2) + 0.0  # no -0.00
                reproduced = abs(difference) <= allowed(method, paper)
                whole, good = whole + 1, good + reproduced
                compared = f"{difference:+.2f} | {allowed(method, paper):.2f} | {_yes(reproduced)}"
                rows.append(_row(method, paper, _percents(found), compared, found))
            else:
                missing[LABELS[stream]].append(NAMES[method])
            for (of, by, limit), part in sorted(runs.items(), key=str):
                if (of, by) == (stream, method) and limit is not None:
                    note = f"first {limit:,} rows: {_percents(part)}"
                    rows.append(_row(method, paper, note, "| | ", part))
        tables += [
            f"**{LABELS[stream]}**",
            "",
            "| learner | grace period | tie threshold | here | seeds | paper | difference | allowed "
            "| reproduced | CPU s |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---|---:|",
            *rows,
            "",
        ]
    lines = [f"{good} of the {whole} figures of whole streams below are within what is allowed."]
    if missing:
        lines += ["", "Not run on the whole stream, for want of time:", ""]
        lines += [f"- {stream}: {', '.join(methods)}" for stream, methods in missing.items()]
    return "\n".join([*lines, "", *tables]).strip() + "\n"


def _row(method: str, paper: Paper, here: str, compared: str, runs: list[dict[str, Any]]) -> str:
    spread = "" if paper.std is None else f" ± {paper.std:.2f}"
    return (
        f"| {NAMES[method]} | {paper.grace_period} | {paper.tie_threshold} | {here} "
        f"| {'' if method in TREES else len(runs)} | {paper.accuracy:.2f}{spread} | {compared} "
        f"| {_seconds(runs)} |"
    )


def _seconds(runs: list[dict[str, Any]]) -> str:
    """Of runs that were resumed only the last part is known."""
    seconds = [run["cpu_seconds"] for run in runs if run["resumed_from"] is None]
    return f"{statistics.fmean(seconds):,.0f}" if seconds else ""


def _mean(runs: list[dict[str, Any]]) -> float:
    return 100 * statistics.fmean(run["accuracy"] for run in runs)


def _percents(runs: list[dict[str, Any]]) -> str:
    """The mean, and where there are several seeds the deviation."""
    spread = ""
    if len(runs) > 1:
        spread = f" ± {100 * statistics.stdev(run['accuracy'] for run in runs):.2f}"
    return f"{_mean(runs):.2f}{spread}"


# -- both selections -----------------------------------------------------------------------------


def _grid() -> str:
    lines = [
        "| stream | learner | seeds | paper's choice | best on the stream | accuracy | best on the "
        "first tenth | accuracy | on the rest: oracle | on the rest: honest |",
        "|---|---|---:|---|---|---:|---|---:|---:|---:|",
    ]
    same = total = 0
    losses = []
    for stream, learners in PAPER.items():
        for method, paper in learners.items():
            for path in sorted((RESULTS / "grid").glob(f"{stream}-{method}*.json")):
                found = json.loads(path.read_text())
                oracle, honest = (found["selections"][by] for by in ("oracle", "honest"))
                equals = sum(cell["first"] == honest["first"] for cell in found["configurations"])
                of_equals = f" (first of {equals} equals)" if equals > 1 else ""
                selected = f"g {paper.grace_period}, t {paper.tie_threshold}"
                total, same = total + 1, same + (_choice(oracle) == selected)
                losses.append(100 * (oracle["rest"] - honest["rest"]))
                seeds = found["configurations"][0]["seeds"]
                lines.append(
                    f"| {LABELS[stream]} | {NAMES[method]} | {'' if method in TREES else seeds} "
                    f"| {selected} | {_choice(oracle)} | {100 * oracle['accuracy']:.2f} "
                    f"| {_choice(honest)}{of_equals} | {100 * honest['accuracy']:.2f} "
                    f"| {100 * oracle['rest']:.2f} | {100 * honest['rest']:.2f} |"
                )
    said = (
        f"In {same} of {total} grids the best configuration on the stream itself is the one that the "
        "paper reports: its choice is an oracle. Chosen on the first tenth, the rest of the stream "
        f"loses {statistics.fmean(losses):.2f} points on average and {max(losses):.2f} at the most."
    )
    return "\n".join([textwrap.fill(said, WIDTH), "", *lines]) + "\n"


def _choice(of: dict[str, Any]) -> str:
    return f"g {of['grace_period']}, t {of['tie_threshold']}"


# -- AGR(A), speed, River ------------------------------------------------------------------------


def _agr(found: dict[str, Any]) -> str:
    seeds, library = found["agr_a"]["seeds"], str(found["agr_a"]["library"])
    papers = {method: PAPER["agr_a"][method].accuracy for method in TREES}
    lines = [
        f"| | mean of {len(seeds)} seeds | deviation | lowest | highest | the library's (seed "
        f"{library}) | its attributes nominal | paper |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for method in TREES:
        values = [100 * seed[method] for seed in seeds.values()]
        lines.append(
            f"| {NAMES[method]} | {statistics.fmean(values):.2f} | {statistics.stdev(values):.2f} "
            f"| {min(values):.2f} | {max(values):.2f} | {100 * seeds[library][method]:.2f} "
            f"| {100 * found['agr_a']['nominal'][method]:.2f} | {papers[method]:.2f} |"
        )

    def gap(seed: str) -> float:
        return max(abs(100 * seeds[seed][method] - papers[method]) for method in TREES)

    nearest = min(seeds, key=gap)
    both = ", ".join(f"{NAMES[method]} {100 * seeds[nearest][method]:.2f}" for method in TREES)
    lines += ["", f"The nearest to both of the paper's figures is seed {nearest}: {both}."]
    return "\n".join(lines) + "\n"


def _coding(found: dict[str, Any], runs: Runs) -> str:
    lines = ["| stream | | VFDT | EFDT |", "|---|---|---:|---:|"]
    streams = list(found["widened"])
    cases = [("float32 widened", stream, found["widened"][stream]) for stream in streams]
    cases.append(("classes sorted", "nomao", found["nomao_classes_sorted"]))
    for stream in streams:
        here = {method: _mean(runs[stream, method, None]) / 100 for method in TREES}
        paper = {method: PAPER[stream][method].accuracy / 100 for method in TREES}
        rows = [("paper", paper), ("as here", here)]
        rows += [(what, trees) for what, of, trees in cases if of == stream]
        for what, trees in rows:
            values = " | ".join(f"{100 * trees[method]:.2f}" for method in TREES)
            lines.append(f"| {LABELS[stream]} | {what} | {values} |")
    return "\n".join(lines) + "\n"


def _speed(found: dict[str, Any]) -> str:
    lines = [
        "| stream | rows | learner | rows a CPU second: here | MOA's command line | ratio | lowest, "
        f"highest of {found['repeats']} turns | with reading | processes |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for case in found["cases"]:
        loop = case["evaluation"]
        lines.append(
            f"| {LABELS[case['stream']]} | {case['rows']:,} | {NAMES[case['learner']]} "
            f"| {loop['millpond_rows_per_second']:,} | {loop['moa_command_line_rows_per_second']:,} "
            f"| {loop['ratio']:.2f} | {loop['ratios'][0]:.2f}, {loop['ratios'][-1]:.2f} "
            f"| {case['with_reading']['ratio']:.2f} | {case['whole_process']['ratio']:.2f} |"
        )
    slowest = min(case["evaluation"]["ratio"] for case in found["cases"])
    lines += ["", f"The lowest ratio of the evaluation is {slowest:.2f}."]
    return "\n".join(lines) + "\n"


def _river(runs: Runs, moas: Runs) -> str:
    lines = [
        "| stream | learner | River | MOA | River, CPU s | MOA, CPU s |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for stream, learners in PAPER.items():
        for method in learners:
            found, beside = (of.get((stream, method, None)) for of in (runs, moas))
            if found and beside:
                lines.append(
                    f"| {LABELS[stream]} | River {NAMES[method]} | {_percents(found)} "
                    f"| {_percents(beside)} | {_seconds(found)} | {_seconds(beside)} |"
                )
    return "\n".join(lines) + "\n"


# -- reading and writing -------------------------------------------------------------------------


def _runs(name: str) -> Runs:
    """The runs of each stream, learner and number of rows (None: the whole stream)."""
    found: Runs = defaultdict(list)
    for line in (RESULTS / name).read_text().splitlines():
        run = json.loads(line)
        found[run["stream"], run["method"], run["limit"]].append(run)
    return dict(found)


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return found


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def main() -> None:
    text = PAGE.read_text()
    for name, section in sections().items():
        begin, end = marks(name)
        before, _, rest = text.partition(begin)
        text = before + begin + "\n" + section + "\n" + end + rest.partition(end)[2]
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
