"""The examples in the README, the docs and the docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = ["millpond.context", "millpond.classifier", "millpond.fleet.fleet"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_pages_run(page: Path) -> None:
    assert doctest.testfile(str(page), module_relative=False).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name: str) -> None:
    tested = doctest.testmod(importlib.import_module(name))
    assert tested.attempted > 0
    assert tested.failed == 0


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for part in page.read_text().split("](")[1:]:
            target = part.split(")")[0].split("#")[0]
            if target and "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
