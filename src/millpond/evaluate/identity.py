"""What must be the same for a run to be gone on with; where it is not, what differs is named."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from millpond.errors import CheckpointError

SHOWN = 3  # differences that a message names


def check_identity(folder: Path, saved: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """A CheckpointError unless the run in the folder is the one that is asked for.

    An identity has three parts: ``streams``, a fingerprint of each lane's rows; ``learners``, each
    lane's settings; ``protocol``.
    """
    if saved == now:
        return
    found = [
        *_differences(saved.get("learners"), now["learners"], "learner"),
        *_differences(saved.get("protocol"), now["protocol"], "protocol"),
    ]
    # The limit and the shuffle change the rows too: those are named only where nothing else is.
    why = "; ".join(found[:SHOWN]) or "the rows of the stream are others now"
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    raise CheckpointError(
        f"{folder} holds another run: {why}{more}. Resume with the same settings or choose another "
        "folder"
    )


def _differences(saved: Any, now: Any, name: str) -> Iterator[str]:
    """One sentence for each setting that was another one."""
    if isinstance(saved, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*saved, *now]):
            inner = name if key == "name" else key  # a learner's name is the learner
            yield from _differences(saved.get(key), now.get(key), inner)
    elif isinstance(saved, list) and isinstance(now, list) and len(saved) == len(now) == 1:
        yield from _differences(saved[0], now[0], name)
    elif isinstance(saved, list) and isinstance(now, list) and len(saved) == len(now):
        for lane, (before, after) in enumerate(zip(saved, now, strict=True)):
            for difference in _differences(before, after, name):
                yield f"lane {lane}: {difference}"
    elif isinstance(saved, list) and isinstance(now, list):
        yield f"its number of lanes was {len(saved)}, is now {len(now)}"
    elif saved != now:
        yield f"{name} was {_shown(saved)}, is now {_shown(now)}"


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
