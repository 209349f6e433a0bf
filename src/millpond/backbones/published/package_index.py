"""One archive of one project in the package index that pip is configured for.

pip itself would build or install what it downloads; here a file is only named and fetched. Index pages
are those of the simple repository interface, in HTML or JSON (PEP 503, 691).
"""

from __future__ import annotations

import base64
import configparser
import http.client
import json
import os
import ssl
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit

from millpond.streams.download import TIMEOUT_S, NoConnection

DEFAULT = "https://pypi.org/simple"
_ACCEPT = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
    "text/html;q=0.01"
)


@dataclass(frozen=True)
class Link:
    """Where an archive is, and what its server wants to see."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)
    context: ssl.SSLContext | None = None


def find(project: str, archive: str) -> Link:
    """The archive in the first index that has it, or NoConnection with each index's answer."""
    context = _context()
    answers = []
    for index in indexes():
        page, headers = _without_password(f"{index.rstrip('/')}/{project}/")
        try:
            links = _links(page, headers, context)
        except NoConnection as error:
            answers.append(f"{page}: {error}")
            continue
        url = links.get(archive)
        if url is not None:
            url, own = _without_password(url)
            same = urlsplit(url).netloc == urlsplit(page).netloc
            return Link(url, own or (headers if same else {}), context)
        answers.append(f"{page} has no {archive}")
    raise NoConnection("; ".join(answers) or "pip is configured to use no index")


def indexes() -> list[str]:
    """The addresses that pip would ask, in its order."""
    if (_setting("no-index") or "").lower() in ("1", "true", "yes", "on"):
        return []
    extra = (_setting("extra-index-url") or "").split()
    return list(dict.fromkeys([_setting("index-url") or DEFAULT, *extra]))


def _setting(name: str) -> str | None:
    """An option of pip: the environment comes before the files, and a later file before an earlier."""
    found = os.environ.get("PIP_" + name.upper().replace("-", "_"))
    if found:
        return found
    for path in reversed(_files()):
        config = configparser.RawConfigParser()
        try:
            config.read(path, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeError):
            continue  # pip complains about it; here other places may do
        for section in ("download", "install", "global"):
            value = config.get(section, name, fallback="").strip()
            if value:
                return value
    return None


def _files() -> list[Path]:
    """pip's configuration files, least specific first (pip's documentation, "Configuration")."""
    own = os.environ.get("PIP_CONFIG_FILE")
    if own == os.devnull:
        return []
    home = Path.home()
    if sys.platform == "win32":
        files = [Path(os.environ.get("PROGRAMDATA", "C:\\ProgramData")) / "pip" / "pip.ini"]
        files += [home / "pip" / "pip.ini"]
        files += [Path(os.environ.get("APPDATA", home)) / "pip" / "pip.ini"]
        files += [Path(sys.prefix) / "pip.ini"]
    else:
        xdg = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        files = [Path("/etc/xdg/pip/pip.conf"), Path("/etc/pip.conf")]
        files += [home / ".pip" / "pip.conf", xdg / "pip" / "pip.conf"]
        files += [Path(sys.prefix) / "pip.conf"]
    return [*files, Path(own)] if own else files


def _context() -> ssl.SSLContext | None:
    """The certificates that pip is told to trust, if any."""
    certificates = _setting("cert")
    if not certificates or not os.path.isfile(certificates):
        return None
    return ssl.create_default_context(cafile=certificates)


def _without_password(url: str) -> tuple[str, dict[str, str]]:
    """The address as it may be shown, and the header that its name and password stand for."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    token = base64.b64encode(unquote(user).encode()).decode()
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": f"Basic {token}"}


def _links(page: str, headers: dict[str, str], context: ssl.SSLContext | None) -> dict[str, str]:
    """File name -> address, of one project's page."""
    try:
        request = urllib.request.Request(
            page, headers={"User-Agent": "millpond", "Accept": _ACCEPT}
        )
        for name, value in headers.items():
            request.add_unredirected_header(name, value)
        with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=context) as response:
            content, base = response.read().decode(errors="replace"), response.url
            kind = response.headers.get_content_type()
    except urllib.error.HTTPError as error:
        error.close()
        raise NoConnection(f"the server answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoConnection(str(getattr(error, "reason", error))) from error
    if kind.endswith("json"):
        found = _of_json(content)
    else:
        reader = _Anchors()
        reader.feed(content)
        found = reader.found
    return {name: urldefrag(urljoin(base, url)).url for name, url in found.items()}


def _of_json(content: str) -> dict[str, str]:
    try:
        return {file["filename"]: file["url"] for file in json.loads(content)["files"]}
    except (KeyError, TypeError, ValueError) as error:
        raise NoConnection(f"its page is not that of a package index ({error})") from error


class _Anchors(HTMLParser):
    """Text -> href of the links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._href: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._href = dict(attrs).get("href") if tag == "a" else self._href

    def handle_data(self, data: str) -> None:
        if self._href is not None and data.strip():
            self.found[data.strip()] = self._href

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._href = None
