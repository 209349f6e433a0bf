"""A whole page: one file, nothing loaded from elsewhere, written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from millpond.errors import MillpondError
from millpond.report.markup import Markup, element


def document(title: str, body: Markup, style: str, script: str) -> str:
    """The body with the style sheet and the script that it is to have, and no others."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        # Otherwise a browser asks the server for /favicon.ico.
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Markup(style)),
    )
    whole = element("body", body, element("script", Markup(script)))
    return "<!DOCTYPE html>\n" + element("html", head, whole, lang="en") + "\n"


def _policy(style: str, script: str) -> str:
    """No request at all, and no style or script but our own, should a name slip through."""

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest(style)}'; "
        f"script-src 'sha256-{digest(script)}'"
    )


def write_page(text: str, target: Path) -> None:
    """The file appears whole or not at all: one that was there stays until the new one is complete."""
    written = target.with_name(target.name + ".part")
    try:
        written.write_text(text, encoding="utf-8", newline="\n")
        written.replace(target)
    except OSError as error:
        written.unlink(missing_ok=True)
        raise MillpondError(
            f"cannot write {target}: {error.strerror or error}; make room or choose another folder"
        ) from error
