"""The sheets of significance: the paper's own tables first, then ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from millpond.paper import significance
from millpond.paper.book import Book, Setup
from millpond.paper.published import POLICIES, SWEPT, ablation
from millpond.paper.record import Record, _pack
from millpond.paper.units import Unit

stats = pytest.importorskip("scipy.stats")

SETUP = Setup(SWEPT, ("rill",))


def facts(right: np.ndarray, rows: int) -> dict[str, Any]:
    scored = np.arange(len(right)) >= 100
    right = right & scored
    return {
        "accuracy": float(right[scored].mean()),
        "rows": len(right),
        "stream": {"rows": rows},
        "bits": {"scored": _pack(scored), "right": _pack(right)},
    }


@pytest.fixture
def made() -> Callable[[float], Book]:
    """Every policy right at random, CURE more often by so much; a prefix of longer streams."""

    def make(gain: float) -> Book:
        rng = np.random.default_rng(0)
        records = {}
        for stream in SWEPT:
            for policy in (*POLICIES, "fifo"):
                unit = SETUP.unit(stream, policy)
                right = rng.random(4000) < 0.7 + (gain if policy == "cure" else 0.0)
                records[unit] = Record(unit, facts(right, 9000))
        return Book(records)

    return make


def test_the_papers_tables_against_scipy() -> None:
    sheet = significance.sheets(SETUP, Book({}))[0]
    policies, methods = sheet.rows
    table = np.array([[row[p] for p in POLICIES] for row in ablation().values()])
    expected = stats.friedmanchisquare(*table.T)
    assert policies.cells[1].value == pytest.approx(expected.statistic)
    assert policies.cells[2].value == pytest.approx(expected.pvalue)
    assert policies.kind == methods.kind == "paper"


def test_six_streams_cannot_pass_holm() -> None:
    """CURE above on 6 of 6 is p = 2/64 at the least; times five comparisons, no test passes 5%."""
    sheet = next(
        s for s in significance.sheets(SETUP, Book({})) if s.key == "wilcoxon_policies_paper"
    )
    assert [row.cells[-2].value for row in sheet.rows[:4]] == [pytest.approx(2 / 64)] * 4
    assert min(float(row.cells[-1].value or 0) for row in sheet.rows) > 0.05


@pytest.mark.parametrize(("gain", "found"), [(0.1, "yes"), (0.0, "no")])
def test_differences_are_seen_where_they_are(
    made: Callable[[float], Book], gain: float, found: str
) -> None:
    sheet = significance.sheets(SETUP, made(gain))[-1]
    verdicts = [row.cells[3].text for row in sheet.rows]
    assert len(verdicts) == 6 * 6
    assert verdicts.count(found) >= 0.85 * len(verdicts)
    assert all(cell.prefix for row in sheet.rows for cell in row.cells[:3])


def test_ours_need_three_complete_streams(made: Callable[[float], Book]) -> None:
    book = made(0.05)
    keys = {each.key for each in significance.rankings(SETUP, book)}
    assert keys == {"policies", "policies_paper", "methods_paper"}
    few = {u: r for u, r in book.records.items() if u.stream in SWEPT[:2]}
    assert "policies" not in {e.key for e in significance.rankings(SETUP, Book(few))}


def test_rows_that_one_of_them_did_not_score_are_left_out(made: Callable[[float], Book]) -> None:
    book = made(0.1)
    unit = SETUP.unit("noaa", "cure")
    record = book.records[unit]
    scored, right = record.right()
    scored[:2000] = False
    cut = dataclasses.replace(
        record,
        facts={**record.facts, "bits": {"scored": _pack(scored), "right": _pack(right & scored)}},
    )
    records: dict[Unit, Record] = {**book.records, unit: cut}
    one, other = significance._both(cut, records[SETUP.unit("noaa", "dual_fifo")])
    assert len(one) == len(other) == 2000
