"""The page in a real browser, where one is installed: nothing is wider than the screen."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from millpond.report.html import page

Make = Callable[..., dict[str, Any]]

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="there is no Chromium to look at pages with"
)

WIDTHS = (320, 360, 500, 860, 1200)
LONG = "/home/somebody/data/a folder with a long name/" + "measurements-of-the-year-" * 3 + ".csv"


def widths(text: str, folder: Path) -> dict[int, int]:
    """The width that the page takes up on screens of some widths."""
    frames = "".join(
        f'<iframe srcdoc="{html.escape(text)}" style="width:{w}px;height:800px;border:0"></iframe>'
        for w in WIDTHS
    )
    script = """<script>addEventListener("load", () => {
      document.title = [...document.querySelectorAll("iframe")]
        .map(f => f.contentDocument.documentElement.scrollWidth).join(" ");
    })</script>"""
    (folder / "frames.html").write_text(f"<title></title>{frames}{script}", encoding="utf-8")
    done = subprocess.run(
        [
            str(BROWSER),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",  # as on a phone
            f"--user-data-dir={folder / 'profile'}",
            "--dump-dom",
            (folder / "frames.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = re.search(r"<title>([\d ]+)</title>", done.stdout)
    assert found, done.stderr
    return dict(zip(WIDTHS, map(int, found[1].split()), strict=True))


@pytest.mark.parametrize("classes", [2, 10, 60])
def test_nothing_is_wider_than_the_screen(make: Make, tmp_path: Path, classes: int) -> None:
    names = [f"a class with a long name, number {c}" for c in range(classes)]
    result = make(classes, names=names)
    result["stream"]["source"] = LONG
    found = widths(page(result), tmp_path)
    assert found == {width: width for width in WIDTHS}
