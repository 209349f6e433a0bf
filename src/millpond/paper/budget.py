"""Accuracy against the context's budget B, and against the short bank's share rho of it."""

from __future__ import annotations

from millpond.paper.book import Book, Setup
from millpond.paper.published import BACKBONES, POLICIES, STREAMS
from millpond.paper.sheet import Row, Sheet
from millpond.paper.units import BUDGET, SHORT_RATIO, Unit

BUDGETS = (100, 250, 500, 1000, 2000, 4000)
QUICK_BUDGETS = BUDGETS[:4]  # a prefix says nothing about more
RATIOS = (0.05, 0.25, 0.5, 0.75, 0.95)
PAIR = ("cure", "dual_fifo")


def budgets(setup: Setup) -> tuple[int, ...]:
    return QUICK_BUDGETS if setup.quick else BUDGETS


def units(setup: Setup) -> list[Unit]:
    found = []
    for stream in setup.side():
        for policy in (*PAIR, "fifo"):
            found += [setup.unit(stream, policy, budget=b) for b in budgets(setup)]
        for policy in PAIR:
            found += [setup.unit(stream, policy, short_ratio=r) for r in RATIOS]
    return found


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    label = BACKBONES.get(setup.backbone, setup.backbone)
    sizes, ratios = [], []
    for stream in setup.side():
        for policy in (*PAIR, "fifo"):
            name = f"{STREAMS[stream]} {POLICIES.get(policy, 'FIFO')}"
            cells = [book.accuracy(setup.unit(stream, policy, budget=b)) for b in budgets(setup)]
            sizes.append(Row(name, tuple(cells)))
        for policy in PAIR:
            cells = [book.accuracy(setup.unit(stream, policy, short_ratio=r)) for r in RATIOS]
            end = book.accuracy(setup.unit(stream, "fifo"))
            ratios.append(Row(f"{STREAMS[stream]} {POLICIES[policy]}", (*cells, end)))
    return [
        Sheet(
            "budget",
            f"Accuracy against the budget B, rho = {SHORT_RATIO}, {label}",
            ("Dataset", *(f"{b:,}" for b in budgets(setup))),
            tuple(sizes),
        ),
        Sheet(
            "short_ratio",
            f"Accuracy against the short bank's share rho, B = {BUDGET:,}, {label}",
            ("Dataset", *(f"{r:g}" for r in RATIOS), "1 (FIFO)"),
            tuple(ratios),
        ),
    ]
