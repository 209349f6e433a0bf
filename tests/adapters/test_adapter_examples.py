"""The adapters' examples run, and stay short."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("example", "package", "shown"),
    [
        ("river_pipeline", "river", ["millpond, scaled", "restarted by DDM", "our loop"]),
        ("scikit_learn", "sklearn", ["best on later rows", "in batches of 50"]),
        ("capymoa_evaluation", "capymoa", ["CapymoaClassifier", "our loop", "AGR(A)"]),
    ],
)
def test_the_example_runs(example, package, shown):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    if package == "capymoa" and shutil.which("java") is None:
        pytest.skip("CapyMOA needs a Java virtual machine")
    path = EXAMPLES / f"{example}.py"
    assert len(path.read_text().splitlines()) <= 40
    done = subprocess.run(
        [sys.executable, "-W", "error", path],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    for text in shown:
        assert text in done.stdout
