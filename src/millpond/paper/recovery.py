"""How long a learner takes to recover after a drift that is known: AGR(A) has three abrupt ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from millpond.paper.book import Book, Setup
from millpond.paper.published import BACKBONES, POLICIES, published
from millpond.paper.record import Record
from millpond.paper.sheet import Cell, Row, Sheet, absent, number, words
from millpond.paper.units import Unit

STREAM = "agr_a"
NAMES = ("cure", "dual_fifo", "fifo")
QUICK = 9000  # rows of a quick run: the first drift and a fifth of its concept
BEFORE, WINDOW = 2000, 500
MARGIN = 0.02


def units(setup: Setup) -> list[Unit]:
    if STREAM not in setup.streams:
        return []
    return [setup.unit(STREAM, policy, limit=_limit(setup)) for policy in NAMES]


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    if STREAM not in setup.streams:
        return []
    rows = []
    for policy in NAMES:
        unit = setup.unit(STREAM, policy, limit=_limit(setup))
        record = book.get(unit)
        for drift, end in drifts(_limit(setup)):
            name = f"{POLICIES.get(policy, 'FIFO')}, drift at {drift:,}"
            cells = (
                (absent(book.why_not(unit)),) * 4 if record is None else _cells(record, drift, end)
            )
            rows.append(Row(name, cells))
    label = BACKBONES.get(setup.backbone, setup.backbone)
    return [
        Sheet(
            "recovery",
            f"Recovery after AGR(A)'s known drifts, {label}",
            ("Policy", "before", "500 after", "rows to recover", "end of concept"),
            tuple(rows),
            (
                f"before: percent right on the {BEFORE:,} rows before the drift; 500 after and end of "
                f"concept: on its first and last {WINDOW}. Recovered when the last {WINDOW} rows, all "
                f"after the drift, are within {100 * MARGIN:g} points of before; a concept may be "
                "harder than the one before it, and then they never are.",
            ),
        )
    ]


def _limit(setup: Setup) -> int | None:
    return QUICK if setup.quick else None


def drifts(limit: int | None) -> list[tuple[int, int]]:
    """Each drift and the row at which its concept ends."""
    facts = published()["protocol"]
    steps = [*facts["agr_a_drift_steps"], facts["agr_a_rows"]]
    last = facts["agr_a_rows"] if limit is None else limit
    return [(step, min(end, last)) for step, end in pairwise(steps) if step + WINDOW <= last]


def _cells(record: Record, drift: int, end: int) -> tuple[Cell, ...]:
    _, right = record.right()
    before = float(right[drift - BEFORE : drift].mean())
    took = recovered(right[drift:end], before - MARGIN)
    prefix = record.prefix
    return (
        number(100 * before, prefix=prefix),
        number(100 * float(right[drift : drift + WINDOW].mean()), prefix=prefix),
        words("never") if took is None else number(took, 0, prefix=prefix),
        number(100 * float(right[end - WINDOW : end].mean()), prefix=prefix),
    )


def recovered(right: NDArray[np.bool_], level: float) -> int | None:
    """Rows until the last `WINDOW` of them are right at this share; None if they never are."""
    total = np.concatenate([[0], np.cumsum(right)])
    means = (total[WINDOW:] - total[:-WINDOW]) / WINDOW
    reached = np.flatnonzero(means >= level)
    return int(reached[0]) + WINDOW if len(reached) else None
