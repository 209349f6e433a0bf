"""Finished units on disk: one line of JSON each, in one file a stream."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from millpond.errors import CheckpointError
from millpond.paper.record import Record
from millpond.paper.units import Unit
from millpond.state import write_atomically

NOT_RUN = "not_run.json"


class Store:
    """The folder of a run of the paper: ``units/STREAM.jsonl`` and ``work/``, what is unfinished."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def work(self, key: str) -> Path:
        return self.folder / "work" / key

    def read(self) -> dict[Unit, Record]:
        """All that is finished. A line that a crash cut short is as if it were not there."""
        found = {}
        for path in sorted((self.folder / "units").glob("*.jsonl")):
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1], 1):
                if not line:
                    continue
                try:
                    record = Record.read(json.loads(line))
                except (ValueError, KeyError, TypeError):
                    raise CheckpointError(
                        f"line {number} of {path} holds no result: remove the line and run again"
                    ) from None
                found[record.unit] = record
        return found

    def read_failures(self) -> dict[Unit, str]:
        """What the last run could not compute, and why."""
        path = self.folder / NOT_RUN
        if not path.exists():
            return {}
        try:
            return {Unit.read(unit): why for why, unit in json.loads(path.read_text("utf-8"))}
        except (ValueError, TypeError):
            raise CheckpointError(f"{path} holds no reasons: remove it and run again") from None

    def keep_failures(self, failures: Mapping[Unit, str]) -> None:
        """In the place of those that were kept before."""
        lines = [json.dumps([why, unit.document()]) for unit, why in failures.items()]
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(
            self.folder / NOT_RUN, f"[{','.join(lines)}]\n".replace("],[", "],\n[").encode()
        )

    def add(self, records: list[Record]) -> None:
        """On disk when this returns."""
        for record in records:
            path = self.folder / "units" / f"{record.unit.stream}.jsonl"
            line = json.dumps(record.document(), allow_nan=False) + "\n"
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with open(path, "ab+") as file:
                    if file.tell() and not _whole(path):
                        line = "\n" + line  # behind what a crash left
                    file.write(line.encode())
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise CheckpointError(
                    f"cannot write {path}: {error.strerror or error}; what was finished before is "
                    "there: make room and run again"
                ) from error


def _whole(path: Path) -> bool:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
