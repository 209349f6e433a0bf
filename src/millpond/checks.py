"""What a context takes: rows, class codes and probabilities, and the options that it is made with.

Each check returns the value in the form that the context works with, or raises before anything changed.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from millpond.errors import BadInput, BadOption
from millpond.policies.auto_tau import read_rate
from millpond.policies.base import FloatArray

# -- what is observed ----------------------------------------------------------------------------


def check_row(x: ArrayLike, features: int | None) -> NDArray[np.float32]:
    """A row as float32, or BadInput. NaN passes (missing); infinity and float32 overflow do not."""
    try:
        wide = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"a row must hold numbers: {error}") from None
    if wide.ndim != 1 or not len(wide):
        raise BadInput(
            f"a row must be a 1-D sequence of at least one number, not shape {wide.shape}"
        )
    if features is not None and len(wide) != features:
        raise BadInput(f"this row has {len(wide)} features, the rows before it had {features}")
    with np.errstate(over="ignore"):
        row = wide.astype(np.float32)
    if np.isinf(row).any():
        column = int(np.flatnonzero(np.isinf(row))[0])
        raise BadInput(
            f"feature {column} is {wide[column]}: not finite in float32; use NaN for a missing value"
        )
    return row


def check_code(y: Any) -> int:
    """A class code as int, or BadInput."""
    try:
        code = operator.index(y)
    except TypeError:
        raise BadInput(f"a label must be an integer code, not {y!r}") from None
    if not -(2**63) <= code < 2**63:
        raise BadInput(f"the label code {code} does not fit into 64 bits")
    return code


def check_proba(proba: ArrayLike) -> FloatArray:
    """Probabilities as float64, or BadInput; they need not sum to one."""
    try:
        p = np.asarray(proba, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"probabilities must be numbers: {error}") from None
    if p.ndim != 1 or not len(p):
        raise BadInput(f"probabilities must be a 1-D sequence, not shape {p.shape}")
    if not np.isfinite(p).all() or (p < 0).any() or not p.any():
        raise BadInput("probabilities must be finite, not negative, and not all zero")
    return p


# -- options -------------------------------------------------------------------------------------


def per_lane(value: Any, lanes: int, name: str) -> list[Any]:
    if isinstance(value, list | tuple | np.ndarray):
        if len(value) != lanes:
            raise BadOption(f"{name} has {len(value)} values for {lanes} lanes")
        return list(value)
    return [value] * lanes


def check_budget(budget: int) -> int:
    try:
        value = operator.index(budget)
    except TypeError:
        raise BadOption(f"budget must be a whole number of rows, not {budget!r}") from None
    if value < 2:
        raise BadOption(f"budget must be at least 2 rows, not {value}")
    return value


def check_ratio(short_ratio: float) -> float:
    if not _is_number(short_ratio) or not 0.0 < short_ratio < 1.0:
        raise BadOption(f"short_ratio must lie between 0 and 1, both excluded, not {short_ratio!r}")
    return float(short_ratio)


def check_tau(tau: float | str) -> float | str:
    if isinstance(tau, str):
        return f"auto:{read_rate(tau)!r}"  # named, so that a later default changes no saved run
    if not _is_number(tau) or not 0.0 <= tau <= 1.0:
        raise BadOption(f"tau must lie in [0, 1], not {tau!r}")
    return float(tau)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def check_whole(name: str, value: int, least: int) -> int:
    """A whole number of at least so much, or BadOption."""
    try:
        whole = operator.index(value)
    except TypeError:
        whole = least - 1
    if whole < least:
        raise BadOption(f"{name} must be a whole number of at least {least}, not {value!r}")
    return whole
