"""What the web server of these tests sends, and what it was asked."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Web:
    """What the server sends by path, and what it was asked."""

    url: str = ""
    pages: dict[str, bytes] = field(default_factory=dict)
    kind: str = "text/html"
    refused: dict[str, int] = field(default_factory=dict)
    """path -> status"""
    moved: dict[str, str] = field(default_factory=dict)
    """path -> where it redirects to"""
    cut: int | None = None
    """bytes after which every answer breaks off"""
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    """path and Authorization header of each request"""
