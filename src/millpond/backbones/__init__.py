"""The frozen backbones by name, one file or folder each; each is imported when it is first used."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from millpond.backbones.base import Backbone, Prediction, Session
from millpond.errors import BadOption, UnknownName

__all__ = ["BACKBONES", "Backbone", "Prediction", "Session", "get_backbone"]

BACKBONES: dict[str, str] = {
    "knn": "millpond.backbones.knn:KNN",
    "rill": "millpond.backbones.rill:Rill",
    "tabpfn_v1": "millpond.backbones.published:TabPFNv1",
    "tabicl": "millpond.backbones.published:TabICL",
    "tabpfn": "millpond.backbones.published:TabPFN",
    "tabdpt": "millpond.backbones.published:TabDPT",
    "limix": "millpond.backbones.published:LimiX",
}
"""name -> module:class"""


def get_backbone(backbone: str | Backbone, /, **options: Any) -> Backbone:
    """The backbone of that name with its options (an instance of your own is passed through)."""
    if not isinstance(backbone, str):
        if options:
            raise BadOption(f"options {sorted(options)} need a backbone's name, not an instance")
        return backbone
    if backbone not in BACKBONES:
        raise UnknownName("backbone", backbone, BACKBONES)
    module, _, name = BACKBONES[backbone].partition(":")
    maker = getattr(importlib.import_module(module), name)
    known = list(inspect.signature(maker).parameters)
    for option in options:
        if option not in known:
            raise BadOption(
                f"the backbone {backbone} takes no option {option!r}; it takes {', '.join(known)}"
            )
    made: Backbone = maker(**options)
    return made
