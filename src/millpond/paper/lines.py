"""Many methods along one stream: the paper's trajectory figures, all in one style."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from millpond.paper import main
from millpond.paper.book import Book, Setup
from millpond.paper.published import BACKBONES, METHODS, STREAMS
from millpond.paper.record import Record
from millpond.report.figure import Entry, figure, line_swatch, plain
from millpond.report.formats import count, percent
from millpond.report.markup import Markup, element, join
from millpond.report.scale import Scale, fit, ticks
from millpond.report.svg import Frame, axes, cursor, label, line, line_path, picture, rect, spread
from millpond.report.table import behind, table

HEIGHTS = {360: 270, 640: 340, 1040: 400}
TOP, BELOW = 30, 44


@dataclass(frozen=True)
class Line:
    """One method's cumulative accuracy; ``style`` numbers its colour and dashes."""

    name: str
    style: int
    rows: Sequence[int]
    accuracy: Sequence[float | None]

    @property
    def class_(self) -> str:
        return f"method m{self.style}"

    @property
    def last(self) -> float | None:
        return self.accuracy[-1]


def method_names(setup: Setup) -> list[str]:
    """In the order of the main table."""
    ours = [f"CURE {BACKBONES.get(b, b)}" for b in setup.backbones]
    return [*ours, *(METHODS[m] for m in main.BASELINES)]


def lines(setup: Setup, book: Book, stream: str) -> list[Line]:
    """The finished methods; a method keeps its style on every stream."""
    wanted = [(name, main.unit_of(setup, stream, name)) for name in method_names(setup)]
    found = []
    for style, (name, unit) in enumerate(wanted):
        record = book.get(unit)
        if record is not None and "trajectory" in record.facts:  # `stored` ones have none
            along = record.facts["trajectory"]
            found.append(Line(name, style, along["row"], along["accuracy"]))
    return found


def trajectory(setup: Setup, book: Book, stream: str) -> Markup:
    """The stream's figure, or a sentence that says why there is none."""
    key, title = f"along-{stream}", STREAMS[stream]
    drawn = lines(setup, book, stream)
    if not drawn:
        return plain(key, title, f"Nothing to draw: {book.why_not(setup.unit(stream, 'cure'))}.")
    record = next(r for u, r in book.records.items() if u.stream == stream)
    floor = _floor(setup, book, stream)
    low, high = _range(drawn, floor)
    about = "Cumulative accuracy."
    if setup.quick:
        rows = (drawn[0].rows[-1], record.facts["stream"]["rows"])
        about += f" The first {count(rows[0])} of {count(rows[1])} rows only."
    names = {line.name for line in drawn}
    missing = [n for n in method_names(setup) if n not in names]
    note = f"Not run: {', '.join(missing)}." if missing else ""
    if floor is not None and not low <= floor[1] <= high:
        note = f"{note} Outside the axis: {floor[0]}, {percent(floor[1])}.".strip()
    legend = [
        Entry(line_swatch(each.class_), each.name, percent(each.last), i + 1)
        for i, each in enumerate(drawn)
    ]
    if floor is not None:
        legend.append(Entry(line_swatch("floor dash0"), floor[0], percent(floor[1])))
    return figure(
        key,
        title,
        about,
        partial(_draw, key, title, drawn, floor, low, high),
        (360, 640, 1040),
        legend=legend,
        reads=f"values at row {count(drawn[0].rows[-1])}",
        note=note,
        data=behind(f"Data: {title}, accuracy by row", _table(title, drawn)),
    )


def _floor(setup: Setup, book: Book, stream: str) -> tuple[str, float] | None:
    """The best rule that sees labels only, whole stream or prefix as the lines are."""
    limits = {setup.limit}
    records: list[Record] = [
        r
        for u, r in book.records.items()
        if u.stream == stream and u.limit in limits and not u.shuffle
    ]
    floors = [(n, f) for r in records[:1] for n, f in r.facts["floors"].items() if f is not None]
    if not floors:
        return None
    name, value = max(floors, key=lambda item: item[1])
    return f"labels only ({name})", value


def _range(drawn: Sequence[Line], floor: tuple[str, float] | None) -> tuple[float, float]:
    """Fitted to the lines once they have settled, after a fifth of the rows."""
    settled = [
        a
        for each in drawn
        for row, a in zip(each.rows, each.accuracy, strict=True)
        if a is not None and row >= each.rows[-1] / 5
    ]
    low, high = min(settled), max(settled)
    if (
        floor is not None and low - 0.15 < floor[1] < high + 0.15
    ):  # farther off it would flatten them
        settled.append(floor[1])
    return fit(settled, 6)


def _draw(
    key: str,
    title: str,
    drawn: Sequence[Line],
    floor: tuple[str, float] | None,
    low: float,
    high: float,
    width: int,
) -> Markup:
    named = width >= 640
    height, last = HEIGHTS[width], max(each.rows[-1] for each in drawn)
    plot = Frame(
        width=width,
        height=height,
        x=Scale(0, last, 48, width - (100 if named else 12)),
        y=Scale(low, high, height - BELOW, TOP),
    )
    ident = f"{key}-{width}"
    clip = f"{ident}-clip"
    marks = [
        line_path(
            [plot.x(row) for row in each.rows],
            [None if a is None else plot.y(a) for a in each.accuracy],
            each.class_,
        )
        for each in reversed(drawn)  # the first method lies on top
    ]
    if floor is not None:
        marks.insert(
            0, line(plot.left, plot.y(floor[1]), plot.right, plot.y(floor[1]), "floor dash0")
        )
    values = ticks(low, high, 6 if named else 5)
    decimals = 0 if all(abs(100 * v - round(100 * v)) < 1e-6 for v in values) else 1
    ends = ", ".join(f"{each.name} {percent(each.last)}" for each in drawn)
    return picture(
        ident,
        width,
        height,
        f"{title}: accuracy along the stream",
        f"At the last row: {ends}.",
        element(
            "defs",
            element(
                "clipPath",
                rect(plot.left, plot.top, plot.right - plot.left, plot.bottom - plot.top, "clip"),
                id=clip,
            ),
        ),
        axes(
            plot,
            [(t, count(t)) for t in ticks(0, last, 8 if named else 4) if t == int(t)],
            [(v, percent(v, decimals)) for v in values],
            "row of the stream",
            "accuracy",
        ),
        element("g", join(marks), clip_path=f"url(#{clip})"),
        *(_ends(plot, drawn) if named else []),
        cursor(plot),
        class_="timeline",
    )


def _ends(plot: Frame, drawn: Sequence[Line]) -> list[Markup]:
    """The methods' names at the right ends of their lines."""
    shown = [e for e in drawn if e.last is not None and plot.y.low <= e.last <= plot.y.high]
    ys = spread([plot.y(e.last or 0.0) for e in shown], 14, plot.top, plot.bottom)
    return [
        label(plot.right + 8, y + 4, e.name, f"end m{e.style}")
        for y, e in zip(ys, shown, strict=True)
    ]


def _table(title: str, drawn: Sequence[Line]) -> Markup:
    """Rows of the first method; another that has no point there shows a dash."""
    points = [dict(zip(e.rows, e.accuracy, strict=True)) for e in drawn]
    return table(
        f"{title}: accuracy by row of the stream",
        ["row", *(e.name for e in drawn)],
        ((count(row), *(percent(p.get(row)) for p in points)) for row in drawn[0].rows),
    )
