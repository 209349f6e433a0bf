"""What the context held along the stream: its two banks, and the long bank class by class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from millpond.report.figure import (
    Entry,
    area_swatch,
    figure,
    hatching,
    line_swatch,
    plain,
)
from millpond.report.formats import count, shorten
from millpond.report.markup import Markup, join
from millpond.report.run import Run, number
from millpond.report.scale import ticks
from millpond.report.svg import Frame, area_path, label, line, text_width
from millpond.report.table import behind, table
from millpond.report.timeline import chart, ends_at, frame, warmup_entry

_PLAIN, _MOST = 6, 10  # colours before hatching starts; bands in one chart

Band = tuple[str, list[int]]


def banks_figure(run: Run) -> Markup:
    """Short and long bank, stacked."""
    along = run.trajectory
    key, title = "banks", "The two banks"
    if not along.short or not along.long:
        kept = "Nothing was recorded." if run.learner.get("policy") else "No context is kept."
        return plain(key, title, kept)
    columns = [("short", along.short), ("long", along.long)]
    for name, values in (("admitted so far", along.admitted), ("evicted so far", along.evicted)):
        columns += [(name, values)] if values else []
    budget = int(number(run.learner.get("budget")) or 0)
    return figure(
        key,
        title,
        "Rows in the context; the long bank stands on the short one.",
        partial(_draw, run, key, title, columns[:2], budget),
        (360, 520),
        legend=[
            *_entries(key, columns[:2]),
            *([Entry(line_swatch("budget"), "budget", count(budget))] if budget else []),
            *warmup_entry(run),
        ],
        reads=ends_at(run),
        data=behind("Data: rows in each bank", _table(run, "Rows in each bank", columns)),
    )


def classes_figure(run: Run) -> Markup | None:
    """The long bank by class; None for a learner without a context."""
    along = run.trajectory
    key, title = "long-bank", "The long bank by class"
    if not along.long_by_class:
        return None
    bands = largest(run.classes, along.long_by_class)
    if not bands:
        return plain(key, title, "The long bank stayed empty.")
    held = sum(map(any, zip(*along.long_by_class, strict=True)))
    about = "Rows of each class, the largest at the bottom."
    if len(bands) < held:
        about = f"The {_MOST - 1} largest of the {held} classes it ever held, and the others."
    return figure(
        key,
        title,
        about,
        partial(_draw, run, key, title, bands, 0),
        (360, 520),
        legend=_entries(key, bands),
        reads=ends_at(run),
        data=behind("Data: long bank by class", _table(run, "Long bank by class", bands)),
    )


def largest(names: Sequence[str], by_class: Sequence[Sequence[int]]) -> list[Band]:
    """The classes that held most over the stream, largest first; past ten, nine and "other"."""
    columns = zip(names, map(list, zip(*by_class, strict=True)), strict=False)
    series = [(name, values) for name, values in columns if any(values)]
    series.sort(key=lambda band: -sum(band[1]))
    if len(series) <= _MOST:
        return series
    rest = [sum(point) for point in zip(*[v for _, v in series[_MOST - 1 :]], strict=True)]
    return [*series[: _MOST - 1], (f"other ({len(series) - _MOST + 1})", rest)]


def _colour(index: int) -> tuple[str, bool]:
    """Six hues plain, three of them again hatched, grey for the tenth."""
    if index == _MOST - 1:
        return "rest", False
    return f"hue{index % _PLAIN}", index >= _PLAIN


def _entries(key: str, bands: Sequence[Band]) -> list[Entry]:
    return [
        Entry(area_swatch(f"{key}-{i}", *_colour(i)), shorten(name, 40), count(values[-1]), i + 1)
        for i, (name, values) in enumerate(bands)
    ]


def _draw(run: Run, key: str, title: str, bands: Sequence[Band], budget: int, width: int) -> Markup:
    rows = run.trajectory.row
    totals = [sum(point) for point in zip(*[values for _, values in bands], strict=True)]
    high = max([*totals, budget, 1])
    plot = frame(run, width, 0, 1.04 * high, left=48, right=16)
    xs = [plot.x(row) for row in rows]
    if len(xs) == 1:  # a band needs two edges to be seen
        xs, bands = [max(xs[0] - 8, plot.left), xs[0]], [(n, values * 2) for n, values in bands]
    ident = f"{key}-{width}"
    below = [0.0] * len(xs)
    areas, names = [], []
    for i, (name, values) in enumerate(bands):
        above = [b + v for b, v in zip(below, values, strict=True)]
        lower, upper = [plot.y(b) for b in below], [plot.y(a) for a in above]
        class_, hatched = _colour(i)
        if hatched:
            areas.append(hatching(f"{ident}-{i}", class_))
            areas.append(area_path(xs, lower, upper, "area", f"url(#{ident}-{i})"))
        else:
            areas.append(area_path(xs, lower, upper, f"area {class_}"))
        names.append(_name(plot, name, "over" if hatched else class_, xs, lower, upper))
        below = above
    if budget:
        areas.append(line(plot.left, plot.y(budget), plot.right, plot.y(budget), "budget"))
    ends = ", ".join(f"{name} {count(values[-1])}" for name, values in bands)
    return chart(
        ident,
        plot,
        run,
        title=title,
        about=f"At the last recorded row: {ends}.",
        y_title="rows",
        y_ticks=[(t, count(t)) for t in ticks(0, high, 5) if t == int(t)],
        marks=[join(areas)],
        beside=names,
    )


def _name(
    plot: Frame,
    name: str,
    class_: str,
    xs: Sequence[float],
    lower: Sequence[float],
    upper: Sequence[float],
) -> Markup:
    """The band's name inside it, if there is a place tall enough."""
    text = shorten(name, 18)
    half = text_width(text) / 2 + 3
    middle = (plot.left + plot.right) / 2
    best, where = 0.0, None
    for x in xs:
        if not plot.left + half <= x <= plot.right - half:
            continue
        under = [j for j, other in enumerate(xs) if abs(other - x) <= half]
        top, bottom = max(upper[j] for j in under), min(lower[j] for j in under)
        # Past 40 pixels more height adds nothing; then the middle of the plot is nicer.
        score = min(bottom - top, 40) * (1 - abs(x - middle) / plot.width)
        if bottom - top >= 16 and score > best:
            best, where = score, (x, (top + bottom) / 2)
    if where is None:
        return Markup()
    return label(where[0], where[1] + 4, text, f"inside {class_}", "middle")


def _table(run: Run, caption: str, columns: Sequence[Band]) -> Markup:
    return table(
        caption,
        ["row", *[name for name, _ in columns]],
        (
            (count(row), *[count(values[i]) for _, values in columns])
            for i, row in enumerate(run.trajectory.row)
        ),
    )
