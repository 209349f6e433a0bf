"""Every figure that docs/baselines.md states is in benchmarks/results/baselines."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch: Any) -> dict[str, Any]:
    """The page's script; the modules that it imports from its own folder are not left behind."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    before = set(sys.modules)
    script = runpy.run_path(str(ROOT / "benchmarks" / "baselines_page.py"))
    for name in set(sys.modules) - before:
        if not name.startswith("millpond"):
            del sys.modules[name]
    return script


def test_the_page_states_the_committed_figures(script: dict[str, Any]) -> None:
    text = (ROOT / "docs" / "baselines.md").read_text()
    sections = script["sections"]()
    assert text.count("<!-- figures:") == len(sections)
    for name, section in sections.items():
        begin, end = script["marks"](name)
        assert text.split(begin)[1].split(end)[0].strip() == section.strip(), name


def test_what_may_differ(script: dict[str, Any]) -> None:
    allowed, paper = script["allowed"], script["Paper"]
    assert allowed("vfdt", paper(75.66, None, 400, 0.1)) == 0.2
    assert allowed("arf", paper(79.42, 0.08, 400, 0.1)) == 0.3
    assert allowed("bole", paper(74.97, 0.19, 100, 0.1)) == pytest.approx(0.57)
