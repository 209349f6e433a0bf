"""The live page: one file with its own style and script, nothing from elsewhere."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


@lru_cache(maxsize=1)
def text() -> str:
    return Path(__file__).with_name("page.html").read_text(encoding="utf-8")
