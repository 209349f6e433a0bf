"""Claims against figures worked out by hand, or by another library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.paper.claims import claims, claims_sheet, gains, relative_gains, spread
from millpond.paper.published import METHODS, main_accuracy, published, sweep
from millpond.paper.ranks import mean_ranks, ranks


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_ranks_are_scipys(values: list[int]) -> None:
    stats = pytest.importorskip("scipy.stats")
    assert ranks([float(v) for v in values]) == stats.rankdata([-v for v in values]).tolist()


def test_average_ranks_of_the_main_table() -> None:
    found = mean_ranks(main_accuracy(), [*METHODS])
    stated = published()["main_results"]["avg_rank"]
    assert {name: round(rank, 2) for name, rank in found.items()} == stated


def test_relative_gains_are_over_the_best_baseline() -> None:
    assert gains(main_accuracy())["rialto"] == pytest.approx(92.04 - 72.45)
    assert relative_gains(main_accuracy())["rialto"] == pytest.approx(100 * (92.04 / 72.45 - 1))
    assert relative_gains(main_accuracy())["meter"] == pytest.approx(100 * (90.80 / 71.49 - 1))
    assert np.mean([*relative_gains(main_accuracy()).values()]) == pytest.approx(9.021, abs=5e-4)


def test_the_spread_leaves_tau_0_out() -> None:
    assert spread(sweep()["agr_a"]) == pytest.approx(90.93 - 90.49)
    assert spread({0.0: 10.0, 0.1: 3.0, 0.2: 4.0}) == 1.0


def test_the_two_slips_and_no_other() -> None:
    slips = {claim.text: claim for claim in claims() if not claim.holds}
    assert len(slips) == 2
    wide = slips["largest spread over positive tau, points"]
    assert (wide.stated, wide.found) == ("0.39", "0.44")
    prose = next(claim for text, claim in slips.items() if text.startswith("gaps of"))
    assert prose.slip == "POSTURE-No8 +1.58, POKER +2.07, NOAA +2.51"


def test_the_sheet_shows_slips() -> None:
    sheet = claims_sheet()
    verdicts = [row.cells[-1].text for row in sheet.rows]
    assert verdicts.count("SLIP") == 2
    assert len([note for note in sheet.notes if note.startswith("Slip, ")]) == 2
    assert sheet.notes[-1] == f"{len(verdicts) - 2} of {len(verdicts)} agree."
