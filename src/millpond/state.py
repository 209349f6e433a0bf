"""State as named arrays: put together, packed into one checked file, written without ever losing the old.

A file is a magic line, the SHA-256 of what follows, and an uncompressed .npz archive without pickles
whose entry ``meta`` is JSON.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.errors import CheckpointError

MAGIC = b"millpond state 1\n"
_ANY = b"millpond state "

State = dict[str, NDArray[Any]]


def named(prefix: str, state: State) -> State:
    """The same arrays under names that begin with a prefix, so that states can be put together."""
    return {prefix + name: array for name, array in state.items()}


def under(prefix: str, state: State) -> State:
    """The part of a state whose names begin with a prefix, without it."""
    return {name[len(prefix) :]: array for name, array in state.items() if name.startswith(prefix)}


def fingerprint(meta: Any, arrays: State) -> str:
    """SHA-256 of JSON and arrays, the same on every machine."""
    digest = hashlib.sha256(json.dumps(meta, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        digest.update(f"{name} {little.dtype.str} {little.shape}".encode())
        digest.update(little.tobytes())
    return digest.hexdigest()


def pack(meta: dict[str, Any], arrays: State) -> bytes:
    buffer = io.BytesIO()
    entries: dict[str, Any] = {"meta": np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays}
    np.savez(buffer, **entries)
    return seal(buffer.getvalue())


def seal(payload: bytes) -> bytes:
    """The payload under its magic line and checksum."""
    return MAGIC + hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload


def unpack(content: bytes, path: Path) -> tuple[dict[str, Any], State]:
    head = len(MAGIC) + 65
    if content.startswith(_ANY) and not content.startswith(MAGIC[: len(_ANY) + 2]):
        raise CheckpointError(f"{path} was written by a later millpond, or is damaged")
    if not content.startswith(MAGIC) or len(content) < head:
        raise CheckpointError(f"{path} is not a millpond state of this version or is cut short")
    payload = content[head:]
    if content != seal(payload):
        raise CheckpointError(f"{path} is damaged: its checksum does not fit")
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        meta = json.loads(arrays.pop("meta").tobytes())
    except Exception as error:  # whole, but made by something else: wrong in any way there is
        raise CheckpointError(f"{path} cannot be read: {error!r}") from None
    return meta, arrays


def write_atomically(path: Path, content: bytes) -> None:
    """All of it or nothing: a temporary file, flushed to disk, takes the place of the old one."""
    temporary = path.with_name(path.name + ".part")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise CheckpointError(
            f"cannot write {path}: {error.strerror or error}; what was saved before is still there. "
            "Make room, and save again or go on with --resume"
        ) from error
