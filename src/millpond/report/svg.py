"""SVG primitives: a picture with title and description, a plot frame with axes, paths.

Colours are CSS classes (see `style`), so that one drawing serves light, dark and print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from millpond.report.markup import Markup, coordinate, element, join
from millpond.report.scale import Scale

# Average advance of a system font's character in parts of its size, on the wide side.
_ADVANCE = 0.62


@dataclass(frozen=True)
class Frame:
    """A plot area inside a picture of `width` x `height`, with its two scales."""

    width: float
    height: float
    x: Scale
    y: Scale

    @property
    def left(self) -> float:
        return self.x.start

    @property
    def right(self) -> float:
        return self.x.stop

    @property
    def top(self) -> float:
        return self.y.stop

    @property
    def bottom(self) -> float:
        return self.y.start


def text_width(text: str, size: float = 12) -> float:
    """About how wide `text` is drawn."""
    return _ADVANCE * size * len(text)


def picture(
    key: str, width: float, height: float, title: str, about: str, *children: str, class_: str = ""
) -> Markup:
    """An `<svg>` that a screen reader announces as one image. `key` makes its ids unique."""
    return element(
        "svg",
        element("title", title, id=f"{key}-title"),
        element("desc", about, id=f"{key}-desc"),
        *children,
        viewBox=f"0 0 {coordinate(width)} {coordinate(height)}",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
        class_=f"chart w{width:.0f} {class_}".strip(),
    )


def rect(x: float, y: float, width: float, height: float, class_: str, *, rx: int = 0) -> Markup:
    return element(
        "rect",
        x=x,
        y=y,
        width=max(width, 0.0),
        height=max(height, 0.0),
        rx=rx or None,
        class_=class_,
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def label(x: float, y: float, text: str, class_: str = "tick", anchor: str = "start") -> Markup:
    anchored = None if anchor == "start" else anchor
    return element("text", text, x=x, y=y, class_=class_, text_anchor=anchored)


def dot(x: float, y: float, radius: float, class_: str) -> Markup:
    return element("circle", cx=x, cy=y, r=radius, class_=class_)


def line_path(xs: Sequence[float], ys: Sequence[float | None], class_: str) -> Markup:
    """A line that breaks at None; a point on its own becomes a dot (round cap, no length)."""
    commands: list[str] = []
    pen_down = False
    for x, y in zip(xs, ys, strict=True):
        if y is None:
            pen_down = False
            continue
        at = f"{coordinate(x)} {coordinate(y)}"
        commands.append(f"L{at}" if pen_down else f"M{at}h0")
        pen_down = True
    return element("path", d="".join(commands), class_=class_) if commands else Markup()


def area_path(
    xs: Sequence[float], lower: Sequence[float], upper: Sequence[float], class_: str, fill: str = ""
) -> Markup:
    """The band between two lines. `fill` names a pattern; a class's own colour would beat it."""
    there = [f"{coordinate(x)} {coordinate(y)}" for x, y in zip(xs, upper, strict=True)]
    back = [f"{coordinate(x)} {coordinate(y)}" for x, y in zip(xs, lower, strict=True)]
    outline = f"M{'L'.join(there)}L{'L'.join(reversed(back))}Z"
    return element("path", d=outline, class_=class_, fill=fill or None)


def axes(
    frame: Frame,
    x_ticks: Sequence[tuple[float, str]],
    y_ticks: Sequence[tuple[float, str]],
    x_title: str,
    y_title: str,
) -> Markup:
    """Grid lines and labels. The title of y stands above its axis, so that nobody tilts a head."""
    parts: list[Markup] = [label(0, frame.top - 12, y_title, "axis")] if y_title else []
    for value, text in y_ticks:
        y = frame.y(value)
        parts.append(line(frame.left, y, frame.right, y, "grid"))
        parts.append(label(frame.left - 8, y + 4, text, "tick", "end"))
    parts.append(line(frame.left, frame.bottom, frame.right, frame.bottom, "base"))
    for value, text in x_ticks:
        x = frame.x(value)
        parts.append(line(x, frame.bottom, x, frame.bottom + 4, "base"))
        # A label that would leave the picture is moved in.
        half = text_width(text) / 2
        inside = min(max(x, half), frame.width - half)
        parts.append(label(inside, frame.bottom + 18, text, "tick", "middle"))
    if x_title:
        middle = (frame.left + frame.right) / 2
        parts.append(label(middle, frame.bottom + 36, x_title, "axis", "middle"))
    return join(parts)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions for labels: near the `wanted` ones, `gap` apart, inside [low, high] if they fit."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = list(wanted)
    floor = low
    for i in order:
        placed[i] = max(placed[i], floor)
        floor = placed[i] + gap
    ceiling = high
    for i in reversed(order):
        placed[i] = min(placed[i], ceiling)
        ceiling = placed[i] - gap
    return placed


def cursor(plot: Frame) -> Markup:
    """The line that the page's script moves over a chart whose x axis is the row of the stream."""
    return element(
        "g",
        line(plot.left, plot.top, plot.left, plot.bottom, "rule"),
        class_="cursor",
        data_left=plot.left,
        data_right=plot.right,
        data_rows=plot.x.high,
    )
