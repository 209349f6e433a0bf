"""Rill on whole streams: CURE at the paper's tau and at one fixed tau, DualFIFO, FIFO, and a control.

    python benchmarks/rill_streams.py noaa agr_a ...    # writes benchmarks/results/rill_streams.json
    python benchmarks/rill_streams.py --table           # prints what is there
    python benchmarks/rill_streams.py --so-far noaa     # what an unfinished run says, runs nothing

The policies are lanes of one run. The control is CURE on the same rows shuffled inside blocks of 100:
what is lost there, the order of rows gave. A stream may be a prefix, `poker:30000`, and is then stated
as such. Streams outside the paper (`validation/NAME.npz` in the data folder, X and y) are named by
their files. A run that was stopped goes on where it was; other weights begin anew.

tau is the paper's for each stream, never chosen on these results.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond import Stream, load_stream, prequential
from millpond.backbones.rill.weights import PACKAGED, load
from millpond.evaluate.floors import LabelFloors
from millpond.evaluate.metrics import BINS
from millpond.evaluate.result import predictions_digest
from paired import difference, so_far
from results import FOLDER, machine, write

SHUFFLED, SEED = 100, 0
FIXED_TAU = 0.3
PAPER: dict[str, dict[str, float]] = {
    "agr_a": {"tau": 0.4, "best_classical": 90.26, "cure_tabicl_v2": 90.93},
    "noaa": {"tau": 0.4, "best_classical": 79.43, "cure_tabicl_v2": 81.94},
    "nomao": {"tau": 0.3, "best_classical": 97.42, "cure_tabicl_v2": 97.87},
    "rialto": {"tau": 0.1, "best_classical": 72.45, "cure_tabicl_v2": 92.04},
    "posture_no8": {"tau": 0.2, "best_classical": 60.52, "cure_tabicl_v2": 62.10},
    "poker": {"tau": 0.3, "best_classical": 97.53, "cure_tabicl_v2": 99.60},
}
VALIDATION = ("elec2", "transient_chessboard", "2cht", "usenet2")
FACTS = ("accuracy", "scored", "predictions_sha256", "floors")
METRICS = ("balanced_accuracy", "macro_f1", "kappa", "log_loss", "brier", "ece")
Lanes = list[tuple[str, str, float, bool]]
"""name, policy, tau, whether the rows are shuffled"""


def lanes_of(name: str) -> Lanes:
    tau = PAPER.get(name, {}).get("tau", FIXED_TAU)
    lanes: Lanes = [("cure", "cure", tau, False)]
    if tau != FIXED_TAU:
        lanes.append(("cure_fixed_tau", "cure", FIXED_TAU, False))
    lanes += [("dual_fifo", "dual_fifo", tau, False), ("fifo", "fifo", tau, False)]
    return [*lanes, ("cure_shuffled", "cure", tau, True)]


def read(name: str) -> Stream:
    if name not in VALIDATION:
        return load_stream(name)
    with np.load(Path(os.environ["MILLPOND_DATA"]) / "validation" / f"{name}.npz") as archive:
        X, y = archive["X"], archive["y"]
    columns = tuple(f"x{i}" for i in range(X.shape[1]))
    return Stream(name, X, y, columns, tuple(range(int(y.max()) + 1)))


def run(name: str, limit: int | None, sha256: str, unfinished: bool) -> dict[str, Any]:
    whole = read(name)
    stream = whole if limit is None else whole.head(limit)
    mixed, lanes = stream.shuffled_within(SHUFFLED, SEED), lanes_of(name)
    streams = [mixed if shuffled else stream for _, _, _, shuffled in lanes]
    folder = Path("runs") / "rill_streams" / sha256[:12] / f"{name}-{len(stream)}"
    found: dict[str, Any] = {"of": len(whole)}
    if unfinished:
        logs = so_far(folder, len(lanes))
        measured = [_logged(each, log) for each, log in zip(streams, logs, strict=True)]
        predictions = logs["prediction"]
    else:
        results = prequential(
            streams,
            backbone="rill",
            policy=[policy for _, policy, _, _ in lanes],
            tau=[tau for _, _, tau, _ in lanes],
            out=folder,
            resume=True,
        )
        measured = [
            {fact: result.facts[fact] for fact in FACTS}
            | {metric: result.metrics[metric] for metric in METRICS}
            for result in results
        ]
        predictions = np.stack([result.predictions for result in results])
        found |= {fact: results[0].facts[fact] for fact in ("protocol", "versions")}
    found["rows"], found["lanes"] = predictions.shape[1], {}
    for (lane, policy, tau, _), facts in zip(lanes, measured, strict=True):
        found["lanes"][lane] = {
            "policy": policy,
            "tau": tau if policy == "cure" else None,
            **{name: fact for name, fact in facts.items() if name != "floors"},
        }
    found["floors"], found["floors_shuffled"] = measured[0]["floors"], measured[-1]["floors"]
    y = stream.y[: found["rows"]]
    answers = {lane[0]: own for lane, own in zip(lanes, predictions, strict=True)}
    for cure in (lane for lane in ("cure", "cure_fixed_tau") if lane in answers):
        found[f"{cure}_minus_dual_fifo"] = difference(answers[cure], answers["dual_fifo"], y)
    return found


def _logged(stream: Stream, log: NDArray[np.void]) -> dict[str, Any]:
    """What a lane's log holds of an unfinished run: no more than answers and their confidence."""
    scored = log["prediction"] >= 0
    first, floors = int(scored.argmax()), LabelFloors(len(stream.classes))
    floors.follow(stream.y[:first], scored=False)
    floors.follow(stream.y[first : len(log)], scored=True)
    right = (log["prediction"] == log["label"])[scored]
    confidence = log["confidence"][scored].astype(np.float64)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gap = np.bincount(bins, right - confidence)
    return {
        "accuracy": float(right.mean()),
        "scored": int(scored.sum()),
        "predictions_sha256": predictions_digest(log["prediction"]),
        "floors": floors.accuracies(),
        "ece": float(abs(gap).sum() / scored.sum()),
    }


def table(streams: dict[str, Any]) -> str:
    """Accuracy in percent, calibration error in percent; floors are rules that see labels only."""
    lines = [
        f"{'stream':22} {'rows':>7} {'CURE':>6} {'.3':>6} {'Dual':>6} {'FIFO':>6} {'mixed':>6} "
        f"{'ECE':>5}  {'CURE - DualFIFO [95%]':24} {'must':>6} {'aim':>6}  floor"
    ]
    for name in (*PAPER, *VALIDATION):
        if name not in streams:
            continue
        found, paper = streams[name], PAPER.get(name, {})
        lanes = found["lanes"]

        def percent(lane: str, lanes: dict[str, Any] = lanes) -> str:
            return f"{100 * lanes[lane]['accuracy']:6.2f}"

        fixed = "cure_fixed_tau" if "cure_fixed_tau" in lanes else "cure"
        rule, floor = max(found["floors"].items(), key=lambda item: item[1])
        gain = found["cure_minus_dual_fifo"]
        between = "{:+.2f} [{:+.2f}, {:+.2f}]".format(gain["points"], *gain["interval_95"])
        cells = [percent(each) for each in ("cure", fixed, "dual_fifo", "fifo", "cure_shuffled")]
        goals = [paper.get("best_classical", np.nan), paper.get("cure_tabicl_v2", np.nan)]
        size = f"{found['rows']:,}" + ("" if found["rows"] == found["of"] else "*")
        lines.append(
            f"{name:22} {size:>7} {' '.join(cells)} {100 * lanes['cure']['ece']:5.2f}  "
            f"{between:24} "
            f"{goals[0]:6.2f} {goals[1]:6.2f}  {100 * floor:.2f} {rule}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("streams", nargs="*", help="NAME or NAME:ROWS")
    parser.add_argument("--table", action="store_true", help="print what is there, run nothing")
    parser.add_argument("--so-far", action="store_true", help="of an unfinished run; run nothing")
    arguments = parser.parse_args()
    path, weights = FOLDER / "rill_streams.json", load(PACKAGED)
    about = {"sha256": weights.sha256, "provenance": weights.provenance}
    for each in [] if arguments.table else arguments.streams or [*PAPER, *VALIDATION]:
        name, _, limit = each.partition(":")
        rows = int(limit) if limit else None
        found = run(name, rows, weights.sha256, arguments.so_far)
        figures = json.loads(path.read_text()) if path.exists() else {}
        if figures.get("weights") != about:
            figures = {"weights": about, "engine": "numpy", "budget": 1000, "short_ratio": 0.75}
            figures |= {"shuffled_within": SHUFFLED, "paper": PAPER, "streams": {}}
        figures["streams"][name] = found
        write("rill_streams", {**figures, "machine": machine()})
        print(table({name: found}), flush=True)
    if path.exists():
        print(table(json.loads(path.read_text())["streams"]))


if __name__ == "__main__":
    main()
