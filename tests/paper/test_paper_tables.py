"""The tables that need no run: datasets, hyper-parameters, policies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from millpond.paper.axes import policies
from millpond.paper.datasets import balance, datasets, imbalance
from millpond.paper.hyperparameters import hyperparameters
from millpond.paper.published import STREAMS
from millpond.streams import Stream


@pytest.mark.parametrize(
    ("ratio", "name"),
    [
        (1.0, "balanced"),
        (1.1, "balanced"),
        (1.11, "imbalanced"),
        (10.0, "imbalanced"),
        (10.01, "highly imbalanced"),
        (100.0, "highly imbalanced"),
        (100.1, "extremely imbalanced"),
    ],
)
def test_classes_of_balance(ratio: float, name: str) -> None:
    assert balance(ratio) == name


def test_a_class_that_never_occurs_does_not_count() -> None:
    stream = Stream("made", np.zeros((5, 1)), np.array([0, 0, 0, 2, 2]), ("a",), ("x", "y", "z"))
    assert imbalance(stream) == 1.5


def test_a_stream_that_is_not_here_says_so(tmp_path: Path) -> None:
    sheet = datasets(["noaa", "agr_a"], tmp_path)
    noaa, agr_a = sheet.rows
    assert [cell.shown for cell in noaa.cells] == ["–"] * 5 + ["18,159 x 8, 2, imbalanced"]
    assert [cell.text for cell in agr_a.cells] == [
        "30,000", "9", "2", "1.75", "imbalanced", "synthetic abrupt drift",
    ]  # fmt: skip
    assert str(tmp_path) not in sheet.markdown()
    assert sheet.lacking() == {
        "the stream is not on this machine: millpond streams get noaa": ["NOAA"]
    }


def test_the_streams_here_are_the_papers(data_dir: Path) -> None:
    for row in datasets(["noaa", "rialto", "posture_no8", "nomao"], data_dir).rows:
        assert row.cells[-1].text == "the same"


def test_hyper_parameters() -> None:
    rows = {row.head: [c.text for c in row.cells] for row in hyperparameters([*STREAMS]).rows}
    assert rows["NOMAO"] == [
        "0.3", "g100 t0.1", "g1000 t0.01", "g400 t0.1", "g100 t0.1", "g100 t0.05", "g100 t0.1",
    ]  # fmt: skip


def test_policies_are_the_papers() -> None:
    said = {row.head: row.cells[-1].text for row in policies().rows}
    assert said.pop("FIFO") == "not in it"
    assert set(said.values()) == {"the same"}
    assert len(said) == 6
