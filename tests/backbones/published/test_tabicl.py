"""TabICL-v2's session against `tabicl`'s own classifier, on a small random checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tabicl", reason="needs millpond[tabicl]")

from parity import check_chunks, check_lanes, check_single
from tiny_checkpoints import MANY, TABLES, save_tabicl, table

from millpond.backbones.published.device import Place
from millpond.backbones.published.tabicl import Model
from millpond.backbones.published.tables import Table

CLOSE = 1e-5


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tabicl(tmp_path_factory.mktemp("tabicl"))


@pytest.fixture(scope="module")
def model(path: Path) -> Model:
    return Model(path, Place("cpu", "float32"))


def library(path: Path, asked: Table) -> Any:
    from tabicl import TabICLClassifier

    classifier = TabICLClassifier(
        n_estimators=1,
        batch_size=1,
        kv_cache=False,
        model_path=path,
        allow_auto_download=False,
        device="cpu",
        random_state=0,
    )
    return classifier.fit(asked.X, asked.y).predict_proba(asked.queries)


def test_answers_as_the_library(model: Model, path: Path) -> None:
    check_single(model, lambda asked: library(path, asked), TABLES, CLOSE)


def test_more_classes_by_the_librarys_hierarchy(model: Model, path: Path) -> None:
    check_single(model, lambda asked: library(path, asked), MANY, CLOSE)


def test_nothing_varies(model: Model, path: Path) -> None:
    flat = table(20, 3, 2)
    flat.X[:] = 1.0
    check_single(model, lambda asked: library(path, asked), {"flat": flat}, 1e-6)


def test_lanes(model: Model) -> None:
    check_lanes(model, CLOSE, TABLES | MANY)


def test_chunks(model: Model) -> None:
    check_chunks(model, CLOSE)
