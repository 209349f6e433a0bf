"""The command line that repeats a run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from millpond.report.run import Run

_CONTEXT = ("backbone", "policy", "tau", "budget", "short_ratio")  # each a flag of its own
# What `millpond run` does when nothing is said: only departures are written.
_DEFAULTS = {"warmup": 100, "chunk": 1, "delay": 0, "missing": 0, "window": 1000, "seed": 0}


def command(run: Run) -> list[str]:
    """`millpond run ...` quoted for a shell, in the pieces that a line should not break."""
    stream, learner = run.stream, run.learner
    # `source` is the path that a file was given by; a registered stream goes by its name.
    source = stream.get("source") or stream.get("name") or run.stream_name
    pieces = [_quoted("millpond", "run", str(source)), *_flags({"target": stream.get("target")})]
    if learner.get("backbone") is None:
        pieces.append(_quoted("--learner", run.learner_name))
    pieces += _flags({key: learner.get(key) for key in _CONTEXT})
    pieces += _flags({k: v for k, v in run.protocol.items() if v != _DEFAULTS.get(k)})
    for key, value in learner.items():
        if key not in (*_CONTEXT, "name") and value is not None:
            written = value if isinstance(value, str) else json.dumps(value)
            pieces.append(_quoted("--set", f"{key}={written}"))
    return pieces


def _flags(options: Mapping[str, Any]) -> list[str]:
    return [
        _quoted(f"--{key.replace('_', '-')}", str(value))
        for key, value in options.items()
        if value is not None
    ]


def _quoted(*words: str) -> str:
    return shlex.join(words)
