"""Checkpoints: the whole state of a run in one file, written so that a crash never loses the last one.

Two files are written in turn, each whole to a temporary name, flushed to disk and then renamed: whatever
happens, the newest that is complete is found again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from millpond.errors import CheckpointError
from millpond.state import State, pack, unpack, write_atomically

NAMES = ("checkpoint-a", "checkpoint-b")


class Checkpoints:
    """The two checkpoint files of a run's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._saved = 0

    def save(self, meta: dict[str, Any], arrays: State) -> None:
        """Write the older of the two files; ``meta["row"]`` says which one is newer when loading."""
        content = pack(meta, arrays)
        write_atomically(self._folder / NAMES[self._saved % 2], content)
        self._saved += 1

    def load(self) -> tuple[dict[str, Any], State, list[str]] | None:
        """The newest good checkpoint, with a warning for each damaged file; None if there is none.

        If files exist and every one of them is damaged, that is a CheckpointError.
        """
        good, damaged = [], []
        for index, name in enumerate(NAMES):
            path = self._folder / name
            if not path.exists():
                continue
            try:
                meta, arrays = unpack(path.read_bytes(), path)
                if not isinstance(meta, dict) or not isinstance(meta.get("row"), int):
                    raise CheckpointError(f"{path} is not a run's checkpoint")
                good.append((meta, arrays, index))
            except (CheckpointError, OSError) as error:
                damaged.append(str(error))
        if not good:
            if damaged:
                raise CheckpointError(f"{'; '.join(damaged)}; start again without --resume")
            return None
        meta, arrays, index = max(good, key=lambda found: found[0]["row"])
        self._saved = index + 1  # the next one overwrites the other file
        return meta, arrays, [f"{text}; using the one before it" for text in damaged]

    def clear(self) -> None:
        for name in NAMES:
            (self._folder / name).unlink(missing_ok=True)
