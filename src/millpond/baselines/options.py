"""The options of the classical baselines, alike for MOA's and River's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from millpond.errors import BadOption

TREES = ("vfdt", "efdt")
ENSEMBLES = ("arf", "srp", "levbag", "bole")

# MOA's and River's defaults for a tree, and the paper's size of an ensemble.
_TREE = {"grace_period": 200, "tie_threshold": 0.05, "split_confidence": 1e-7}
_ENSEMBLE = {"ensemble_size": 90}


def checked_options(learner: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a learner such as ``moa:arf``: the defaults, overridden."""
    options: dict[str, Any] = dict(_TREE)
    if learner.partition(":")[2] in ENSEMBLES:
        options |= _ENSEMBLE
    for name, value in given.items():
        if name not in options:
            known = ", ".join(sorted(options))
            raise BadOption(f"the learner {learner} takes no option {name!r}; it takes {known}")
        options[name] = (_whole if name in _WHOLE else _fraction)(name, value)
    return options


_WHOLE = ("grace_period", "ensemble_size")


def _whole(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise BadOption(f"{name} must be a whole number of at least 1, not {value!r}")
    return int(value)


def _fraction(name: str, value: object) -> float:
    number = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    if not number or not 0.0 <= value <= 1.0:  # type: ignore[operator]
        raise BadOption(f"{name} must lie in [0, 1], not {value!r}")
    return float(value)  # type: ignore[arg-type]
