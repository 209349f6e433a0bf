"""What `import millpond` gives, and what it costs."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import millpond

NAMES = {
    "Context",
    "Delta",
    "Fleet",
    "Result",
    "Stream",
    "StreamClassifier",
    "__version__",
    "load_stream",
    "prequential",
}


def test_the_public_names() -> None:
    """A name is added here when it is meant to be kept."""
    assert set(millpond.__all__) == NAMES
    assert millpond.__all__ == sorted(millpond.__all__)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_name_is_there_and_says_what_it_is(name: str) -> None:
    value = getattr(millpond, name)
    if name != "__version__":
        assert value.__doc__
        assert value.__module__.startswith("millpond.")


def test_a_star_import_brings_the_public_names() -> None:
    found: dict[str, Any] = {}
    exec("from millpond import *", found)
    assert found.keys() - {"__builtins__"} == NAMES


def test_the_version_is_the_distributions() -> None:
    from importlib.metadata import version

    assert version("millpond") == millpond.__version__


def modules_after(code: str) -> set[str]:
    """The modules that a new interpreter holds once it has run some code."""
    report = "import sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


HEAVY = {
    "torch",
    "sklearn",
    "scipy",
    "pandas",
    "pyarrow",
    "matplotlib",
    "rich",
    "river",
    "tabicl",
    "tabpfn",
    "argparse",
    "asyncio",
    "multiprocessing",
    "unittest",
}


# Rooms of our own that load when they are first used.
LATER = (
    "millpond.cli",
    "millpond.report",
    "millpond.backbones.knn",
    "millpond.backbones.rill",
    "millpond.backbones.published",
)


def test_the_import_is_light() -> None:
    """NumPy and little else: engines, tables and the terminal load when they are used."""
    numpy, ours = modules_after("import numpy"), modules_after("import millpond")
    added = ours - numpy
    assert not {name.partition(".")[0] for name in added} & HEAVY
    assert not {name for name in added if name.startswith(LATER)}
    assert len([name for name in added if not name.startswith("millpond")]) < 100


def test_a_stream_and_a_classifier_need_no_more() -> None:
    added = modules_after(
        "import millpond\n"
        "stream = millpond.load_stream('agr_a').head(120)\n"
        "classifier = millpond.StreamClassifier('knn', budget=20)\n"
        "classifier.learn_one([1.0], 'a')\n"
        "classifier.predict_one([1.0])\n"
        "millpond.prequential(stream, backbone='knn', budget=20)"
    ) - modules_after("import numpy")
    assert not {name.partition(".")[0] for name in added} & HEAVY
