"""The page of a whole run: balanced, self-contained, readable by people and by machines."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

from millpond.cli import main
from millpond.paper import book, recovery, runtime
from millpond.paper.experiments import EXPERIMENTS
from millpond.paper.page import TITLES

WORDS = ["--quick", "--streams", "agr_a", "noaa", "--backbone", "knn"]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of a small run in a folder without data: NOAA is missing, and the baselines are left out."""
    folder = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book, "QUICK", 300)
        patch.setattr(runtime, "QUICK", 200)
        patch.setattr(recovery, "QUICK", 400)
        patch.setenv("MILLPOND_DATA", str(folder / "no data"))
        assert main(["paper", "ablation", *WORDS, "--out", str(folder)]) == 0
        words = [
            "main",
            "ablation",
            "trajectories",
            "policies",
            "significance",
            "claims",
            "recovery",
        ]
        assert main(["paper", *words, "--show", *WORDS, "--out", str(folder)]) == 0
    return (folder / "report.html").read_text()


@pytest.fixture(scope="module")
def tree(text: str) -> ET.Element:
    """But for its style and script the page is well-formed XML: nothing in it is unbalanced."""
    page = re.sub(r"<(script|style)>.*?</\1>", "", text, flags=re.DOTALL)
    return ET.fromstring(page.removeprefix("<!DOCTYPE html>\n"))


def test_links_lead_to_sections_in_their_order(tree: ET.Element) -> None:
    ids = [each.get("id") for each in tree.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    links = [a.get("href", "") for a in tree.iter("a")]
    assert links[0] == "#results"
    assert {link.removeprefix("#") for link in links} <= set(ids)
    sections = [each.get("id") for each in tree.iter("section")]
    assert sections == [link.removeprefix("#") for link in links[1:]]
    assert sections[-2:] == ["missing", "run"]


def test_every_experiment_has_a_title() -> None:
    assert [*TITLES] == [*EXPERIMENTS]


def test_nothing_is_loaded_from_elsewhere(text: str) -> None:
    assert "default-src &#x27;none&#x27;" in text
    assert not re.search(r"""(src|href)="(?!#|data:)""", text)
    assert "url(http" not in text


def test_pictures_and_tables_have_names(tree: ET.Element) -> None:
    ids = {each.get("id"): "".join(each.itertext()) for each in tree.iter() if each.get("id")}
    pictures = [svg for svg in tree.iter("svg") if svg.get("role") == "img"]
    assert len(pictures) >= 3 + 2 * 2 + 2
    for svg in pictures:
        for name in str(svg.get("aria-labelledby")).split():
            assert ids[name].strip()
    for table in tree.iter("table"):
        assert "".join(table.find("caption").itertext()).strip()  # type: ignore[union-attr]
        for row in table.find("tbody"):  # type: ignore[union-attr]
            assert row[0].tag == "th"
            assert row[0].get("scope") == "row"
    for region in tree.iter():
        if region.get("role") == "region":
            assert region.get("tabindex") == "0"
            assert region.get("aria-label")


def test_headings_leave_no_level_out(tree: ET.Element) -> None:
    levels = [int(e.tag[1]) for e in tree.iter() if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_prefixes_are_marked_and_the_papers_numbers_are_not(tree: ET.Element) -> None:
    body = next(d for d in tree.iter("div") if d.get("id") == "sheet-ablation")
    rows = {
        (r.get("class"), r[0].text): [("".join(c.itertext())) for c in r[1:]]
        for r in body.iter("tr")
    }
    ours = [c.split(" ")[0] for c in rows["ours", "AGR(A)"]]
    assert all(re.fullmatch(r"\d\d\.\d\d\*", c) for c in ours)
    paper = [row for (kind, _), row in rows.items() if kind == "paper"]
    assert paper
    assert not any("*" in cell for row in paper for cell in row)


def test_what_is_missing_is_listed_with_its_reason(tree: ET.Element) -> None:
    section = next(s for s in tree.iter("section") if s.get("id") == "missing")
    said = "".join(section.itertext())
    assert "the stream is not on this machine: millpond streams get noaa" in said


def test_a_figure_that_cannot_be_drawn_says_why(tree: ET.Element) -> None:
    figure = next(f for f in tree.iter("figure") if f.get("id") == "along-noaa")
    assert "not on this machine" in "".join(figure.itertext())
    assert not [*figure.iter("svg")]


def test_the_data_of_a_trajectory_is_in_its_table(tree: ET.Element) -> None:
    figure = next(f for f in tree.iter("figure") if f.get("id") == "along-agr_a")
    assert figure.get("data-timeline") is not None
    table = next(figure.iter("table"))
    rows = [["".join(c.itertext()) for c in r] for r in table.find("tbody")]  # type: ignore[union-attr]
    assert rows[-1][0] == "300"
    values = [e for e in figure.iter("span") if e.get("data-column")]
    assert [e.text for e in values] == rows[-1][1:]
