"""The main comparison (the paper's table 1): CURE against the classical baselines, MOA's own."""

from __future__ import annotations

from statistics import fmean, stdev

from millpond.baselines.options import ENSEMBLES
from millpond.paper.book import Book, Setup
from millpond.paper.published import (
    BACKBONES,
    METHODS,
    STREAMS,
    main_accuracy,
    published,
    selected,
)
from millpond.paper.ranks import mean_ranks
from millpond.paper.sheet import Cell, Row, Sheet, absent, number, ranked
from millpond.paper.units import Unit

BASELINES = tuple(method for method in METHODS if method != "cure")
SEEDS = 5  # of the ensembles, as in the paper; trees and CURE draw nothing


def baselines(setup: Setup, stream: str, method: str) -> list[Unit]:
    """A baseline with the paper's hyper-parameters for the stream, once for each seed."""
    seeds = SEEDS if method in ENSEMBLES and not setup.quick else 1
    options = tuple(sorted(selected(stream, method).items()))
    return [
        Unit(stream, f"moa:{method}", options=options, limit=setup.limit, seed=seed)
        for seed in range(1, seeds + 1)
    ]


def unit_of(setup: Setup, stream: str, name: str) -> Unit:
    """A method's unit by its column's name; of several seeds the first."""
    for backbone in setup.backbones:
        if name == f"CURE {BACKBONES.get(backbone, backbone)}":
            return setup.unit(stream, "cure", backbone=backbone)
    return next(baselines(setup, stream, m)[0] for m in BASELINES if METHODS[m] == name)


def units(setup: Setup) -> list[Unit]:
    return [
        *(setup.unit(s, "cure", backbone=b) for s in setup.streams for b in setup.backbones),
        *(u for s in setup.streams for m in BASELINES for u in baselines(setup, s, m)),
    ]


def sheets(setup: Setup, book: Book) -> list[Sheet]:
    rows: list[Row] = []
    complete: dict[str, dict[str, float]] = {}
    columns = [
        *(f"CURE {BACKBONES.get(b, b)}" for b in setup.backbones),
        *map(METHODS.get, BASELINES),
    ]
    names = [str(column) for column in columns]
    for stream in setup.streams:
        cells = ranked(
            [
                *(book.accuracy(setup.unit(stream, "cure", backbone=b)) for b in setup.backbones),
                *(mean_of(book, baselines(setup, stream, m)) for m in BASELINES),
            ]
        )
        values = {
            n: c.value for n, c in zip(names, cells, strict=True) if isinstance(c.value, float)
        }
        if len(values) == len(names):
            complete[stream] = values
        rows.append(Row(STREAMS[stream], (_floor(setup, book, stream), *cells)))
        spreads = [_spread(book, baselines(setup, stream, m)) for m in BASELINES]
        if any(cell.text for cell in spreads):
            rows.append(
                Row("  ± over seeds", (Cell(""),) * (1 + len(setup.backbones)) + tuple(spreads))
            )
        paper = main_accuracy()[stream]
        first = [number(paper["cure"]), *[Cell("")] * (len(setup.backbones) - 1)]
        rows.append(
            Row("  paper", (Cell(""), *first, *(number(paper[m]) for m in BASELINES)), "paper")
        )
    rows += _rank_rows(setup, names, complete)
    notes = [
        "Prequential accuracy in percent after 100 rows of warm-up, B = 1000, rho = 0.75; tau and the "
        "baselines' options are the paper's for each stream. Bold: best; underlined: second.",
        "Labels: the best rule that sees past labels and no feature; see `millpond paper floors`.",
        "The paper's CURE has TabICL-v2 as its backbone.",
    ]
    head = ("Dataset", "Labels", *names)
    return [Sheet("main", "CURE and the classical baselines", head, tuple(rows), tuple(notes))]


def mean_of(book: Book, runs: list[Unit]) -> Cell:
    """Over the seeds that are there."""
    cells = [book.accuracy(unit) for unit in runs]
    values = [cell.value for cell in cells if isinstance(cell.value, float)]
    if not values:
        return cells[0]
    return number(fmean(values), prefix=any(cell.prefix for cell in cells))


def _spread(book: Book, runs: list[Unit]) -> Cell:
    found = [record for unit in runs if (record := book.get(unit)) is not None]
    values = [100 * record.accuracy for record in found if record.accuracy is not None]
    if len(values) < 2:
        return Cell("")
    return number(stdev(values), prefix=any(record.prefix for record in found))


def _floor(setup: Setup, book: Book, stream: str) -> Cell:
    """Any run on the stream knows what labels alone reach."""
    for unit in [
        *(setup.unit(stream, "cure", backbone=b) for b in setup.backbones),
        *(u for m in BASELINES for u in baselines(setup, stream, m)),
    ]:
        record = book.get(unit)
        floors = (
            [] if record is None else [f for f in record.facts["floors"].values() if f is not None]
        )
        if record is not None and floors:
            return number(100 * max(floors), prefix=record.prefix)
    return absent(book.why_not(setup.unit(stream, "cure")))


def _rank_rows(setup: Setup, names: list[str], table: dict[str, dict[str, float]]) -> list[Row]:
    blank = [Cell("")] * (len(setup.backbones) - 1)
    rows = []
    if table:
        found = mean_ranks(table, names)
        cells = [number(found[name], prefix=setup.quick) for name in names]
        which = "" if len(table) == len(setup.streams) else f" of {len(table)}"
        rows.append(Row(f"Avg. rank{which}", (Cell(""), *cells), "sum"))
    stated = published()["main_results"]["avg_rank"]
    cells = [number(stated["cure"]), *blank, *(number(stated[m]) for m in BASELINES)]
    return [*rows, Row("  paper, of 7", (Cell(""), *cells), "paper")]
