"""LimiX's session against its repository's own predictor, where MILLPOND_LIMIX_CODE names a checkout."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs millpond[limix]")

from parity import check_lanes, check_single  # noqa: E402
from tiny_checkpoints import MANY, TABLES, save_limix, table  # noqa: E402

from millpond.backbones import get_backbone  # noqa: E402
from millpond.backbones.published import limix  # noqa: E402
from millpond.backbones.published.device import Place  # noqa: E402
from millpond.backbones.published.limix import Model, find_code  # noqa: E402
from millpond.backbones.published.tables import Table  # noqa: E402
from millpond.errors import BadInput, DataMissing  # noqa: E402

CLOSE = 1e-5
FLAT = {name: asked for name, asked in TABLES.items() if name != "two rows"}
"""Two rows have no quantiles"""


@pytest.fixture(scope="module")
def checkout() -> str:
    named = os.environ.get(limix.VARIABLE)
    if not named:
        pytest.skip(f"{limix.VARIABLE} names no checkout of LimiX")
    return named


@pytest.fixture(scope="module")
def path(checkout: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_limix(tmp_path_factory.mktemp("limix"), find_code(checkout).network)


@pytest.fixture(scope="module")
def model(path: Path, checkout: str) -> Model:
    return Model(path, Place("cpu", "float32"), code=checkout)


def library(path: Path, checkout: str, asked: Table) -> Any:
    """The predictor as it is, but for the name under which scikit-learn validates today."""
    code = find_code(checkout)
    predictor = code.predictor(
        device=torch.device("cpu"),
        model_path=str(path),
        inference_config=[code.pipeline],
        mix_precision=False,
    )
    predictor.validate_data = lambda x=None, y=None, **_: x if y is None else (x, y)
    with torch.random.fork_rng(devices=[]):
        return predictor.predict(asked.X, asked.y, asked.queries)


@pytest.mark.filterwarnings("ignore")
def test_answers_as_the_repository(model: Model, path: Path, checkout: str) -> None:
    check_single(model, lambda asked: library(path, checkout, asked), FLAT, CLOSE)


@pytest.mark.filterwarnings("ignore")
def test_lanes(model: Model) -> None:
    check_lanes(model, CLOSE, FLAT)


def test_more_classes_are_refused(model: Model) -> None:
    with pytest.raises(BadInput, match="at most 10 classes apart, this context holds 11"):
        model.probabilities([MANY["11 classes"]])


def test_the_checkouts_names_are_left_to_others(model: Model) -> None:
    rooms = {name.partition(".")[0] for name in sys.modules}
    assert not {"inference", "model"} & rooms


# -- a stand-in of the same interface: a module that can be imported --------------------------------


class FeaturesTransformer(torch.nn.Module):
    """Distance to the class means of the first column; keeps what it is asked."""

    calls: list[tuple[int, ...]] = []  # noqa: RUF012

    def __init__(self, **config: Any) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))

    def forward(self, *, x: Any, y: Any, eval_pos: int, task_type: str) -> Any:
        self.calls.append(tuple(x.shape))
        logits = torch.full((len(x), x.shape[1] - eval_pos, 10), -9.0)
        for lane in range(len(x)):
            for label in y[lane].unique().int().tolist():
                mean = x[lane, :eval_pos, 0][y[lane] == label].mean()
                logits[lane, :, label] = -self.scale * (x[lane, eval_pos:, 0] - mean).abs()
        return logits


def load_model(**_: Any) -> Any:
    raise AssertionError("the network is loaded by the session")


class LimiXPredictor:
    """Reverses the classes and doubles the columns."""

    def __init__(self, *, device: Any, model_path: str, inference_config: list[Any], **_: Any):
        assert inference_config[0]["retrieval_config"] == {"use_retrieval": False}
        self.model = load_model(model_path=model_path)
        self.seed = 0

    def predict(self, X: Any, y: Any, queries: Any) -> Any:
        X, queries = self.validate_data(X, y)[0], self.validate_data(queries)
        classes = len(np.unique(y))
        self.class_permutations = [np.arange(classes)[::-1].copy()]
        rows = 2 * np.concatenate([X, queries])
        self.model.to("cpu")
        logits = self.model(
            x=torch.from_numpy(rows)[None],
            y=torch.from_numpy(self.class_permutations[0][y].astype(np.float32))[None],
            eval_pos=len(X),
            task_type="cls",
        )[0]
        logits = logits[:, :classes] / 0.9
        return logits[:, self.class_permutations[0]].softmax(-1).detach().numpy()


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    config = dict.fromkeys(limix._NETWORK, 1) | {"decoder_config": {"num_classes": 10}}
    path = tmp_path / "stand-in.ckpt"
    torch.save({"config": config, "state_dict": {"scale": torch.tensor(0.5)}}, path)
    return path


def test_a_module_with_its_interface(stand_in: Path) -> None:
    model = Model(stand_in, Place("cpu", "float32"), code=__name__)
    tables = [table(40, 3, 2), table(40, 3, 4, seed=1), table(40, 3, 2, seed=2), table(30, 3, 2)]
    FeaturesTransformer.calls.clear()
    found = model.probabilities(tables)
    assert FeaturesTransformer.calls == [(3, 43, 3), (1, 33, 3)]
    for asked, proba in zip(tables, found, strict=True):
        means = np.array([asked.X[asked.y == c, 0].mean() for c in range(asked.classes)])
        logits = -0.5 * 2 * np.abs(asked.queries[:, :1] - means) / 0.9
        expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        assert proba == pytest.approx(expected, abs=1e-5)


def test_the_global_seed_is_left_alone(stand_in: Path) -> None:
    model = Model(stand_in, Place("cpu", "float32"), code=__name__)
    before = torch.random.get_rng_state()
    model.probabilities([table(40, 3, 2)])
    assert torch.equal(before, torch.random.get_rng_state())


def test_without_code_it_says_where_it_is(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(limix.VARIABLE, raising=False)
    with pytest.raises(DataMissing, match=r"git clone https://github\.com/limix-ldm/LimiX"):
        get_backbone("limix", weights=stand_in)


@pytest.mark.parametrize("code", ["no_such_module", "json", "."])
def test_something_else_than_its_code(stand_in: Path, tmp_path: Path, code: str) -> None:
    named = str(tmp_path) if code == "." else code
    with pytest.raises(DataMissing, match="neither a checkout of LimiX nor a module"):
        get_backbone("limix", weights=stand_in, code=named)
