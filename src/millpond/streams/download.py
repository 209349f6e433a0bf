"""One file over HTTP: with progress, resumed where it broke off, checked, put in place at once."""

from __future__ import annotations

import hashlib
import http.client
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

from millpond.errors import StreamError

TIMEOUT_S = 20.0
_BLOCK = 1 << 16

# Called with the bytes that are here and the bytes there will be (None: the server does not say).
Progress = Callable[[int, int | None], None]


class NoConnection(Exception):
    """The network said no; what had arrived is kept for the next time."""


def download(
    url: str,
    path: Path,
    *,
    sha256: str | None = None,
    size: int | None = None,
    progress: Progress | None = None,
    timeout: float = TIMEOUT_S,
    headers: Mapping[str, str] | None = None,
    context: ssl.SSLContext | None = None,
) -> None:
    """Fetch `url` into `path`; what has arrived so far lies in `path` + ".part".

    ``headers`` go to that server only, not to one that it redirects to. A file whose SHA-256 or size
    is not the expected one is removed, with a StreamError.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _fetch(url, part, progress, timeout, headers or {}, context)
        wrong = _wrong(part, sha256, size)
        if wrong:
            part.unlink()
            raise StreamError(f"{url} is not the expected file: {wrong}; nothing was kept")
        os.replace(part, path)
    except StreamError:
        raise
    except OSError as error:
        raise StreamError(f"cannot write {path}: {error.strerror or error}") from error


def _wrong(part: Path, sha256: str | None, size: int | None) -> str | None:
    found_size, found = part.stat().st_size, file_sha256(part)
    if size is not None and found_size != size:
        return f"{found_size:,} bytes, not {size:,}"
    if sha256 is not None and found != sha256:
        return f"SHA-256 {found}, not {sha256}"
    return None


def _fetch(
    url: str,
    part: Path,
    progress: Progress | None,
    timeout: float,
    headers: Mapping[str, str],
    context: ssl.SSLContext | None,
) -> None:
    here = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "millpond"})
    for name, value in headers.items():
        request.add_unredirected_header(name, value)
    if here:
        request.add_header("Range", f"bytes={here}-")
    try:
        response = urllib.request.urlopen(request, timeout=timeout, context=context)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and here:
            part.unlink()  # whole already, or of another file: only from the start is it sure
            _fetch(url, part, progress, timeout, headers, context)
            return
        raise NoConnection(f"the server answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoConnection(str(getattr(error, "reason", error))) from error
    with response:
        if response.status != http.client.PARTIAL_CONTENT:
            here = 0  # the server knows no ranges and sends the whole
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {here}-"):
            raise NoConnection("the server resumes at another place than it was asked to")
        _store(response, part, here, progress)


def _store(
    response: http.client.HTTPResponse, part: Path, here: int, progress: Progress | None
) -> None:
    length = response.headers.get("Content-Length")
    total = here + int(length) if length is not None and length.isdecimal() else None
    with part.open("ab" if here else "wb") as out:
        while True:
            try:
                block = response.read(_BLOCK)
            except (OSError, http.client.HTTPException) as error:
                raise NoConnection(f"broken off after {here:,} bytes ({error})") from error
            if not block:
                break
            out.write(block)
            here += len(block)
            if progress is not None:
                progress(here, total)
    if total is not None and here < total:
        raise NoConnection(f"broken off after {here:,} of {total:,} bytes")


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
