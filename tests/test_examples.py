"""The examples are short, run, and print what they promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"

PRINTED = {
    "quickstart": ["accuracy 0.", "'check': ", "'ship': "],
    "delayed_labels": [
        "146 predictions forgotten",
        "the label of key 1949 was learned already",
        "the prediction under key 1450 was forgotten: more than 100 waited",
        "nothing was predicted under it",
    ],
    "save_and_resume": ["KB", "both are the same: True"],
}


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_runs(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / f"{name}.py")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for text in PRINTED[name]:
        assert text in done.stdout


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_fits_on_a_screen(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 40
