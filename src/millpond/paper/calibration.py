"""Whether the probabilities mean what they say: calibration error, Brier score and log loss."""

from __future__ import annotations

from millpond.paper.book import Book, Setup
from millpond.paper.published import BACKBONES, POLICIES, STREAMS
from millpond.paper.sheet import Cell, Row, Sheet, absent, number
from millpond.paper.units import Unit

NAMES = ("cure", "dual_fifo")


def units(setup: Setup) -> list[Unit]:
    return [
        setup.unit(stream, policy, backbone=backbone)
        for stream in setup.swept()
        for backbone in setup.backbones
        for policy in NAMES
    ]


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    rows = []
    for stream in setup.swept():
        for backbone in setup.backbones:
            cells = [
                cell
                for policy in NAMES
                for cell in _cells(book, setup.unit(stream, policy, backbone=backbone))
            ]
            rows.append(Row(f"{STREAMS[stream]} {BACKBONES.get(backbone, backbone)}", tuple(cells)))
    measures = ("ECE", "Brier", "log loss")
    head = ("Dataset", *(f"{POLICIES[p]} {m}" for p in NAMES for m in measures))
    note = "ECE in percent over ten bins of the largest probability; lower is better for all three."
    return [Sheet("calibration", "Calibration of the probabilities", head, tuple(rows), (note,))]


def _cells(book: Book, unit: Unit) -> list[Cell]:
    record = book.get(unit)
    if record is None:
        return [absent(book.why_not(unit))] * 3
    measures, prefix = record.facts["metrics"], record.prefix
    ece = measures["ece"]
    return [
        number(None if ece is None else 100 * ece, prefix=prefix),
        number(measures["brier"], 3, prefix=prefix),
        number(measures["log_loss"], 3, prefix=prefix),
    ]
