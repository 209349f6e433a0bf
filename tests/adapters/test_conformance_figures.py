"""What the docs say of the checks is what benchmarks/conformance.py found."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOUND = json.loads((ROOT / "benchmarks" / "results" / "conformance.json").read_text())
TEXT = (ROOT / "docs" / "adapters.md").read_text()


def test_nothing_failed_or_was_skipped():
    for library in ("river", "sklearn"):
        counts = dict(FOUND[library]["checks"])
        assert counts.pop("passed") > 50
        assert not any(counts.values())


def test_the_docs_state_the_counts_and_versions():
    river, sklearn = FOUND["river"], FOUND["sklearn"]
    assert f"River {river['version']} | {river['checks']['passed']} passed" in TEXT
    assert f"scikit-learn {sklearn['version']} | {sklearn['checks']['passed']} passed" in TEXT
    assert f"CapyMOA {FOUND['capymoa']['version']} | ships none" in TEXT


def test_the_loops_predict_the_same():
    for library in ("river", "capymoa"):
        loops = FOUND[library]["against_our_loop"].values()
        assert len(loops) == 6
        assert all(loop["different"] == 0 for loop in loops)
    sorted_labels = FOUND["label_order"]["against_our_loop"]["agr_a"]
    assert f"{sorted_labels['different']} of {sorted_labels['rows']:,} on AGR(A)" in TEXT
