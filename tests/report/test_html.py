"""The page as a whole: what a browser, a screen reader and a careless class name make of it."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from millpond.errors import MillpondError
from millpond.report import write_report
from millpond.report.html import page

Make = Callable[..., dict[str, Any]]
Parse = Callable[[str], list[ET.Element]]
HOSTILE = ["<script>alert(1)</script>", "\"'&]]>--><!--", "naïve \x00\x1b[31m", "‮evil", " "]


class Page(HTMLParser):
    """Fails on what is not balanced; keeps what the tests look at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[tuple[int, str]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute twice in <{tag}>"
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append((int(tag[1]), ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.append((self.open[-1], data))
            if re.fullmatch("h[1-6]", self.open[-1]):
                level, text = self.headings[-1]
                self.headings[-1] = (level, text + data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def _nothing_scored(make: Make) -> dict[str, Any]:
    result = make(rows=150)
    result |= {
        "accuracy": None,
        "scored": 0,
        "unscored": 150,
        "unscored_why": {"warmup": 100, "one_class": 50},
        "steps": 0,
        "seconds": {"fit": 0.0, "predict": 0.0, "evict": 0.0, "total": 0.0},
        "confusion": [[0, 0], [0, 0]],
        "reliability": [],
        "floors": dict.fromkeys(result["floors"]),
        "trajectory": {key: [] for key in result["trajectory"]},
    }
    for part in result["metrics"].values():
        part |= dict.fromkeys(part)
    return result


def _nan_metrics(make: Make) -> dict[str, Any]:
    result = make()
    for part in result["metrics"].values():
        part |= dict.fromkeys(part, float("nan"))
    result["floors"]["period"] = float("inf")
    result["trajectory"]["accuracy"][3] = float("nan")
    return result


CASES: dict[str, Callable[[Make], dict[str, Any]]] = {
    "two classes": lambda make: make(),
    "one class": lambda make: make(classes=1),
    "ten classes": lambda make: make(classes=10),
    "200 classes": lambda make: make(classes=200),
    "hostile names": lambda make: make(classes=5, names=HOSTILE),
    "one point": lambda make: make(points=1),
    "no context": lambda make: make(context=False),
    "nothing scored": _nothing_scored,
    "NaN metrics": _nan_metrics,
    "an empty dict": lambda make: {},
}


@pytest.fixture(params=list(CASES))
def case(request: pytest.FixtureRequest, make: Make) -> dict[str, Any]:
    return CASES[request.param](make)


def test_every_page_is_balanced_and_its_headings_descend_one_by_one(case: dict[str, Any]) -> None:
    parsed = Page(page(case))
    levels = [level for level, _ in parsed.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    assert all(text.strip() for _, text in parsed.headings)


def test_nothing_is_asked_of_any_other_place(case: dict[str, Any]) -> None:
    text = page(case)
    parsed = Page(text)
    assert "://" not in text
    for tag, attrs in parsed.tags:
        assert tag not in {"img", "iframe", "object", "embed", "base", "form", "a"}
        assert "src" not in attrs
        assert "style" not in attrs  # the policy would refuse it
        assert not any(name.startswith("on") for name in attrs)
        if "href" in attrs:
            assert attrs["href"] == "data:,"
    assert len(parsed.all("script")) == len(parsed.all("style")) == 1


def test_the_policy_allows_our_style_and_script_and_nothing_else(result: dict[str, Any]) -> None:
    text = page(result)
    meta = [m for m in Page(text).all("meta") if "http-equiv" in m]
    policy = meta[0]["content"] or ""
    assert policy.startswith("default-src 'none'")
    for tag in ("style", "script"):
        (inner,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_ids_are_unique_and_every_reference_is_kept(case: dict[str, Any]) -> None:
    text = page(case)
    parsed = Page(text)
    ids = [attrs["id"] for _, attrs in parsed.tags if "id" in attrs]
    assert len(set(ids)) == len(ids)
    wanted = [i for _, a in parsed.tags for i in (a.get("aria-labelledby") or "").split()]
    wanted += re.findall(r"url\(#([^)]+)\)", text)
    assert set(wanted) <= set(ids)


def test_drawings_are_well_formed_named_and_finite(case: dict[str, Any], drawings: Parse) -> None:
    for svg in drawings(page(case)):
        assert svg.findtext("title")
        assert svg.findtext("desc")
        for part in svg.iter():
            for name, value in part.attrib.items():
                assert not re.search(r"\b(nan|inf|None)\b", value), (part.tag, name, value)


def test_every_table_has_a_caption_and_every_chart_a_table(result: dict[str, Any]) -> None:
    text = page(result)
    parsed = Page(text)
    assert len(parsed.all("caption")) == len(parsed.all("table"))
    for figure in re.findall(r"<figure\b.*?</figure>", text, re.DOTALL):
        assert 'role="img"' in figure
        assert "<details>" in figure
        assert "<table" in figure


def test_classes_of_the_drawings_are_in_the_style_sheet(make: Make, drawings: Parse) -> None:
    text = page(make(classes=12))
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    known = set(re.findall(r"\.([a-z][\w-]*)", style))
    used = {c for svg in drawings(text) for p in svg.iter() for c in (p.get("class") or "").split()}
    # Those that only name a part, and take their look from others.
    assert used - known <= {"clip", "axis", "inside", "timeline", "other"}


def test_names_from_files_stay_text(make: Make) -> None:
    result = make(classes=5, names=HOSTILE)
    result["stream"] |= {"label": HOSTILE[0], "name": HOSTILE[1], "notes": [HOSTILE[0]]}
    result["learner"]["note</code>"] = HOSTILE[0]
    text = page(result)
    parsed = Page(text)
    assert parsed.headings[0] == (1, HOSTILE[0])
    assert text.count("<script>") == 1
    assert "<!--" not in text
    assert not re.search("[\x00-\x08\x0b-\x1f]", text)
    assert any(HOSTILE[0] == data for tag, data in parsed.texts if tag == "th")


def test_the_headline_stands_beside_the_best_floor(result: dict[str, Any]) -> None:
    result["accuracy"] = 0.8125
    text = page(result)
    assert '<p class="big">81.25%</p>' in text
    assert '<strong class="gain">+20.25 points</strong> above' in text
    assert "the best label-only rule (no-change, 61.00%)" in text
    result["floors"]["successor"] = 0.9
    assert '<strong class="loss">−8.75 points</strong> below' in page(result)
    result["accuracy"] = 0.9
    assert "<strong>Equal</strong> to the best label-only rule" in page(result)


def test_all_measures_are_there_cumulative_and_of_the_last_window(result: dict[str, Any]) -> None:
    result["metrics"]["windowed"] |= {"kappa": 0.4321, "brier": None}
    text = page(result)
    assert "<td>55.12%</td><td>43.21%</td>" in text
    assert "<td>0.2411</td><td>–</td>" in text
    assert "<td>−12.34%</td>" in text
    assert "last 200" in text
    assert "<dt>log loss</dt><dd>0.3812</dd>" in text


def test_no_scored_row_is_said_instead_of_failing(make: Make, drawings: Parse) -> None:
    text = page(_nothing_scored(make))
    assert "No row was scored" in text
    assert "150 not scored: 100 warm-up, 50 one class in the context" in text
    assert drawings(text) == []


def test_what_the_script_reads_is_there(result: dict[str, Any]) -> None:
    """The legend's values are the cells of the table's last row, by column."""
    text = page(result)
    figures = re.findall(r"<figure[^>]*data-timeline.*?</figure>", text, re.DOTALL)
    assert len(figures) == 3
    for figure in figures:
        last = re.findall(r"<tr>.*?</tr>", figure)[-1]
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", last)
        values = re.findall(r'class="value" data-column="(\d+)">(.*?)</span>', figure)
        assert len(values) == 2
        assert all(cells[int(column)] == value for column, value in values)
        assert f'data-at="">values at row {cells[0]}</p>' in figure
        assert figure.count('class="cursor"') == figure.count('role="img"')


def test_the_same_result_gives_the_same_page(case: dict[str, Any]) -> None:
    assert page(case) == page(case)


def test_five_hundred_points_make_a_page_of_less_than_a_megabyte(make: Make) -> None:
    assert len(page(make(classes=10, rows=20000, points=500)).encode()) < 1_000_000


def test_write_report_writes_the_page_as_utf8(result: dict[str, Any], tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    write_report(result, target)
    write_report(result, str(target))
    assert target.read_bytes() == page(result).encode("utf-8")
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_failed_write_leaves_what_was_there(
    result: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "report.html"
    target.write_text("earlier")

    def full(self: Path, *args: object, **options: object) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(MillpondError, match="No space left on device; make room"):
        write_report(result, target)
    assert target.read_text() == "earlier"
    assert os.listdir(tmp_path) == ["report.html"]
