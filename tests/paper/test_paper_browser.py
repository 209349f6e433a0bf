"""The page of a whole run in a real browser: no error, plots drawn, links that work, no overflow."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from millpond.cli import main
from millpond.paper import book

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="there is no Chromium to look at pages with"
)

WIDTHS = (320, 360, 500, 860, 1200)
EXPERIMENTS = ["ablation", "trajectories", "policies", "significance", "claims", "robustness"]

# Each width is a frame, wide as a screen; what the browser makes of it goes to the title as JSON.
LOOK = """
addEventListener("load", () => {
  const frames = [...document.querySelectorAll("iframe")];
  const found = frames.map((frame) => {
    const page = frame.contentDocument;
    const shown = [...page.querySelectorAll("svg.chart")]
      .filter((svg) => svg.getBoundingClientRect().width > 0);
    const lost = [...page.querySelectorAll("a[href^='#']")]
      .filter((a) => !page.getElementById(a.getAttribute("href").slice(1)));
    const ends = [...page.querySelectorAll("figure[data-timeline]")]
      .map((figure) => figure.querySelectorAll("input.slider").length);
    return {
      width: page.documentElement.scrollWidth,
      charts: shown.length,
      flat: shown.filter((svg) => svg.getBoundingClientRect().height < 50).length,
      lost: lost.length,
      sliders: ends,
      paths: page.querySelectorAll("path.method").length,
    };
  });
  document.title = "found" + JSON.stringify(found);
});
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("paper")
    words = ["--quick", "--streams", "agr_a", "meter", "--backbone", "knn", "--out", str(folder)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book, "QUICK", 260)
        patch.setenv("MILLPOND_DATA", str(folder / "no data"))
        assert main(["paper", "ablation", *words]) == 0
        assert main(["paper", *EXPERIMENTS, "--show", *words]) == 0  # the baselines stay out
    return (folder / "report.html").read_text(encoding="utf-8")


def looked(page: str, folder: Path, *flags: str) -> list[dict[str, object]]:
    """What a browser finds on screens of some widths; whatever a console would show is an error."""
    frames = ""
    for width in WIDTHS:
        name = f"page-{width}.html"
        (folder / name).write_text(page, encoding="utf-8")
        frames += f'<iframe src="{name}" style="width:{width}px;height:900px;border:0"></iframe>'
    (folder / "frames.html").write_text(f"<title></title>{frames}<script>{LOOK}</script>")
    done = subprocess.run(
        [
            str(BROWSER),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--allow-file-access-from-files",
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}",
            *flags,
            "--dump-dom",
            (folder / "frames.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not said, said
    found = re.search(r"<title>found(.*?)</title>", done.stdout)
    assert found, done.stderr
    result: list[dict[str, object]] = json.loads(found[1])
    return result


def test_the_page_on_screens_of_all_widths(page: str, tmp_path: Path) -> None:
    found = looked(page, tmp_path)
    assert [each["width"] for each in found] == [*WIDTHS], "nothing is wider than the screen"
    figures = page.count("<figure") - page.count('class="nothing"')
    for each in found:
        assert each["charts"] == figures, "of each figure the drawing for this width, and no other"
        assert each["flat"] == each["lost"] == 0
        assert each["sliders"] == [1], "the read-out's script has run"
        assert int(str(each["paths"])) >= 3, "a line for a method in each of three sizes"


def test_it_loads_in_the_dark(page: str, tmp_path: Path) -> None:
    found = looked(page, tmp_path, "--blink-settings=preferredColorScheme=0")
    assert [each["width"] for each in found] == [*WIDTHS]
