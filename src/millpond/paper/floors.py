"""What labels alone reach, and the block-shuffled control: to be read beside every main result."""

from __future__ import annotations

from millpond.paper.book import Book, Setup
from millpond.paper.published import BACKBONES, STREAMS, main_accuracy
from millpond.paper.sheet import Cell, Row, Sheet, absent, number, percent
from millpond.paper.units import Unit

RULES = ("nochange", "majority", "successor", "period")
BLOCK = 100  # rows that the control permutes among themselves
PAIR = ("cure", "dual_fifo")


def units(setup: Setup) -> list[Unit]:
    return [
        setup.unit(stream, policy, shuffle=shuffle)
        for stream in setup.streams
        for policy in PAIR
        for shuffle in (None, BLOCK)
    ]


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    rows = [Row(STREAMS[stream], _cells(setup, book, stream)) for stream in setup.streams]
    label = BACKBONES.get(setup.backbone, setup.backbone)
    return [
        Sheet(
            "floors",
            f"Label-only floors and the block-shuffled control, {label}",
            (
                "Dataset", "no change", "majority", "successor", "period", "CURE", "shuffled",
                "Dual FIFO", "shuffled", "paper's CURE",
            ),
            tuple(rows),
            (
                "The four rules see past labels and no feature: the last label, the most frequent one, "
                "the most frequent successor of the last one, the label a best period ago (RIALTO's "
                "labels are the row's number modulo 10).",
                f"shuffled: rows permuted within blocks of {BLOCK}. What a learner loses there it had "
                "from the order of the labels, or from neighbours in time.",
            ),
        )
    ]  # fmt: skip


def _cells(setup: Setup, book: Book, stream: str) -> tuple[Cell, ...]:
    record = next((r for p in PAIR if (r := book.get(setup.unit(stream, p))) is not None), None)
    if record is None:
        floors = [absent(book.why_not(setup.unit(stream, "cure")))] * len(RULES)
    else:
        floors = [percent(record.facts["floors"][rule], prefix=record.prefix) for rule in RULES]
    ours = [
        book.accuracy(setup.unit(stream, policy, shuffle=shuffle))
        for policy in PAIR
        for shuffle in (None, BLOCK)
    ]
    return (*floors, *ours, number(main_accuracy()[stream]["cure"]))
