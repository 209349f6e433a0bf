"""Backbone robustness (the paper's table 2): CURE against DualFIFO, backbone by backbone."""

from __future__ import annotations

from statistics import fmean

from millpond.paper.book import Book, Setup
from millpond.paper.published import BACKBONES, STREAMS, robustness
from millpond.paper.sheet import Cell, Row, Sheet, absent, number, words
from millpond.paper.units import Unit

PAIR = ("cure", "dual_fifo")


def units(setup: Setup) -> list[Unit]:
    return [
        setup.unit(stream, policy, backbone=backbone)
        for backbone in setup.backbones
        for stream in setup.swept()
        for policy in PAIR
    ]


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    pairs = [_pairs(setup, book, backbone) for backbone in setup.backbones]
    return [_summary(setup, book), *(sheet for sheet in pairs if _any(sheet))]


def _summary(setup: Setup, book: Book) -> Sheet:
    """One line a backbone; those that were not run say why."""
    rows = []
    for backbone in dict.fromkeys([*setup.backbones, *BACKBONES]):
        gains, prefix, why = _gains(setup, book, backbone)
        paper = [r["cure"] - r["dual_fifo"] for r in robustness().get(backbone, {}).values()]
        ours = (
            (absent(why), absent(why))
            if not gains
            else (
                Cell(f"{sum(g > 0 for g in gains)} of {len(gains)}", prefix=prefix),
                number(fmean(gains), prefix=prefix, signed=True),
            )
        )
        theirs = (
            (
                words(f"{sum(g > 0 for g in paper)} of {len(paper)}"),
                number(fmean(paper), signed=True),
            )
            if paper
            else (Cell(""), Cell(""))
        )
        rows.append(Row(BACKBONES.get(backbone, backbone), (*ours, *theirs)))
    return Sheet(
        "robustness",
        "CURE above DualFIFO, by backbone",
        ("Backbone", "streams won", "mean gain", "paper: won", "paper: gain"),
        tuple(rows),
        ("Gains in points. The paper's pair for TabICL-v2 is that of its ablation.",),
    )


def _gains(setup: Setup, book: Book, backbone: str) -> tuple[list[float], bool, str]:
    """In points, on the streams where both are finished."""
    if backbone not in setup.backbones:
        return [], False, f"not asked for: --backbone {backbone}"
    gains, prefix, why = [], False, "none of the paper's six streams was asked for"
    for stream in setup.swept():
        pair = [setup.unit(stream, policy, backbone=backbone) for policy in PAIR]
        found = book.all(pair)
        if found is None:
            why = next(book.why_not(unit) for unit in pair if book.get(unit) is None)
            continue
        cure, dual = (record.accuracy for record in found)
        if cure is not None and dual is not None:
            gains.append(100 * (cure - dual))
            prefix |= found[0].prefix
    return gains, prefix, why


def _pairs(setup: Setup, book: Book, backbone: str) -> Sheet:
    rows = []
    for stream in setup.swept():
        cure, dual = (
            book.accuracy(setup.unit(stream, policy, backbone=backbone)) for policy in PAIR
        )
        paper = robustness().get(backbone, {}).get(stream)
        theirs: tuple[Cell, ...] = (Cell(""),) * 3
        if paper is not None:
            pair = (paper["cure"], paper["dual_fifo"])
            theirs = (*map(number, pair), number(pair[0] - pair[1], signed=True))
        rows.append(Row(STREAMS[stream], (cure, dual, _difference(cure, dual), *theirs)))
    label = BACKBONES.get(backbone, backbone)
    head = ("Dataset", "CURE", "DualFIFO", "gain", "paper: CURE", "DualFIFO", "gain")
    return Sheet(f"robustness_{backbone}", f"CURE and DualFIFO with {label}", head, tuple(rows))


def _difference(cure: Cell, dual: Cell) -> Cell:
    if not isinstance(cure.value, float) or not isinstance(dual.value, float):
        return absent(cure.missing or dual.missing)
    return number(cure.value - dual.value, prefix=cure.prefix, signed=True)


def _any(sheet: Sheet) -> bool:
    return any(not row.cells[0].missing for row in sheet.rows)
