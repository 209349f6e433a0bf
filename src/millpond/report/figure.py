"""A chart on the page: heading, legend, the drawings for each width, and its data in a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from millpond.report.markup import Markup, element, join
from millpond.report.svg import area_path, line, rect


@dataclass(frozen=True)
class Entry:
    """One line of a legend. `column` is the one of the data table that the read-out shows here."""

    swatch: Markup
    name: str
    value: str = ""
    column: int | None = None


def figure(
    key: str,
    title: str,
    about: str,
    draw: Callable[[int], Markup],
    widths: Sequence[int],
    *,
    legend: Sequence[Entry] = (),
    reads: str = "",
    note: str = "",
    data: str = "",
) -> Markup:
    """`draw` is called for each width: text keeps its size on a phone and on a desk.

    `reads` says what the legend's values hold ("at row 20,000"); it makes the figure a timeline,
    whose read-out follows the pointer when scripts may run.
    """
    kind = " ".join(f"has{width}" for width in widths)
    return element(
        "figure",
        element("figcaption", element("h3", title), element("p", about) if about else None),
        _legend(legend, reads) if legend else None,
        *[draw(width) for width in widths],
        element("p", note, class_="note") if note else None,
        data or None,
        id=key,
        class_=kind,
        data_timeline=bool(reads),
    )


def plain(key: str, title: str, sentence: str) -> Markup:
    """What stands in a chart's place when there is nothing to draw."""
    return element(
        "figure",
        element("figcaption", element("h3", title), element("p", sentence, class_="nothing")),
        id=key,
    )


def _legend(entries: Sequence[Entry], reads: str) -> Markup:
    items = join(
        element(
            "li",
            entry.swatch,
            element("span", entry.name, class_="name"),
            element("span", entry.value, class_="value", data_column=entry.column)
            if entry.value
            else None,
        )
        for entry in entries
    )
    at = element("p", reads, class_="reads", data_at=True) if reads else None
    return element("div", element("ul", items), at, class_="legend")


def swatch(*shapes: str, width: int = 22) -> Markup:
    """A drawing as high as the legend's text; the name beside it says what it is."""
    return element(
        "svg",
        *shapes,
        viewBox=f"0 0 {width} 12",
        width=width,
        height=12,
        class_="swatch",
        aria_hidden="true",
    )


def line_swatch(class_: str) -> Markup:
    """A piece of the line, dashes and all."""
    return swatch(line(0, 6, 22, 6, class_))


def area_swatch(key: str, class_: str, hatched: bool) -> Markup:
    """A piece of the area; `key` makes the hatching's id unique."""
    if not hatched:
        return swatch(rect(2, 0, 18, 12, class_))
    name = f"{key}-hatch"
    return swatch(
        hatching(name, class_),
        area_path([2, 20], [12, 12], [0, 0], "area", f"url(#{name})"),
    )


def hatching(name: str, class_: str) -> Markup:
    """A pattern: the class's colour with stripes. Hue alone does not carry ten classes."""
    return element(
        "defs",
        element(
            "pattern",
            rect(0, 0, 7, 7, class_),
            line(0, 0, 0, 7, "hatch"),
            id=name,
            width=7,
            height=7,
            patternUnits="userSpaceOnUse",
            patternTransform="rotate(45)",
        ),
    )
