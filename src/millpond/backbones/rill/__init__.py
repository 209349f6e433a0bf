"""Rill: the embedded backbone, whose context is its key-value cache. NumPy runs it.

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
"""

from __future__ import annotations

from functools import lru_cache
from os import PathLike
from pathlib import Path

from millpond.backbones.rill.network import Network
from millpond.backbones.rill.session import RillSession
from millpond.backbones.rill.weights import PACKAGED, load
from millpond.context import Contexts

__all__ = ["Rill"]


class Rill:
    """The embedded backbone; ``weights`` names another weights file than the packaged one."""

    name = "rill"

    def __init__(self, *, weights: str | PathLike[str] | None = None) -> None:
        self.weights = PACKAGED if weights is None else Path(weights)
        self._network = _network(self.weights, _changed(self.weights))

    def open(self, contexts: Contexts) -> RillSession:
        return RillSession(self._network, contexts)


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns if path.is_file() else 0


@lru_cache(maxsize=2)
def _network(path: Path, changed: int) -> Network:
    """Read once in a process, as long as the file stays as it is."""
    return Network(load(path))
