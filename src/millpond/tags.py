"""Python values as JSON that gives them back by type: labels, categories, keys, names.

Strings, booleans, None, finite floats and integers are JSON's own; a tuple is a JSON list; what JSON has
not is an object of one entry: ``{"bytes": base64}``, ``{"set": [...]}``, ``{"int": hex}`` for integers
beyond 53 bits, ``{"float": "inf"}``.
"""

from __future__ import annotations

import base64
import json
import math
from typing import Any

from millpond.errors import BadOption, CheckpointError

_EXACT = 2**53


def encode(value: Any, what: str) -> Any:
    """A value as JSON; ``what`` names it in the error that other types raise."""
    kind = type(value)
    if value is None or kind in (str, bool):
        return value
    if kind is int:
        return value if abs(value) < _EXACT else {"int": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if kind is tuple:
        return [encode(each, what) for each in value]
    if kind is frozenset:
        return {"set": sorted((encode(each, what) for each in value), key=json.dumps)}
    raise BadOption(
        f"{what} {value!r} is a {kind.__name__}, which cannot be saved: use text, numbers, booleans, "
        "bytes, or tuples and frozensets of these"
    )


def decode(value: Any) -> Any:
    """What `encode` was given."""
    if isinstance(value, list):
        return tuple(decode(each) for each in value)
    if not isinstance(value, dict):
        return value
    tag: Any
    content: Any
    tag, content = next(iter(value.items()), (None, None))
    if len(value) == 1 and tag == "bytes":
        return base64.b64decode(content, validate=True)
    if len(value) == 1 and tag == "set":
        return frozenset(decode(each) for each in content)
    if len(value) == 1 and tag == "int":
        return int(content, 16)
    if len(value) == 1 and tag == "float":
        return float(content)
    raise CheckpointError(f"a saved value of an unknown kind: {sorted(value)}")
