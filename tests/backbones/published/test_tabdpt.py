"""TabDPT's session against `tabdpt`'s own classifier, on a small random checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs millpond[tabdpt]")
pytest.importorskip("tabdpt", reason="needs millpond[tabdpt]")

from parity import check_chunks, check_lanes, check_single  # noqa: E402
from tiny_checkpoints import MANY, TABLES, save_tabdpt, table  # noqa: E402

from millpond.backbones.published.device import Place  # noqa: E402
from millpond.backbones.published.tabdpt import Model  # noqa: E402
from millpond.backbones.published.tables import Table  # noqa: E402

CLOSE = 2e-5


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tabdpt(tmp_path_factory.mktemp("tabdpt"))


@pytest.fixture(scope="module")
def model(path: Path) -> Model:
    return Model(path, Place("cpu", "float32"))


def library(path: Path, asked: Table) -> Any:
    from tabdpt import TabDPTClassifier

    classifier = TabDPTClassifier(
        inf_batch_size=16, device="cpu", compile=False, model_weight_path=str(path), verbose=False
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # its principal components are randomised
        classifier.fit(asked.X, asked.y)
        return classifier.predict_proba(asked.queries)


def test_answers_as_the_library(model: Model, path: Path) -> None:
    check_single(model, lambda asked: library(path, asked), TABLES, CLOSE)


def test_more_classes_by_digits_as_the_library(model: Model, path: Path) -> None:
    """One query at a time: for several the library's digits come out on the wrong axis."""

    def one_by_one(asked: Table) -> Any:
        return np.concatenate(
            [library(path, Table(asked.X, asked.y, q[None], asked.classes)) for q in asked.queries]
        )

    check_single(model, one_by_one, MANY, CLOSE)


def test_more_features_by_principal_components_as_the_library(model: Model, path: Path) -> None:
    """At fewer rows than components the last ones are rounding's: the library's too."""
    wide = table(120, 130, 2)
    check_single(model, lambda asked: library(path, asked), {"d 130": wide}, 1e-4)
    before = torch.random.get_rng_state()
    model.probabilities([wide])
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.filterwarnings("ignore:Skipping features")
def test_columns_without_a_value_or_a_spread(model: Model, path: Path) -> None:
    odd = table(40, 8, 2, missing=0.1)
    odd.X[:, 1] = np.nan
    odd.X[:, 5] = 1e6
    check_single(model, lambda asked: library(path, asked), {"odd": odd}, CLOSE)


def test_lanes(model: Model) -> None:
    check_lanes(model, CLOSE, TABLES | MANY)


def test_chunks(model: Model) -> None:
    check_chunks(model, CLOSE)
