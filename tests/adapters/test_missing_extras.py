"""An adapter without its library says which extra to install."""

from __future__ import annotations

import importlib
import sys

import pytest

from millpond.errors import MissingExtra


@pytest.mark.parametrize("library", ["river", "sklearn", "capymoa"])
def test_the_extra_is_named(library, monkeypatch):
    for module in list(sys.modules):
        if module.partition(".")[0] == library or module == f"millpond.adapters.{library}":
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=rf"millpond\[{library}\]"):
        importlib.import_module(f"millpond.adapters.{library}")
