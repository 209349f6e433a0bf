"""Whether confidence can be believed: accuracy against confidence, and how often each occurs."""

from __future__ import annotations

from functools import partial

from millpond.report.figure import Entry, area_swatch, figure, line_swatch, plain, swatch
from millpond.report.formats import compact, count, percent
from millpond.report.markup import Markup, join
from millpond.report.run import Run
from millpond.report.scale import Scale, ticks
from millpond.report.svg import Frame, axes, dot, label, line, line_path, picture, rect
from millpond.report.table import behind, table

_KEY, _TITLE = "reliability", "Reliability"
_FEW = 30  # rows: below, a bin's accuracy is mostly chance


def reliability_figure(run: Run) -> Markup:
    """The whole figure, or a sentence when no probability was scored."""
    if not any(b.n for b in run.reliability):
        return plain(_KEY, _TITLE, "No probability was scored, so there is nothing to draw.")
    return figure(
        _KEY,
        _TITLE,
        "How often predictions of each confidence are right. On the diagonal: as often as they "
        "say; below it: less often.",
        partial(_draw, run),
        (360, 520),
        legend=[
            Entry(line_swatch("curve"), "accuracy of a bin"),
            Entry(swatch(dot(11, 6, 4, "few")), f"fewer than {_FEW} rows"),
            Entry(line_swatch("ideal"), "ideal"),
            Entry(area_swatch("histogram", "bar", hatched=False), "rows"),
        ],
        data=behind("Data: bins of confidence", _table(run)),
    )


def _draw(run: Run, width: int) -> Markup:
    left, right, top, tall, below = 48, 10, 30, 0.54 * width, 78
    base = top + tall + 40
    x = Scale(0, 1, left, width - right)
    upper = Frame(width, top + tall, x, Scale(0, 1, top + tall, top))
    most = max(b.n for b in run.reliability)
    lower = Frame(width, base + below, x, Scale(0, most, base + below, base))
    percents = [(v, percent(v, 0)) for v in ticks(0, 1, 5)]
    known = [b for b in run.reliability if b.n]
    ece = run.cumulative.get("ece")
    return picture(
        f"{_KEY}-{width}",
        width,
        base + below + 42,
        _TITLE,
        f"{len(known)} occupied bins; expected calibration error {percent(ece)}.",
        axes(upper, [], percents, "", "accuracy"),
        line(x(0), upper.y(0), x(1), upper.y(1), "ideal"),
        _curve(run, upper),
        axes(lower, percents, [(most, compact(most))], "confidence", ""),
        label(0, base - 12, "rows", "axis"),
        _bars(run, lower),
    )


def _curve(run: Run, plot: Frame) -> Markup:
    at = [
        (plot.x(b.confidence), plot.y(b.accuracy), b.n)
        for b in run.reliability
        if b.n and b.confidence is not None and b.accuracy is not None
    ]
    path = line_path([x for x, _, _ in at], [y for _, y, _ in at], "curve")
    return join([path, *[dot(x, y, 4.5, "few" if n < _FEW else "bin") for x, y, n in at]])


def _bars(run: Run, plot: Frame) -> Markup:
    return join(
        rect(
            plot.x(b.low) + 1,
            # a pixel for any row at all
            min(plot.y(b.n), plot.bottom - 1),
            plot.x(b.high) - plot.x(b.low) - 2,
            max(plot.bottom - plot.y(b.n), 1),
            "bar",
        )
        for b in run.reliability
        if b.n
    )


def _table(run: Run) -> Markup:
    return table(
        "Accuracy and confidence by bin",
        ["confidence", "rows", "mean confidence", "accuracy"],
        (
            (
                f"{percent(b.low, 0)} to {percent(b.high, 0)}",
                count(b.n),
                percent(b.confidence),
                percent(b.accuracy),
            )
            for b in run.reliability
        ),
    )
