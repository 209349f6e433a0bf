"""The published in-context models behind the seam, one file each, loaded when they are first used.

catalogue      weights, sources and terms;  weights  where they lie;  fetch, package_index  `get`
session        contexts that are read anew at each query;  tables  what a model is asked
device         devices, precision, checkpoints
tabpfn_v1 ...  a model: how its library prepares a table, and its forward
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from millpond.backbones.base import Session
from millpond.backbones.published.catalogue import NAMES, Entry, entry
from millpond.backbones.published.weights import checked, own_path, require, unusable
from millpond.context import Contexts

__all__ = ["LimiX", "TabDPT", "TabICL", "TabPFN", "TabPFNv1", "own_weights"]


class Published:
    """A published model: ``weights`` names its file, else it is looked for (`weights.find`)."""

    name: str

    def __init__(
        self,
        *,
        weights: str | PathLike[str] | None = None,
        device: str = "cpu",
        dtype: str = "float32",
    ) -> None:
        self._open(weights, device, dtype)

    def _open(
        self, weights: str | PathLike[str] | None, device: str, dtype: str, **own: Any
    ) -> None:
        known = entry(self.name)
        found = require(known, weights)
        self.weights = found.path
        self._sha256 = checked(known, found)
        self._model = _model(known, found.path, self._sha256, device, dtype, **own)

    def open(self, contexts: Contexts) -> Session:
        from millpond.backbones.published.session import ReencodingSession

        return ReencodingSession(self._model, contexts, self._sha256)


@lru_cache(maxsize=2)
def _model(known: Entry, path: Path, sha256: str, device: str, dtype: str, **own: Any) -> Any:
    """Read once in a process, as long as the file stays as it is."""
    from millpond.backbones.published.device import Place, Unreadable

    place = Place(device, dtype)
    module = importlib.import_module(f"millpond.backbones.published.{known.name}")
    try:
        return module.load(path, place, **own)
    except Unreadable as error:
        raise unusable(known, path, str(error)) from None


def own_weights(backbone: str | None, data_dir: str | None) -> dict[str, str]:
    """The option that names the weights in a data folder that is not the usual one, where they are."""
    if backbone not in NAMES or data_dir is None:
        return {}
    path = own_path(entry(backbone), data_dir)
    return {"weights": str(path)} if path.is_file() else {}


class TabPFNv1(Published):
    """TabPFN-v1 with its released weights; up to 10 classes and 100 features."""

    name = "tabpfn_v1"


class TabICL(Published):
    """TabICL-v2; ten classes at once, more by its hierarchy."""

    name = "tabicl"


class TabPFN(Published):
    """TabPFN-v2.5; its weights are for non-commercial use. Up to ten classes."""

    name = "tabpfn"


class TabDPT(Published):
    """TabDPT-v1.1 without retrieval; ten classes at once, more by digits, 100 features, more by PCA."""

    name = "tabdpt"


class LimiX(Published):
    """LimiX-16M without retrieval; ``code`` is a checkout of its repository or a module. Ten classes."""

    name = "limix"

    def __init__(
        self,
        *,
        weights: str | PathLike[str] | None = None,
        code: str | PathLike[str] | None = None,
        device: str = "cpu",
        dtype: str = "float32",
    ) -> None:
        self._open(weights, device, dtype, code=None if code is None else str(code))
