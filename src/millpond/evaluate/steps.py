"""The per-step log: one record for each row, appended as the run goes, columns once it is finished."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.errors import CheckpointError

UNSCORED = -1

STEP = np.dtype(
    [
        ("prediction", "<i4"),  # class code; -1 where the row was not scored
        ("label", "<i4"),
        ("p_label", "<f4"),  # probability given to the true class; NaN where not scored
        ("confidence", "<f4"),  # the largest probability; NaN where not scored
        ("score", "<f4"),  # the uncertainty the row is stored with
        ("short", "<i4"),  # bank sizes when it was predicted
        ("long", "<i4"),
    ]
)


class StepLog:
    """An append-only file of STEP records. What lies behind the last checkpoint is cut off on resume."""

    def __init__(self, path: Path, rows: int) -> None:
        """Open for appending behind the first ``rows`` records, which are kept."""
        self._path = path
        try:
            self._file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115
            self._file.truncate(rows * STEP.itemsize)
            self._file.seek(0, os.SEEK_END)
        except OSError as error:
            raise self._failed(error) from error
        if self._file.tell() != rows * STEP.itemsize:
            raise CheckpointError(
                f"{path} is shorter than its checkpoint says; start again without --resume"
            )

    def append(self, records: NDArray[np.void]) -> None:
        try:
            self._file.write(records.tobytes())
        except OSError as error:
            raise self._failed(error) from error

    def flush(self) -> None:
        """All records are on disk when this returns: a checkpoint may now count on them."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._failed(error) from error

    def records(self) -> NDArray[np.void]:
        self._file.flush()
        return np.fromfile(self._path, dtype=STEP)

    def _failed(self, error: OSError) -> CheckpointError:
        return CheckpointError(
            f"cannot write {self._path}: {error.strerror or error}; what was saved before is still "
            "there: make room and go on with --resume"
        )

    def __enter__(self) -> StepLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # a full disk: what lies behind the checkpoint is made anew
            self._file.close()


def write_columns(path: Path, records: NDArray[np.void]) -> None:
    """The log as a columnar file: ``numpy.load(path)["prediction"]`` and so on."""
    columns: dict[str, Any] = {
        name: np.ascontiguousarray(records[name]) for name in STEP.names or ()
    }
    with open(path, "wb") as file:
        np.savez_compressed(file, **columns)
