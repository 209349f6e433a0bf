"""HTML and SVG as strings that cannot forget to escape.

`element` escapes every child that is not `Markup`, so a class named `<script>` stays text wherever
it is put. The output is well-formed XML as well as HTML5.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

# What XML 1.0 allows; anything else (NUL, lone surrogates ...) can come out of a user's file.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_EMPTY = frozenset({"meta", "link", "br", "rect", "line", "path", "circle"})

Attribute = str | int | float | bool | None


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def escape(text: str) -> Markup:
    """`text` as character data, also safe inside a quoted attribute."""
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(_NOT_XML.sub("\ufffd", text), quote=True))


def join(parts: Iterable[str]) -> Markup:
    """The parts one after the other, each escaped unless it is markup."""
    return Markup("".join(escape(part) for part in parts))


def element(name: str, /, *children: str | None, **attributes: Attribute) -> Markup:
    """One element. `class_="a"` gives class="a", `aria_label=` aria-label; None leaves it out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_value(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _EMPTY:
        return Markup(f"<{name}{written}/>")
    inside = join(child for child in children if child is not None)
    return Markup(f"<{name}{written}>{inside}</{name}>")


def _value(value: Attribute) -> str:
    if value is True:
        return ""
    if isinstance(value, float):
        return coordinate(value)
    return str(value)


def coordinate(value: float) -> str:
    """A tenth of a pixel is finer than a screen shows and keeps a 500-point path short."""
    return f"{value:.1f}".removesuffix(".0")
