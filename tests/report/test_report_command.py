"""The command line that repeats a run."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from millpond.report.command import command
from millpond.report.run import read


def _words(result: dict[str, Any]) -> list[str]:
    return shlex.split(" ".join(command(read(result))))


def test_a_context_learner(result: dict[str, Any]) -> None:
    assert " ".join(command(read(result))) == (
        "millpond run agr_a --backbone knn --policy cure --tau 0.4 --budget 400 "
        "--short-ratio 0.75 --limit 2000 --seed 12345 --window 200 --set k=5"
    )


def test_every_departure_from_the_defaults_is_written(result: dict[str, Any]) -> None:
    result["protocol"] = {
        "warmup": 0,
        "chunk": 10,
        "delay": 3,
        "missing": 0.25,
        "limit": None,
        "seed": 0,
        "shuffle_within": 100,
        "window": 1000,
    }
    words = _words(result)
    assert words[words.index("--warmup") + 1] == "0"
    tail = words[words.index("--warmup") : words.index("--set")]
    assert tail == shlex.split(
        "--warmup 0 --chunk 10 --delay 3 --missing 0.25 --shuffle-within 100"
    )


def test_a_learner_without_a_context(make: Callable[..., dict[str, Any]]) -> None:
    result = make(context=False)
    result["learner"] |= {"grace_period": 400, "splits": "binary", "adapt": True, "none": None}
    words = _words(result)
    assert words[:5] == ["millpond", "run", "agr_a", "--learner", "nochange"]
    assert words[-6:] == [
        "--set",
        "grace_period=400",
        "--set",
        "splits=binary",
        "--set",
        "adapt=true",
    ]


def test_a_file_goes_by_its_path_quoted_with_its_target(result: dict[str, Any]) -> None:
    result["stream"] |= {"source": "my data/it's.csv", "target": "the label; rm"}
    assert _words(result)[2:5] == ["my data/it's.csv", "--target", "the label; rm"]
