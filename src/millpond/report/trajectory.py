"""Accuracy along the stream, cumulative and over the last rows, beside the label-only rules."""

from __future__ import annotations

from functools import partial

from millpond.report.figure import Entry, figure, line_swatch, plain
from millpond.report.formats import count, percent
from millpond.report.markup import Markup
from millpond.report.run import Floor, Run
from millpond.report.scale import fit, ticks
from millpond.report.svg import Frame, dot, label, line, line_path, spread
from millpond.report.table import behind, table
from millpond.report.timeline import chart, ends_at, frame, warmup_entry

_KEY, _TITLE = "trajectory", "Accuracy"


def trajectory_figure(run: Run) -> Markup:
    """The whole figure, or a sentence when nothing was scored."""
    along = run.trajectory
    if not any(a is not None for a in along.accuracy + along.window):
        return plain(_KEY, _TITLE, "No row was scored, so there is no accuracy to draw.")
    low, high = _range(run)
    off = [f for f in run.floors if not low <= f.accuracy <= high]
    note = ", ".join(f"{f.name} {percent(f.accuracy)}" for f in off)
    return figure(
        _KEY,
        _TITLE,
        "Dashed: rules that see past labels and no feature.",
        partial(_draw, run, low, high),
        (360, 640, 1040),
        legend=[
            Entry(line_swatch("cumulative"), "cumulative", percent(along.accuracy[-1]), 1),
            Entry(line_swatch("windowed"), _window_name(run), percent(along.window[-1]), 2),
            *[Entry(line_swatch(_dash(run, f)), f.name, percent(f.accuracy)) for f in run.floors],
            *warmup_entry(run),
        ],
        reads=ends_at(run),
        note=f"Outside the axis: {note}." if note else "",
        data=behind("Data: accuracy by row", _table(run)),
    )


def _window_name(run: Run) -> str:
    return f"last {count(run.window)} rows" if run.window else "windowed"


def _dash(run: Run, floor: Floor) -> str:
    return f"floor dash{run.floors.index(floor) % 4}"


def _range(run: Run) -> tuple[float, float]:
    """Fitted to the curves once they have settled, and the best floor.

    The first points are averages of a few rows and would flatten everything else; they are drawn,
    and cut off where they leave the plot.
    """
    along = run.trajectory
    settled = run.warmup + min(run.window or run.rows, run.rows // 20)
    pairs = [
        (row, a)
        for row, *both in zip(along.row, along.accuracy, along.window, strict=True)
        for a in both
        if a is not None
    ]
    values = [a for row, a in pairs if row >= settled] or [a for _, a in pairs]
    return fit(values + [floor.accuracy for floor in run.floors[:1]], 6)


def _draw(run: Run, low: float, high: float, width: int) -> Markup:
    along = run.trajectory
    named = width >= 640
    plot = frame(run, width, low, high, left=48, right=112 if named else 12)
    xs = [plot.x(row) for row in along.row]
    marks = [
        *[
            line(plot.left, plot.y(f.accuracy), plot.right, plot.y(f.accuracy), _dash(run, f))
            for f in run.floors
        ],
        line_path(xs, [None if a is None else plot.y(a) for a in along.window], "windowed"),
        line_path(xs, [None if a is None else plot.y(a) for a in along.accuracy], "cumulative"),
    ]
    values = ticks(low, high, 6 if width >= 640 else 5)
    decimals = 0 if all(abs(100 * v - round(100 * v)) < 1e-6 for v in values) else 1
    known = [a for a in along.window if a is not None]
    about = f"Cumulative accuracy ends at {percent(along.accuracy[-1])}."
    if known:
        about += f" Windowed accuracy lies between {percent(min(known))} and {percent(max(known))}."
    if run.floor:
        about += f" The best label-only rule, {run.floor.name}, has {percent(run.floor.accuracy)}."
    return chart(
        f"{_KEY}-{width}",
        plot,
        run,
        title=_TITLE,
        about=about,
        y_title="accuracy",
        y_ticks=[(v, percent(v, decimals)) for v in values],
        marks=marks,
        beside=[*_single(run, plot), *(_names(run, plot) if named else [])],
    )


def _single(run: Run, plot: Frame) -> list[Markup]:
    """Dots for a trajectory of one point, which has no line to draw."""
    along = run.trajectory
    if len(along.row) > 1:
        return []
    both = ((along.window[0], "dot windowed"), (along.accuracy[0], "dot cumulative"))
    return [
        dot(plot.x(along.row[0]), plot.y(a), 4.5, class_) for a, class_ in both if a is not None
    ]


def _names(run: Run, plot: Frame) -> list[Markup]:
    """The lines' names at their right ends."""
    along = run.trajectory
    ends = [
        (along.accuracy[-1], "cumulative", "end cumulative"),
        (along.window[-1], _window_name(run), "end windowed"),
        *[(f.accuracy, f.name, "end floor") for f in run.floors],
    ]
    shown = [e for e in ends if e[0] is not None and plot.y.low <= e[0] <= plot.y.high]
    ys = spread([plot.y(a or 0.0) for a, _, _ in shown], 15, plot.top, plot.bottom)
    return [
        label(plot.right + 8, y + 4, name, class_)
        for y, (_, name, class_) in zip(ys, shown, strict=True)
    ]


def _table(run: Run) -> Markup:
    along = run.trajectory
    return table(
        "Accuracy by row of the stream",
        ["row", "cumulative", _window_name(run)],
        (
            (count(row), percent(a), percent(w))
            for row, a, w in zip(along.row, along.accuracy, along.window, strict=True)
        ),
    )
