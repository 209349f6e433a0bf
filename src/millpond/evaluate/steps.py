"""The per-step log: one record for each row, appended as the run goes, columns once it is finished."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.errors import CheckpointError
from millpond.state import write_atomically

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

    def __init__(self, path: Path, rows: int = 0, digest: str | None = None) -> None:
        """Open for appending behind the first ``rows`` records, which are kept if they are whole."""
        self._path = path
        size = rows * STEP.itemsize
        try:
            self._file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115
            kept = self._file.read(size)
            self._hash = hashlib.sha256(kept)
            if len(kept) < size or digest not in (None, self.digest()):
                self._file.close()
                raise CheckpointError(
                    f"{path} is damaged: it does not hold the {rows} rows that its checkpoint "
                    "knows; start again without --resume"
                )
            self._file.truncate(size)
            self._file.seek(size)
        except OSError as error:
            raise self._failed(error) from error

    def append(self, records: NDArray[np.void]) -> None:
        content = records.tobytes()
        try:
            self._file.write(content)
        except OSError as error:
            raise self._failed(error) from error
        self._hash.update(content)

    def digest(self) -> str:
        """SHA-256 of all records so far."""
        return self._hash.hexdigest()

    def flush(self) -> None:
        """All records are on disk when this returns: a checkpoint may now count on them."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._failed(error) from error

    def records(self) -> NDArray[np.void]:
        try:
            self._file.flush()
        except OSError as error:
            raise self._failed(error) from error
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
    content = io.BytesIO()
    np.savez_compressed(content, **columns)
    write_atomically(path, content.getvalue())


def read_predictions(path: Path) -> NDArray[np.int32]:
    """The predicted codes in a file that `write_columns` wrote."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as columns:
            return np.asarray(columns["prediction"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from None
