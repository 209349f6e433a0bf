"""Whatever a message, a page or an example says to install is an extra that there is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"""millpond\[([\w,]+)\]|MissingExtra\([^()]*"(\w+)"\)""")


def named(folder: str, pattern: str) -> set[str]:
    found = set()
    for path in (ROOT / folder).rglob(pattern):
        for written, raised in NAMED.findall(path.read_text()):
            found |= set((written or raised).split(","))
    return found


def test_every_extra_that_is_named_can_be_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    there = set(project["optional-dependencies"])
    said = named("src", "*.py") | named("docs", "*.md") | named("examples", "*.py")
    said |= named(".", "README.md")
    assert {"moa", "capymoa", "river"} <= said
    assert said <= there
