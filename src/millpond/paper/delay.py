"""Accuracy against late labels, and against chunks that are predicted with one context."""

from __future__ import annotations

from millpond.paper.book import Book, Setup
from millpond.paper.published import BACKBONES, POLICIES, STREAMS
from millpond.paper.sheet import Cell, Row, Sheet, absent, number
from millpond.paper.units import Unit

DELAYS = (0, 10, 100, 1000)
CHUNKS = (1, 10, 100, 1000)
PAIR = ("cure", "dual_fifo")


def units(setup: Setup) -> list[Unit]:
    return [
        setup.unit(stream, policy, **protocol)
        for stream in setup.side()
        for policy in PAIR
        for protocol in (*({"delay": d} for d in DELAYS), *({"chunk": c} for c in CHUNKS))
    ]


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    label = BACKBONES.get(setup.backbone, setup.backbone)
    late, chunks, speed = [], [], []
    for stream in setup.side():
        for policy in PAIR:
            name = f"{STREAMS[stream]} {POLICIES[policy]}"
            late.append(
                Row(name, tuple(book.accuracy(setup.unit(stream, policy, delay=d)) for d in DELAYS))
            )
            own = [setup.unit(stream, policy, chunk=c) for c in CHUNKS]
            chunks.append(Row(name, tuple(map(book.accuracy, own))))
        # CURE and DualFIFO are lanes of one run here: its time is both of theirs.
        runs = [setup.unit(stream, "cure", chunk=c) for c in CHUNKS[1:]]
        speed.append(Row(STREAMS[stream], tuple(_speed(book, unit) for unit in runs)))
    return [
        Sheet(
            "delay",
            f"Accuracy against label delay in rows, {label}",
            ("Dataset", *(f"{d:,}" for d in DELAYS)),
            tuple(late),
            ("Row t's label is learned once row t + delay has been predicted.",),
        ),
        Sheet(
            "chunk",
            f"Accuracy against chunk size in rows, {label}",
            ("Dataset", *(f"{c:,}" for c in CHUNKS)),
            tuple(chunks),
            ("A chunk is predicted with one context, then learned.",),
        ),
        Sheet(
            "chunk_speed",
            f"Milliseconds a row and lane by chunk size, {label}",
            ("Dataset", *(f"{c:,}" for c in CHUNKS[1:])),
            tuple(speed),
            ("Two lanes a run, on a machine that others may use: compare a row's cells only.",),
        ),
    ]


def _speed(book: Book, unit: Unit) -> Cell:
    record = book.get(unit)
    if record is None:
        return absent(book.why_not(unit))
    steps = record.facts["rows"] * record.facts["lanes"]
    return number(1000 * record.facts["seconds"]["total"] / steps, 3, prefix=record.prefix)
