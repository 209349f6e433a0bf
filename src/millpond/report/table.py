"""HTML tables: captioned, the first column as row headers, numbers aligned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from millpond.report.markup import Markup, element, join


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    class_: str = "",
    show_caption: bool = False,
) -> Markup:
    """A table whose `caption` is read out, and shown where the text around does not say it."""
    return element(
        "table",
        element("caption", caption, class_=None if show_caption else "unseen"),
        element("thead", element("tr", *[element("th", h, scope="col") for h in head])),
        element("tbody", join(_row(cells) for cells in rows)),
        class_=class_ or None,
    )


def _row(cells: Sequence[str]) -> Markup:
    first, *others = cells
    return element(
        "tr", element("th", first, scope="row"), *[element("td", cell) for cell in others]
    )


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    """A list of name and value; values that are empty are left out."""
    return element(
        "dl",
        join(element("div", element("dt", k), element("dd", v)) for k, v in pairs if v),
        class_="facts",
    )


def behind(summary: str, *tables: str) -> Markup:
    """The data of a chart, folded away; scrolls by keyboard inside its own box."""
    box = element("div", *tables, class_="scroll", tabindex="0", role="region", aria_label=summary)
    return element("details", element("summary", summary), box)
