"""Saved classifiers: one checked file each, written whole or not at all; every later version reads it.

The file is a `millpond.state` archive whose meta names the format and its version. Version 1:

    arguments   how the classifier was made: backbone and policy by name, budget, ..., options
    labels, encoder, waiting   see `millpond.tags`
    learner.*   arrays: the contexts, and the backbone's caches
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from millpond.errors import CheckpointError
from millpond.state import State, pack, unpack, write_atomically

FORMAT = "millpond classifier"
VERSION = 1


def write(path: str | os.PathLike[str], meta: dict[str, Any], arrays: State) -> None:
    write_atomically(Path(path), pack({"format": FORMAT, "version": VERSION, **meta}, arrays))


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], State]:
    """Meta and arrays, or a CheckpointError that says what is wrong with the file."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror or error}") from None
    meta, arrays = unpack(content, path)
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise CheckpointError(f"{path} is not a saved classifier; a run's checkpoint, perhaps?")
    version = meta.get("version")
    if not isinstance(version, int) or version < 1:
        raise CheckpointError(f"{path} is a saved classifier of no version: {version!r}")
    if version > VERSION:
        raise CheckpointError(
            f"{path} was saved by a later millpond (format {version}, this one reads up to "
            f"{VERSION}): pip install --upgrade millpond"
        )
    return meta, arrays
