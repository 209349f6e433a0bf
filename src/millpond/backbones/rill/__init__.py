"""Rill: the embedded backbone, whose context is its key-value cache. NumPy runs it, or torch.

A small causal transformer, trained on synthetic drifting streams only. A row is read once, when it is
added; a query attends to the cached keys of the rows that are in the context; evicting a row is
shutting its column. So a step costs two tokens, however many rows the context holds.

weights    the file: format, checksum, refusals
features   what the numbers of a row become
network    the weights as the engine wants them
cache      keys and values by slot, masks, pending deltas
engine     the forward pass;  head  from final states to probabilities
classes    whose rows are in the context;  lanes  which lanes a call is about
session    the seam: deltas in, predictions out, state
device     the same on torch
"""

from __future__ import annotations

from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from millpond.backbones.base import Session
from millpond.backbones.rill.network import Network
from millpond.backbones.rill.session import RillSession
from millpond.backbones.rill.weights import PACKAGED, load
from millpond.context import Contexts
from millpond.errors import BadOption, MissingExtra

if TYPE_CHECKING:
    from millpond.backbones.rill.device.model import Model

__all__ = ["Rill"]


class Rill:
    """The embedded backbone; ``weights`` names another weights file than the packaged one.

    ``engine="torch"`` runs it on a ``device`` ("cpu", "cuda", "cuda:1" ...), with matrices and caches in
    ``dtype`` ("float32" or "bfloat16"); it needs the extra ``torch``.
    """

    name = "rill"

    def __init__(
        self,
        *,
        weights: str | PathLike[str] | None = None,
        engine: str = "numpy",
        device: str | None = None,
        dtype: str = "float32",
    ) -> None:
        self.weights = PACKAGED if weights is None else Path(weights)
        self._network = _network(self.weights, _changed(self.weights))
        if engine not in ("numpy", "torch"):
            raise BadOption(f"engine must be 'numpy' or 'torch', not {engine!r}")
        if engine == "numpy" and (device is not None or dtype != "float32"):
            raise BadOption("device and dtype need engine='torch'")
        self._model: Model | None = None
        if engine == "torch":
            self._model = _model(self._network, device or "cpu", dtype)

    def open(self, contexts: Contexts) -> Session:
        if self._model is None:
            return RillSession(self._network, contexts)
        from millpond.backbones.rill.device.session import TorchSession

        return TorchSession(self._model, contexts)


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns if path.is_file() else 0


@lru_cache(maxsize=2)
def _network(path: Path, changed: int) -> Network:
    """Read once in a process, as long as the file stays as it is."""
    return Network(load(path))


def _model(network: Network, device: str, dtype: str) -> Model:
    """The network as tensors; torch is imported here and by what this leads to, not before."""
    try:
        import torch
    except ModuleNotFoundError:
        raise MissingExtra("Rill's torch engine", "torch") from None
    from millpond.backbones.rill.device.model import DTYPES, Model

    if dtype not in DTYPES:
        raise BadOption(f"dtype must be one of {', '.join(DTYPES)}, not {dtype!r}")
    try:
        place = torch.empty(0, device=device).device
    except (AssertionError, RuntimeError, ValueError) as error:
        raise BadOption(f"there is no device {device!r} here: {error}") from None
    return Model(network, place, DTYPES[dtype])
