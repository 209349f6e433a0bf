"""Nothing gets out unescaped, and everything comes back as it was."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.report.markup import Markup, coordinate, element, escape, join


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.attributes: dict[str, str | None] = {}
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes = dict(attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


# Carriage returns are left out: XML reads them as line feeds.
_xml_text = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")
)


@given(_xml_text, _xml_text)
def test_text_and_attributes_come_back_from_both_parsers(text: str, value: str) -> None:
    markup = element("p", text, title=value)
    parsed = ET.fromstring(markup)
    assert (parsed.text or "") == text
    assert parsed.get("title") == value
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    assert (reader.text, reader.attributes, reader.tags) == (text, {"title": value}, ["p"])


@given(st.text())
def test_any_string_makes_well_formed_xml_that_utf8_can_hold(text: str) -> None:
    ET.fromstring(element("p", text, title=text).encode("utf-8"))


def test_markup_is_not_escaped_again_and_plain_strings_always_are() -> None:
    inner = element("b", "1 < 2")
    assert element("p", inner) == "<p><b>1 &lt; 2</b></p>"
    assert element("p", "<b>") == "<p>&lt;b&gt;</p>"
    assert join([inner, "<"]) == inner + "&lt;"
    # Adding a plain string gives up the claim to be markup, so mistakes show as text.
    assert escape(inner + "<") == escape(str(inner) + "<")


def test_names_and_values_of_attributes() -> None:
    drawn = element("rect", x=1.25, width=3, class_="a", aria_hidden="true", rx=None, hidden=False)
    assert drawn == '<rect x="1.2" width="3" class="a" aria-hidden="true"/>'
    assert element("figure", data_timeline=True) == '<figure data-timeline=""></figure>'
    assert element("td", None, "a", None) == "<td>a</td>"


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (10.0, "10"), (1.25, "1.2"), (-0.04, "-0"), (99.96, "100")]
)
def test_coordinates_are_short(value: float, text: str) -> None:
    assert coordinate(value) == text


def test_markup_is_a_string() -> None:
    assert isinstance(element("p"), Markup)
    assert isinstance(element("p"), str)
