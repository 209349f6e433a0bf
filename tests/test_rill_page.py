"""Every figure that docs/rill.md states is in benchmarks/results."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_page_states_the_committed_figures() -> None:
    script = runpy.run_path(str(ROOT / "benchmarks" / "rill_page.py"))
    stated = (ROOT / "docs" / "rill.md").read_text().split(script["BEGIN"])[1]
    assert stated.split(script["END"])[0].strip() == script["figures"]().strip()
