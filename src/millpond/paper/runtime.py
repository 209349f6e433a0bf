"""Time a step (the paper's appendix): fit, predict and evict, CURE and DualFIFO, a run each."""

from __future__ import annotations

from statistics import fmean

from millpond.paper.book import Book, Setup
from millpond.paper.published import BACKBONES, POLICIES, STREAMS, published
from millpond.paper.record import Record
from millpond.paper.sheet import Cell, Row, Sheet, absent, number, words
from millpond.paper.units import Unit

PARTS = ("total", "fit", "predict", "evict")
PAIR = ("cure", "dual_fifo")
QUICK = 2000  # rows of a quick run: evictions begin with row 1,001


def units(setup: Setup) -> list[Unit]:
    return [
        _unit(setup, stream, policy, backbone)
        for stream in setup.side()
        for backbone in setup.backbones
        for policy in PAIR
    ]


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    rows = []
    for backbone in setup.backbones:
        for policy in PAIR:
            runs = {s: book.get(_unit(setup, s, policy, backbone)) for s in setup.side()}
            found = {s: record for s, record in runs.items() if record is not None}
            label = f"{POLICIES[policy]} {BACKBONES.get(backbone, backbone)}"
            if not found:
                why = (
                    book.why_not(_unit(setup, setup.side()[0], policy, backbone))
                    if runs
                    else "no stream"
                )
                rows.append(Row(label, (absent(why),) * (len(PARTS) + 3)))
                continue
            rows.append(Row(label, _cells([*found.values()], [STREAMS[s] for s in found])))
    stated = published()["runtime_summary"]
    for policy in PAIR:
        times = [stated[policy][part] for part in PARTS]
        rows.append(
            Row(
                f"  paper {POLICIES[policy]}",
                (
                    *(number(1000 * t, 1) for t in times),
                    number(1000 * times[0], 1),
                    words("H200"),
                    Cell("7"),
                ),
                "paper",
            )
        )
    return [
        Sheet(
            "runtime",
            "Milliseconds a step, mean over streams",
            ("Method", *PARTS, "s per 1,000", "device", "streams"),
            tuple(rows),
            (
                "Each is a run of one lane; lanes that step together cost less each. evict is the update "
                "of the context, fit tells the backbone what changed. Times of a machine that others "
                "may use: compare rows of one table only.",
            ),
        )
    ]


def _unit(setup: Setup, stream: str, policy: str, backbone: str) -> Unit:
    limit = QUICK if setup.quick else None
    return setup.unit(stream, policy, backbone=backbone, limit=limit, alone=True)


def _cells(found: list[Record], names: list[str]) -> tuple[Cell, ...]:
    prefix = any(record.prefix for record in found)
    mean = {
        part: fmean(1000 * record.facts["seconds"][part] / record.facts["rows"] for record in found)
        for part in PARTS
    }
    devices = sorted({record.facts["device"] for record in found})
    return (
        *(number(mean[part], 3, prefix=prefix) for part in PARTS),
        number(mean["total"], 2, prefix=prefix),
        words(", ".join(devices)),
        words(str(len(names))),
    )
