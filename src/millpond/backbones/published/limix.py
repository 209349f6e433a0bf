"""LimiX-16M without retrieval (Zhang et al.): code and weights of its authors, driven from here.

There is no package: ``code`` names a checkout of the repository, or an importable module with its
`LimiXPredictor` and `FeaturesTransformer`. One estimator: the first pipeline of the repository's
configuration without retrieval. The predictor prepares a table as it is; where it would call the
network, the tables are collected, and asked together.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from millpond.backbones.published.catalogue import entry
from millpond.backbones.published.device import UNREADABLE, Place, Unreadable, read_checkpoint
from millpond.backbones.published.tables import FloatArray, Table, grouped, softmax
from millpond.errors import BadInput, DataMissing, MissingExtra

TEMPERATURE = 0.9
CELLS = (1 << 16, 1 << 20)
CONFIGURATION = Path("config") / "cls_default_noretrieval.json"
SOURCE = "git clone https://github.com/limix-ldm/LimiX"
VARIABLE = entry("limix").checkout
_ROOMS = ("inference", "model", "utils")
"""Top-level modules of the checkout, whose names are anybody's."""
_NETWORK = (
    "preprocess_config_x",
    "encoder_config_x",
    "encoder_config_y",
    "decoder_config",
    "nlayers",
    "nhead",
    "embed_dim",
    "hid_dim",
    "features_per_group",
    "dropout",
    "recompute_attn",
)
"""What of a checkpoint's configuration the network is made from."""
_PIPELINE = {
    "RebalanceFeatureDistribution": {
        "worker_tags": ["quantile_uniform_10"],
        "discrete_flag": False,
        "original_flag": True,
        "svd_tag": "svd",
    },
    "CategoricalFeatureEncoder": {"encoding_strategy": "ordinal_strict_feature_shuffled"},
    "FeatureShuffler": {"mode": "shuffle"},
    "retrieval_config": {"use_retrieval": False},
}
"""The first pipeline of the repository's configuration; read from the checkout where there is one."""


@dataclass(frozen=True)
class Code:
    """The authors' classes, and the configuration of one estimator."""

    predictor: Any
    network: Any
    pipeline: dict[str, Any]


@dataclass(frozen=True)
class Prepared:
    X: Tensor
    """(T + k, F)"""
    y: Tensor
    """(T,)"""
    permutation: Any


class Model:
    """The authors' predictor around one checkpoint's network, on one device."""

    def __init__(self, path: Path, place: Place, *, code: str | None = None) -> None:
        self.place = place
        found = find_code(code)
        checkpoint = read_checkpoint(path)
        try:
            config = checkpoint["config"]
            self.network = found.network(
                **{name: config[name] for name in _NETWORK},
                layer_norm_eps=config.get("layer_norm_eps", 1e-5),
            )
            self.network.load_state_dict(checkpoint["state_dict"])
            self.most_classes = int(config["decoder_config"]["num_classes"])
        except (*UNREADABLE, AssertionError) as error:
            raise Unreadable(f"it does not hold LimiX ({str(error)[:200]})") from None
        self.network.eval().requires_grad_(False).to(place.device)
        with _without_loading(found.predictor):
            self.predictor = found.predictor(
                device=torch.device("cpu"),
                model_path=str(path),
                inference_config=[found.pipeline],
                mix_precision=False,
            )
        self.predictor.validate_data = _as_it_is

    def probabilities(self, tables: list[Table]) -> list[FloatArray]:
        """Tables that become one shape in one forward, also of different numbers of classes."""
        for table in tables:
            if table.classes > self.most_classes:
                raise BadInput(
                    f"LimiX tells at most {self.most_classes} classes apart, this context holds "
                    f"{table.classes}: use a backbone without that limit, such as rill"
                )
        return grouped([self._prepared(t) for t in tables], _key, self._together, self._most)

    def _most(self, prepared: Prepared) -> int:
        # The network blanks what lies behind `eval_pos` on its first axis, which is that of tables.
        return min(self.place.most(CELLS, prepared.X.numel()), len(prepared.y))

    def _together(self, part: list[Prepared]) -> list[FloatArray]:
        X = torch.stack([p.X for p in part]).to(self.place.device)
        y = torch.stack([p.y for p in part]).to(self.place.device)
        devices = [X.device] if X.device.type == "cuda" else []
        # Column embeddings are drawn anew at each forward, from the predictor's seed.
        with self.place.quietly(), torch.random.fork_rng(devices), _unwarned():
            torch.manual_seed(self.predictor.seed)
            logits = self.network(x=X, y=y, eval_pos=y.shape[1], task_type="cls")
            found = self.place.fetch(logits) / TEMPERATURE  # (B, k, C)
        return [softmax(rows[:, p.permutation]) for rows, p in zip(found, part, strict=True)]

    def _prepared(self, table: Table) -> Prepared:
        """Let the predictor prepare the table, and take what it would ask its network."""
        asked: dict[str, Tensor] = {}

        def network(*, x: Tensor, y: Tensor, eval_pos: int, task_type: str) -> Tensor:
            asked.update(x=x[0], y=y[0])
            return torch.zeros(1, x.shape[1] - eval_pos, self.most_classes)

        self.predictor.model = _Network(network)
        if not _varies(table):  # which the predictor refuses
            column = np.zeros((len(table.X), 1), np.float32)
            column[-1] = 1.0
            table = Table(column, table.y, column[: len(table.queries)] * 0, table.classes)
        with torch.random.fork_rng(devices=[]), _unwarned():
            self.predictor.predict(table.X, table.y, table.queries)
        (permutation,) = self.predictor.class_permutations
        return Prepared(asked["x"], asked["y"], permutation)


class _Network:
    """Stands where the predictor has its network."""

    def __init__(self, asked: Any) -> None:
        self._asked = asked

    def to(self, device: Any) -> _Network:
        return self

    def __call__(self, **asked: Any) -> Any:
        return self._asked(**asked)


def find_code(code: str | None) -> Code:
    """The authors' code, from a checkout's folder or a module's name."""
    named = code or os.environ.get(VARIABLE)
    if not named:
        raise DataMissing(
            f"LimiX has no package: get its code with `{SOURCE}` and name the folder with code=... "
            f"or {VARIABLE}"
        )
    folder = Path(named).expanduser()
    try:
        if not folder.is_dir():
            module = importlib.import_module(named)
            return Code(module.LimiXPredictor, module.FeaturesTransformer, _PIPELINE)
        with _importable(folder):
            predictor = importlib.import_module("inference.predictor").LimiXPredictor
            network = importlib.import_module("model.transformer").FeaturesTransformer
        pipeline = json.loads((folder / CONFIGURATION).read_text(encoding="utf-8"))[0]
    except ModuleNotFoundError as error:
        if error.name == named or _room(error.name or ""):
            raise _no_code(named) from None
        raise MissingExtra(f"LimiX's code ({error.name})", "limix") from None
    except (AttributeError, OSError, ValueError, LookupError, TypeError):
        raise _no_code(named) from None
    return Code(predictor, network, pipeline)


def _no_code(named: str) -> DataMissing:
    return DataMissing(
        f"{named!r} is neither a checkout of LimiX nor a module with its classes: get it with `{SOURCE}`"
    )


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Import from the folder; afterwards its modules' names are free for others again."""
    mine = {name: module for name, module in sys.modules.items() if _room(name)}
    for name in mine:
        del sys.modules[name]
    sys.path.insert(0, str(folder.resolve()))
    try:
        yield
    finally:
        sys.path.remove(str(folder.resolve()))
        for name in [name for name in sys.modules if _room(name)]:
            del sys.modules[name]
        sys.modules.update(mine)


def _room(name: str) -> bool:
    return name.partition(".")[0] in _ROOMS


@contextmanager
def _without_loading(predictor: Any) -> Iterator[None]:
    """The predictor loads its checkpoint as a pickle that may hold code: it is not asked to."""
    names = predictor.__init__.__globals__
    before = names["load_model"]
    names["load_model"] = lambda **_: None
    try:
        yield
    finally:
        names["load_model"] = before


@contextmanager
def _unwarned() -> Iterator[None]:
    """The authors' code warns of names that torch and scikit-learn have renamed."""
    with warnings.catch_warnings(action="ignore"):
        yield


def _as_it_is(x: Any = None, y: Any = None, **_: Any) -> Any:
    """In place of validation, which asks scikit-learn by a name that it has dropped."""
    return x if y is None else (x, y)


def _varies(table: Table) -> bool:
    rows = np.concatenate([table.X, table.queries])
    return bool((rows[:1] != rows).any())


def _key(prepared: Prepared) -> tuple[int, ...]:
    return (*prepared.X.shape, len(prepared.y))


load = Model
