"""Where a published backbone's weights lie on this machine, and what to do where they do not.

Looked for in this order: the argument, the environment variable, the data folder, the caches of the
Hugging Face hub and of the model's own library.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from millpond.backbones.published.catalogue import Entry, Hub
from millpond.errors import BadOption, DataMissing, MissingExtra
from millpond.streams.folder import user_cache, weights_folder


@dataclass(frozen=True)
class Found:
    """A weights file, and whether it lies where only the released file belongs."""

    path: Path
    released: bool


def own_path(entry: Entry, data_dir: str | os.PathLike[str] | None = None) -> Path:
    """Where `millpond backbones get` puts the file."""
    return weights_folder(data_dir) / entry.name / entry.file


def find(
    entry: Entry,
    weights: str | os.PathLike[str] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
) -> Found | None:
    """The first place with a file; a place that was named and is empty is an error, not skipped."""
    for named, what in ((weights, "weights"), (os.environ.get(entry.variable), entry.variable)):
        if named:
            path = Path(named).expanduser()
            if not path.is_file():
                raise DataMissing(f"{what} names {str(path)!r}, which is no file: {_how(entry)}")
            return Found(path, released=False)
    for path in (own_path(entry, data_dir), *_cached(entry)):
        if path.is_file():
            return Found(path, released=True)
    return None


def require(entry: Entry, weights: str | os.PathLike[str] | None = None) -> Found:
    """The weights file, or in one sentence how to get it."""
    if lacking(entry):
        raise MissingExtra(entry.label, entry.extra)
    found = find(entry, weights)
    if found is None:
        raise DataMissing(f"the weights of {entry.label} are not on this machine: {_how(entry)}")
    return found


def lacking(entry: Entry) -> list[str]:
    """The modules that it needs and that are not installed; nothing is imported for it."""
    return [name for name in entry.needs if importlib.util.find_spec(name) is None]


def install(entry: Entry) -> str:
    """What to type for the modules that it needs."""
    words = f"pip install 'millpond[{entry.extra}]'"
    return f"{words} and {entry.checkout}: {entry.code}" if entry.checkout else words


def checked(entry: Entry, found: Found) -> str:
    """The file's SHA-256; a file in the released one's place must be that one."""
    try:
        with found.path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataMissing(f"{found.path} cannot be read: {error.strerror or error}") from error
    if found.released and entry.sha256 is not None and sha256 != entry.sha256:
        raise unusable(entry, found.path, f"its SHA-256 is {sha256}, not {entry.sha256}")
    return sha256


def unusable(entry: Entry, path: Path, why: str) -> BadOption:
    return BadOption(
        f"{path} is not a weights file of {entry.label}: {why}; move it away, then {_how(entry)}"
    )


def state(
    entry: Entry, data_dir: str | os.PathLike[str] | None = None
) -> tuple[Literal["ready", "no weights", "no package"], Path]:
    """Whether it could be used now, and its file or the place for it."""
    try:
        found = find(entry, None, data_dir)
    except DataMissing:  # a variable names a file that is not there
        return "no weights", Path(os.environ[entry.variable])
    path = own_path(entry, data_dir) if found is None else found.path
    if lacking(entry) or (entry.checkout and not os.environ.get(entry.checkout)):
        return "no package", path
    return ("no weights" if found is None else "ready"), path


def _how(entry: Entry) -> str:
    place = own_path(entry)
    terms = f" ({entry.licence})" if isinstance(entry.source, Hub) and entry.source.gated else ""
    return (
        f"run `millpond backbones get {entry.name}`, or put {entry.file} from {entry.page}{terms} "
        f"into {place.parent}, or name the file with weights=... or {entry.variable}"
    )


def _cached(entry: Entry) -> Iterator[Path]:
    """Where the model's library or the hub's client would have put it."""
    if entry.cache is not None:
        variable, folder = entry.cache
        chosen = os.environ.get(variable)
        yield (Path(chosen).expanduser() if chosen else user_cache() / folder) / entry.file
    if isinstance(entry.source, Hub):
        repository = _hub_cache() / f"models--{entry.source.repository.replace('/', '--')}"
        try:
            revision = (repository / "refs" / "main").read_text().strip()
        except OSError:
            return
        yield repository / "snapshots" / revision / entry.file


def _hub_cache() -> Path:
    for variable, below in (("HF_HUB_CACHE", ""), ("HF_HOME", "hub")):
        if os.environ.get(variable):
            return Path(os.environ[variable]).expanduser() / below
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else Path.home() / ".cache") / "huggingface" / "hub"
