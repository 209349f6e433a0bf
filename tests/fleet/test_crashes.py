"""A fleet that is killed: nothing acknowledged is lost, nothing is applied twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from crashes import figures_of


def check(folder: Path, kills: int, seed: int) -> None:
    figures = figures_of(folder, kills, seed)
    assert figures["kills"] == kills
    assert figures["same_fingerprint"]
    assert figures["kills_with_a_batch_under_way"] > kills / 10
    assert figures["repeated"] > kills


def test_some_kills(tmp_path: Path) -> None:
    check(tmp_path / "data", 20, seed=1)


@pytest.mark.long
def test_a_thousand_kills(tmp_path: Path) -> None:
    check(tmp_path / "data", 1000, seed=2)
