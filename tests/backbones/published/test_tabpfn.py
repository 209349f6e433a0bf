"""TabPFN-v2.5's session against `tabpfn`'s own classifier, on a small random checkpoint."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

os.environ["TABPFN_DISABLE_TELEMETRY"] = "1"
pytest.importorskip("tabpfn", reason="needs millpond[tabpfn]")

from parity import check_chunks, check_lanes, check_single
from tiny_checkpoints import MANY, TABLES, save_tabpfn

from millpond.backbones.published.device import Place
from millpond.backbones.published.tables import Table
from millpond.backbones.published.tabpfn import Model
from millpond.errors import BadInput

CLOSE = 1e-5


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tabpfn(tmp_path_factory.mktemp("tabpfn"))


@pytest.fixture(scope="module")
def model(path: Path) -> Model:
    return Model(path, Place("cpu", "float32"))


def library(path: Path, asked: Table) -> Any:
    from tabpfn import TabPFNClassifier

    classifier = TabPFNClassifier(
        n_estimators=1,
        model_path=path,
        device="cpu",
        ignore_pretraining_limits=True,
        random_state=0,
        memory_saving_mode=False,
    )
    return classifier.fit(asked.X, asked.y).predict_proba(asked.queries)


def test_answers_as_the_library(model: Model, path: Path) -> None:
    check_single(model, lambda asked: library(path, asked), TABLES, CLOSE)


def test_more_classes_are_refused_as_by_the_library(model: Model, path: Path) -> None:
    for asked in MANY.values():
        with pytest.raises(ValueError, match="classes"):
            library(path, asked)
        with pytest.raises(BadInput, match=f"at most 10 classes apart, .* holds {asked.classes}"):
            model.probabilities([asked])


def test_lanes(model: Model) -> None:
    check_lanes(model, CLOSE)


def test_chunks(model: Model) -> None:
    check_chunks(model, CLOSE)
