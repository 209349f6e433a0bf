"""Charts over the rows of a stream: the frame that the accuracy and the banks share."""

from __future__ import annotations

from collections.abc import Sequence

from millpond.report.figure import Entry, area_swatch
from millpond.report.formats import count, plural
from millpond.report.markup import Markup, element, join
from millpond.report.run import Run
from millpond.report.scale import Scale, ticks
from millpond.report.svg import Frame, axes, cursor, picture, rect

_TOP, _BELOW = 30, 44
_HEIGHTS = {360: 250, 520: 300, 640: 320, 1040: 380}


def frame(run: Run, width: int, low: float, high: float, *, left: int, right: int) -> Frame:
    """From row 0 to the last one, whatever part of it was recorded; flatter where it is wide."""
    height = _HEIGHTS[width]
    return Frame(
        width=width,
        height=height,
        x=Scale(0, max([run.rows, *run.trajectory.row, 1]), left, width - right),
        y=Scale(low, high, height - _BELOW, _TOP),
    )


def chart(
    key: str,
    plot: Frame,
    run: Run,
    *,
    title: str,
    about: str,
    y_title: str,
    y_ticks: Sequence[tuple[float, str]],
    marks: Sequence[str],
    beside: Sequence[str] = (),
) -> Markup:
    """Warm-up shaded, `marks` clipped to the plot area, `beside` free of it, a rule to read along.

    The script finds the plot's edge in the rule and the rows in the data table.
    """
    clip = f"{key}-clip"
    wide, tall = plot.right - plot.left, plot.bottom - plot.top
    steps = ticks(plot.x.low, plot.x.high, 4 if plot.width < 500 else 8)
    x_ticks = [(t, count(t)) for t in steps if t == int(t)]
    warm = plot.x(min(run.warmup, plot.x.high)) - plot.left
    return picture(
        key,
        plot.width,
        plot.height,
        title,
        about,
        element(
            "defs",
            element("clipPath", rect(plot.left, plot.top, wide, tall, "clip"), id=clip),
        ),
        rect(plot.left, plot.top, warm, tall, "warmup") if warm else "",
        axes(plot, x_ticks, y_ticks, "row of the stream", y_title),
        element("g", join(marks), clip_path=f"url(#{clip})"),
        *beside,
        cursor(plot),
        class_="timeline",
    )


def warmup_entry(run: Run) -> list[Entry]:
    """The shaded stretch's line in a legend."""
    if not run.warmup:
        return []
    swatch = area_swatch("warmup", "warmup", hatched=False)
    return [Entry(swatch, f"warm-up ({plural(run.warmup, 'row')})")]


def ends_at(run: Run) -> str:
    """What the legend's values are, until the pointer moves: those of the last point."""
    return f"values at row {count(run.trajectory.row[-1])}"
