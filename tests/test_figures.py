"""Every figure that the README states is in benchmarks/results."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_readme_states_the_committed_figures() -> None:
    script = runpy.run_path(str(ROOT / "benchmarks" / "readme.py"))
    text = (ROOT / "README.md").read_text()
    stated = text.split(script["BEGIN"])[1].split(script["END"])[0]
    assert stated.strip() == script["figures"]().strip()


@pytest.mark.parametrize("name", ["paper.md", "theory.md"])
def test_a_page_states_the_committed_results(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    script = runpy.run_path(str(ROOT / "benchmarks" / "paper_page.py"))
    text = (ROOT / "docs" / name).read_text()
    stated = text.split(script["BEGIN"])[1].split(script["END"])[0]
    assert stated.strip() == script["PAGES"][name]().strip()
    assert stated.strip()
