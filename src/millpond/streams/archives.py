"""From a path to the bytes of one data file: plain, .xz, .gz, .bz2 or the first member of a .zip.

Everything that can be wrong with a file before its content matters ends here: absent, a directory,
no permission, damaged, incomplete.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from millpond.errors import DataMissing, StreamError

_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".xz": lzma.decompress,
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
}
PACKED_SUFFIXES = (*_UNPACK, ".zip")


@dataclass(frozen=True)
class Unpacked:
    """A data file's name without its packing, its bytes, and the packed bytes' own."""

    name: str
    content: bytes
    packed: bytes
    notes: tuple[str, ...] = ()


def unpack(path: Path) -> Unpacked:
    """The content of `path`, with the packing that its suffix names undone."""
    packed = _read(path)
    suffix = path.suffix.lower()
    if suffix == ".zip":
        return _unzip(path, packed)
    if suffix in _UNPACK:
        try:
            content = _UNPACK[suffix](packed)
        except (lzma.LZMAError, zlib.error, EOFError, OSError, ValueError) as error:
            raise _damaged(path, error) from error
        return Unpacked(path.stem, content, packed)
    return Unpacked(path.name, packed, packed)


def _read(path: Path) -> bytes:
    # os.path answers False where pathlib raises (a name that is too long, a NUL in it).
    if not os.path.exists(path):
        raise DataMissing(f"no file {str(path)!r}")
    if os.path.isdir(path):
        raise StreamError(f"{path} is a directory; name the data file in it")
    if not os.path.isfile(path):
        raise StreamError(f"{path} is not a regular file")
    try:
        return path.read_bytes()
    except OSError as error:
        raise StreamError(f"{path} cannot be read: {error.strerror or error}") from error


def _unzip(path: Path, packed: bytes) -> Unpacked:
    """The first member that is data: the published loader's choice, past what macOS adds."""
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            members = [name for name in archive.namelist() if _is_data(name)]
            if not members:
                raise StreamError(f"{path} holds no file")
            content = archive.read(members[0])
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        OSError,
        ValueError,
        NotImplementedError,  # a compression method that Python does not know
        RuntimeError,  # a password
        UnicodeError,
    ) as error:
        if isinstance(error, StreamError):
            raise
        raise _damaged(path, error) from error
    rest = len(members) - 1
    notes = (f"{path.name}: read {members[0]!r}, {rest} other files left alone",) if rest else ()
    return Unpacked(members[0].rpartition("/")[2], content, packed, notes)


def _is_data(member: str) -> bool:
    return not member.endswith("/") and not member.startswith("__MACOSX/")


def _damaged(path: Path, error: Exception) -> StreamError:
    return StreamError(f"{path} is damaged, incomplete or not what its suffix says ({error})")
