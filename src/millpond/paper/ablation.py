"""The design-space ablation (the paper's appendix): CURE and the policies around it."""

from __future__ import annotations

from millpond.paper.book import Book, Setup
from millpond.paper.published import BACKBONES, POLICIES, STREAMS, ablation, published
from millpond.paper.ranks import mean_ranks
from millpond.paper.sheet import Cell, Row, Sheet, number, ranked
from millpond.paper.units import Unit

HEADS = ("CURE", "DualFIFO", "Entropy", "Redund.", "Margin", "GlobalNN", "FIFO")
NAMES = (*POLICIES, "fifo")


def units(setup: Setup) -> list[Unit]:
    return [setup.unit(stream, policy) for stream in setup.swept() for policy in NAMES]


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    rows: list[Row] = []
    complete: dict[str, dict[str, float]] = {}
    for stream in setup.swept():
        cells = [book.accuracy(setup.unit(stream, policy)) for policy in NAMES]
        six = ranked(cells[:-1])  # as in the paper; the plain window stands beside them
        rows.append(Row(STREAMS[stream], (*six, cells[-1])))
        values = {
            n: c.value for n, c in zip(POLICIES, six, strict=True) if isinstance(c.value, float)
        }
        if len(values) == len(POLICIES):
            complete[stream] = values
        paper = ablation()[stream]
        rows.append(Row("  paper", (*(number(paper[p]) for p in POLICIES), Cell("")), "paper"))
    if complete:
        found = mean_ranks(complete, [*POLICIES])
        of = "" if len(complete) == len(setup.swept()) else f" of {len(complete)}"
        cells = [number(found[p], prefix=setup.quick) for p in POLICIES]
        rows.append(Row(f"Avg. rank{of}", (*cells, Cell("")), "sum"))
    stated = published()["ablation"]["avg_rank"]
    rows.append(Row("  paper, of 6", (*(number(stated[p]) for p in POLICIES), Cell("")), "paper"))
    label = BACKBONES.get(setup.backbone, setup.backbone)
    return [
        Sheet(
            "ablation",
            f"Six policies and a plain window, {label}",
            ("Dataset", *HEADS),
            tuple(rows),
            (
                "tau of the gated policies: the paper's for CURE on that stream, chosen with TabICL-v2 "
                "and not on these results. FIFO, one window of B rows, is not in the paper. "
                "Intervals of the differences: `millpond paper significance`.",
            ),
        )
    ]
