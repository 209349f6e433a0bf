"""The live page in a real browser, where one is installed: it fills, fits, and obeys the keyboard."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

import httpx

from millpond.serve import page
from served import served

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="there is no Chromium to look at pages with"
)
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def url() -> Iterator[str]:
    """A service with some keys, one of them with a drift and one with a hostile name."""
    with served(None) as address:
        feed(address)
        yield address


def feed(address: str) -> None:
    with httpx.Client(timeout=60) as client:
        for key in ("steady", "turning", HOSTILE):
            operations: list[dict[str, Any]] = []
            for t in range(300):
                label = "ab"[(t % 2) ^ (key == "turning" and t > 200)]
                operations.append({"op": "predict", "key": key, "x": [t % 2, 1], "id": t})
                operations.append({"op": "learn", "key": key, "y": label, "id": t})
            for start in range(0, len(operations), 200):
                part = {"operations": operations[start : start + 200]}
                answer = client.post(f"{address}/v1/batch", json=part)
                assert answer.status_code == 200, answer.text


def look(url: str, folder: Path, *words: str) -> str:
    """The document as it is after some polls."""
    done = subprocess.run(
        [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", *words,
            "--dump-dom", url,
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


def test_the_page_fills_and_says_nothing_that_a_key_is_called(url: str, tmp_path: Path) -> None:
    found = look(url, tmp_path)
    assert re.search(r'<span id="state"[^>]*>live, ', found)
    assert 'data-seen="' in found
    rows = re.findall(r"<tr aria-selected=.*?</tr>", found)
    assert len(rows) == 3
    assert HOSTILE not in found
    assert html.escape(HOSTILE, quote=False) in found
    assert len(re.findall(r'<path class="path"[^>]*><title>', found)) == 3
    (turning,) = (row for row in rows if "turning" in row)
    cells = re.findall(r"<td>(.*?)</td>", turning)
    assert cells[1:3] == ["300", "300"]
    assert int(cells[5]) >= 1
    assert 'class="mark"' in found


def test_keys_and_widths(url: str, tmp_path: Path) -> None:
    """A copy of the page is driven in frames: a key chosen by keyboard, paused, turned dark."""
    live = look(f"{url}/v1/live", tmp_path)
    data = html.unescape(re.sub(r"<.*?>", "", live))
    script = (
        "fetch = () => Promise.resolve({ok: true, status: 200, json: () => Promise.resolve("
        f"{data.replace('<', chr(92) + 'u003c')})}});"
    )
    copy = page.text().replace('"use strict";', f'"use strict";{script}', 1)
    widths = (320, 500, 860, 1200)
    frames = "".join(
        f'<iframe srcdoc="{html.escape(copy)}" style="width:{w}px;height:900px;border:0"></iframe>'
        for w in widths
    )
    drive = """<script>setTimeout(() => {
      const frames = [...document.querySelectorAll("iframe")];
      const said = frames.map(f => f.contentDocument.documentElement.scrollWidth);
      const page = frames[3].contentDocument, count = what => page.querySelectorAll(what).length;
      const press = key => page.activeElement.dispatchEvent(
        new frames[3].contentWindow.KeyboardEvent("keydown", {key, bubbles: true}));
      press("ArrowDown"); press("ArrowDown"); page.activeElement.click();
      said.push(count("tr[aria-selected=true]"), count("#accuracy path"));
      said.push(page.activeElement.dataset.key);
      press("Escape"); said.push(count("#accuracy path"));
      press("p"); said.push(page.getElementById("state").textContent);
      press("d"); said.push(page.documentElement.dataset.theme);
      document.title = said.join("|");
    }, 2500)</script>"""
    (tmp_path / "frames.html").write_text(f"<title></title>{frames}{drive}", encoding="utf-8")
    found = look((tmp_path / "frames.html").as_uri(), tmp_path)
    said = re.search(r"<title>(.*?)</title>", found)
    assert said
    parts = html.unescape(said[1]).split("|")
    assert [int(width) for width in parts[:4]] == list(widths)
    assert parts[4:] == ["1", "1", "steady", "3", "paused", "dark"]


def test_a_token_is_asked_for_on_the_page(tmp_path: Path) -> None:
    with served("0123456789abcdef") as address:
        assert re.search(r'<dialog id="ask"[^>]*open', look(address, tmp_path))
