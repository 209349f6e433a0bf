"""Whether the policies differ by more than chance: over streams by ranks, on each stream row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from millpond.evaluate.significance import (
    block_interval,
    cliques,
    critical_difference,
    friedman,
    holm,
    mcnemar,
    wilcoxon,
)
from millpond.paper import ablation, main
from millpond.paper.book import Book, Setup
from millpond.paper.published import (
    BACKBONES,
    METHODS,
    POLICIES,
    STREAMS,
    main_accuracy,
)
from millpond.paper.published import ablation as published_ablation
from millpond.paper.record import Record
from millpond.paper.sheet import Cell, Row, Sheet, absent, number, words
from millpond.paper.units import Unit

BLOCK = 500  # rows that are resampled together
QUICK_BLOCK = 100
LEVEL = 0.05


@dataclass(frozen=True)
class Ranking:
    """Methods compared by their ranks over streams."""

    key: str
    title: str
    names: tuple[str, ...]
    table: tuple[tuple[float, ...], ...]
    """(streams, methods) percent"""
    prefix: bool = False
    paper: bool = False

    @property
    def array(self) -> NDArray[np.float64]:
        return np.array(self.table)

    @property
    def difference(self) -> float:
        """Nemenyi's critical difference at the level 5%."""
        return critical_difference(len(self.names), len(self.table), LEVEL)


def units(setup: Setup) -> list[Unit]:
    return [*main.units(setup), *ablation.units(setup)]


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    found = rankings(setup, book)
    return [_friedman(found), *(_wilcoxon(each) for each in found), _on_each_stream(setup, book)]


def rankings(setup: Setup, book: Book) -> list[Ranking]:
    """The paper's two tables, and ours where at least three streams are complete."""
    label = BACKBONES.get(setup.backbone, setup.backbone)
    policies = {
        stream: [book.accuracy(setup.unit(stream, policy)) for policy in POLICIES]
        for stream in setup.swept()
    }
    methods = {
        stream: [
            book.accuracy(setup.unit(stream, "cure")),
            *(main.mean_of(book, main.baselines(setup, stream, m)) for m in main.BASELINES),
        ]
        for stream in setup.streams
    }
    return [
        *_ours("policies", f"Policies, {label}", [*POLICIES.values()], policies),
        _theirs("policies_paper", "Policies, the paper's table", POLICIES, published_ablation()),
        *_ours("methods", f"Methods, CURE with {label}", [*METHODS.values()], methods),
        _theirs("methods_paper", "Methods, the paper's table", METHODS, main_accuracy()),
    ]


def _ours(key: str, title: str, names: list[str], cells: dict[str, list[Cell]]) -> list[Ranking]:
    rows = [
        tuple(float(cell.value) for cell in row if isinstance(cell.value, float))
        for row in cells.values()
    ]
    whole = tuple(row for row in rows if len(row) == len(names))
    prefix = any(cell.prefix for row in cells.values() for cell in row)
    return [Ranking(key, title, tuple(names), whole, prefix)] if len(whole) >= 3 else []


def _theirs(
    key: str, title: str, names: dict[str, str], table: dict[str, dict[str, float]]
) -> Ranking:
    rows = tuple(tuple(row[name] for name in names) for row in table.values())
    return Ranking(key, title, tuple(names.values()), rows, paper=True)


def _friedman(found: list[Ranking]) -> Sheet:
    rows = []
    for each in found:
        test = friedman(each.array)
        groups = cliques(test.ranks, each.difference)
        alike = "; ".join(", ".join(each.names[i] for i in group) for group in groups) or "none"
        rows.append(
            Row(
                each.title,
                (
                    number(len(each.table), 0),
                    number(test.statistic, prefix=each.prefix),
                    number(test.p, 4, prefix=each.prefix),
                    number(each.difference),
                    words(alike),
                ),
                "paper" if each.paper else "ours",
            )
        )
    return Sheet(
        "friedman",
        "Friedman's test, and Nemenyi's critical difference of mean ranks at 5%",
        ("Table", "streams", "chi2", "p", "CD", "groups that do not differ"),
        tuple(rows),
        ("With six or seven streams only large differences of ranks can be told from chance.",),
    )


def _wilcoxon(each: Ranking) -> Sheet:
    table = each.array
    ranks = friedman(table).ranks
    gains = [table[:, 0] - table[:, i] for i in range(1, len(each.names))]
    p = [wilcoxon(gain.round(9).tolist()) for gain in gains]
    rows = [
        Row(
            name,
            (
                number(ranks[i + 1], prefix=each.prefix),
                Cell(f"{int((gain > 0).sum())} of {len(gain)}", prefix=each.prefix),
                number(float(gain.mean()), prefix=each.prefix, signed=True),
                number(one, 4, prefix=each.prefix),
                number(adjusted, 4, prefix=each.prefix),
            ),
            "paper" if each.paper else "ours",
        )
        for i, (name, gain, one, adjusted) in enumerate(
            zip(each.names[1:], gains, p, holm(p), strict=True)
        )
    ]
    least = 2 / 2 ** len(each.table)
    return Sheet(
        f"wilcoxon_{each.key}",
        f"CURE against each other one: {each.title}",
        ("Against", "mean rank", "CURE above", "mean gain", "Wilcoxon p", "Holm p"),
        tuple(rows),
        (
            f"Mean rank of CURE: {ranks[0]:.2f}. Over {len(each.table)} streams the smallest p that this "
            f"exact test can give is {least:.3f}, {len(rows) * least:.3f} after Holm's correction for "
            f"{len(rows)} comparisons.",
        ),
    )


def _on_each_stream(setup: Setup, book: Book) -> Sheet:
    rows = []
    block = QUICK_BLOCK if setup.quick else BLOCK
    others = [name for name in ablation.NAMES if name != "cure"]
    for stream in setup.swept():
        cure = book.get(setup.unit(stream, "cure"))
        found = {name: book.get(setup.unit(stream, name)) for name in others}
        there = {name: record for name, record in found.items() if record is not None}
        if cure is None or not there:
            why = book.why_not(setup.unit(stream, "cure"))
            rows.append(Row(STREAMS[stream], (absent(why),) * 5))
            continue
        p = dict(zip(there, holm([_mcnemar(cure, r) for r in there.values()]), strict=True))
        for name, record in there.items():
            cells = _compared(cure, record, block, p[name])
            rows.append(Row(f"{STREAMS[stream]} {POLICIES.get(name, 'FIFO')}", cells))
    label = BACKBONES.get(setup.backbone, setup.backbone)
    return Sheet(
        "differences",
        f"CURE minus each other policy, stream by stream, {label}",
        ("Dataset and policy", "difference", "95% low", "high", "beyond chance", "McNemar p"),
        tuple(rows),
        (
            f"Points; intervals from {block}-row blocks of the stream, drawn with replacement. Exact "
            "McNemar p with Holm's correction within a stream; it takes rows for independent, which "
            "neighbours of a stream are not: trust the intervals. Learners here draw nothing at random, "
            "so seeds change nothing; the streams and their rows are what is sampled.",
        ),
    )


def _mcnemar(one: Record, other: Record) -> float:
    return mcnemar(*_both(one, other))


def _both(one: Record, other: Record) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """On the rows that both scored."""
    (scored, right), (others, theirs) = one.right(), other.right()
    kept = scored & others
    return right[kept], theirs[kept]


def _compared(cure: Record, other: Record, block: int, p: float) -> tuple[Cell, ...]:
    found = block_interval(*_both(cure, other), block)
    prefix = cure.prefix
    side = "yes" if found.beyond_zero else "no"
    return (
        *(
            number(100 * value, prefix=prefix, signed=True)
            for value in (found.value, found.low, found.high)
        ),
        words(side),
        number(p, 4, prefix=prefix),
    )
