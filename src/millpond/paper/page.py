"""`report.html` of a whole run: every table and figure, what could not be run, what it was run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from millpond._version import __version__
from millpond.paper.architecture import architecture
from millpond.paper.book import Book, Setup
from millpond.paper.diagrams import critical, intervals
from millpond.paper.lines import trajectory
from millpond.paper.published import BACKBONES
from millpond.paper.record import Record
from millpond.paper.sheet import Cell, Row, Sheet
from millpond.paper.significance import rankings
from millpond.paper.style import PAGE
from millpond.paper.totals import totals
from millpond.report.document import document
from millpond.report.formats import count, duration, plural
from millpond.report.markup import Markup, element, join
from millpond.report.script import SCRIPT
from millpond.report.table import facts

TITLES = {
    "main": "Main comparison",
    "floors": "Floors",
    "robustness": "Backbones",
    "ablation": "Ablation",
    "tau": "Threshold tau",
    "runtime": "Runtime",
    "trajectories": "Trajectories",
    "significance": "Significance",
    "budget": "Budget",
    "delay": "Delay and chunks",
    "recovery": "Recovery after drift",
    "calibration": "Calibration",
    "theory": "Theory",
    "datasets": "Datasets",
    "hyperparameters": "Hyper-parameters",
    "policies": "Policies",
    "claims": "Claims of the text",
}


def page(setup: Setup, book: Book, parts: Mapping[str, Sequence[Sheet]]) -> str:
    """``parts``: the sheets of each experiment that was asked for."""
    sections = [_section(name, setup, book, sheets) for name, sheets in parts.items()]
    every = [sheet for sheets in parts.values() for sheet in sheets]
    known = {*parts, "missing", "run"}
    links = [
        (n, t)
        for n, t in {**TITLES, "missing": "What is missing", "run": "This run"}.items()
        if n in known
    ]
    return document(
        "millpond: the paper's experiments",
        join(
            [
                element("a", "To the results", href="#results", class_="skip"),
                _header(setup, book, links),
                element(
                    "main",
                    *sections,
                    _part("missing", "What is missing", _missing(every)),
                    _part("run", "This run", _facts(setup, book)),
                    id="results",
                ),
            ]
        ),
        PAGE,
        SCRIPT,
    )


def _header(setup: Setup, book: Book, links: Sequence[tuple[str, str]]) -> Markup:
    what = [
        plural(len(setup.streams), "stream"),
        ", ".join(BACKBONES.get(b, b) for b in setup.backbones),
        "prefixes only (quick)" if setup.quick else "whole streams",
        plural(len(book.records), "finished result"),
    ]
    return element(
        "header",
        element("p", "millpond", element("span", "the paper's experiments"), class_="brand"),
        element("h1", "Bounded contexts on data streams: the paper, recomputed"),
        element("p", " · ".join(what), class_="what"),
        element(
            "nav",
            element(
                "ul", *(element("li", element("a", text, href=f"#{key}")) for key, text in links)
            ),
            aria_label="Contents",
        ),
    )


def _part(key: str, title: str, *children: Markup | None) -> Markup:
    heading = element("h2", title, id=f"{key}-heading")
    return element("section", heading, *children, id=key, aria_labelledby=f"{key}-heading")


def _section(name: str, setup: Setup, book: Book, sheets: Sequence[Sheet]) -> Markup:
    figures: list[Markup] = []
    if name == "policies":
        figures = [architecture(setup, book)]
    elif name == "trajectories":
        figures = [trajectory(setup, book, stream) for stream in setup.streams]
    elif name == "significance":
        diagrams = [critical(each) for each in rankings(setup, book)]
        figures = [
            element("div", *diagrams, class_="pair"),
            *(intervals(sheet) for sheet in sheets if sheet.key == "differences"),
        ]
    return _part(name, TITLES[name], *map(sheet_table, sheets), *figures)


def sheet_table(sheet: Sheet) -> Markup:
    """A table that scrolls by itself where the screen is narrow."""
    words = [
        any(isinstance(row.cells[i].value, str) for row in sheet.rows)
        for i in range(len(sheet.head) - 1)
    ]
    classes = [None, *("word" if word else None for word in words)]
    heads = [
        element("th", text, scope="col", class_=class_)
        for text, class_ in zip(sheet.head, classes, strict=True)
    ]
    head = element("thead", element("tr", *heads))
    body = element("tbody", *(_row(row, words) for row in sheet.rows))
    caption = element("caption", sheet.title, class_="unseen")
    return element(
        "div",
        element("h3", sheet.title),
        element(
            "div",
            element("table", caption, head, body),
            class_="wide",
            tabindex="0",
            role="region",
            aria_label=sheet.title,
        ),
        *(element("p", *_code(said), class_="note") for said in sheet.sentences()),
        class_="sheet",
        id=f"sheet-{sheet.key.replace('_', '-')}",
    )


def _row(row: Row, words: Sequence[bool]) -> Markup:
    cells = [
        element("td", _cell(cell), class_="word" if word else None, title=cell.missing or None)
        for cell, word in zip(row.cells, words, strict=True)
    ]
    name = row.head.strip()
    return element("tr", element("th", name, scope="row"), *cells, class_=row.kind)


def _cell(cell: Cell) -> str | Markup:
    if not cell.mark or cell.missing:
        return cell.shown
    said = element("span", f" ({cell.mark})", class_="unseen")
    return join([element("span", cell.shown, class_=cell.mark), said])


def _code(text: str) -> list[str | Markup]:
    """What stands between backticks is something to type."""
    return [element("code", part) if i % 2 else part for i, part in enumerate(text.split("`"))]


def _missing(sheets: Sequence[Sheet]) -> Markup:
    found: dict[str, list[str]] = {}
    for sheet in sheets:
        for why, places in sheet.lacking().items():
            found.setdefault(why, []).extend(f"{sheet.title}: {place}" for place in places)
    if not found:
        return element("p", "Nothing: every cell was computed.")
    return facts(
        (f"{plural(len(places), 'place')}", f"{why} ({_few(places)})")
        for why, places in found.items()
    )


def _few(places: Sequence[str]) -> str:
    return "; ".join(places[:4]) + (f"; and {len(places) - 4} more" if len(places) > 4 else "")


def _facts(setup: Setup, book: Book) -> Markup:
    records = [*book.records.values()]
    found = totals(records)
    pairs = [
        ("millpond", __version__),
        ("results", f"{count(found.units)} of {plural(found.runs, 'run')}"),
        ("rows stepped", f"{count(found.lane_rows)}, all lanes together"),
        ("time of all runs", duration(found.wall_seconds)),
        ("CPU time of all runs", duration(found.cpu_seconds)),
        ("devices", ", ".join(found.devices)),
        ("machine", _each(records, lambda r: " ".join(map(str, r.facts["machine"].values())))),
    ]
    for name in sorted({name for record in records for name in record.facts["versions"]}):
        versions = {str(r.facts["versions"][name]) for r in records if name in r.facts["versions"]}
        pairs.append((name, ", ".join(sorted(versions))))
    weights = {
        (r.unit.backbone, r.facts["weights_sha256"]) for r in records if r.facts["weights_sha256"]
    }
    pairs += [(f"weights of {name}", digest) for name, digest in sorted(weights, key=str)]
    return facts(pairs)


def _each(records: Sequence[Record], fact: Callable[[Record], str]) -> str:
    return ", ".join(sorted({text for record in records if (text := fact(record))}))
