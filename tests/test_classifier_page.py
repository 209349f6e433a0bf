"""Every figure of docs/classifier.md and docs/adapters.md is in benchmarks/results."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_pages_state_the_committed_figures() -> None:
    script = runpy.run_path(str(ROOT / "benchmarks" / "classifier_page.py"))
    assert "RATE_TEXT" not in (ROOT / "docs" / "classifier.md").read_text()
    for page in script["SECTIONS"]:
        assert script["written"](page) == (ROOT / "docs" / page).read_text()
