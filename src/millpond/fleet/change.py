"""What an operation did to its key, in the form that the log has: all of it, so that replay asks no one.

A record is a JSON list: ``["predict", id, row, score, codes, probabilities]`` or
``["learn", id, row or null, label, score]``. Codes are places in the key's list of labels.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from millpond import tags
from millpond.errors import StoreError
from millpond.fleet.operation import LEARN, PREDICT, text_of
from millpond.reading import Cells, flat, unflat

Codes = tuple[int, ...]
Probabilities = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Predicted:
    """A row was predicted; it waits for its label with this score."""

    id: Hashable | None
    cells: Cells
    score: float
    codes: Codes
    proba: Probabilities


@dataclass(frozen=True, slots=True)
class Learned:
    """A labelled row entered the context with this score."""

    id: Hashable | None
    cells: Cells | None
    """None: those that waited under the id"""
    label: Hashable
    score: float


Change = Predicted | Learned


def request(id: Hashable | None, cells: Cells | None, *label: Hashable) -> str:
    """What was asked, as JSON: the first part of a record; BadInput if it cannot be written down."""
    row = None if cells is None else flat(cells)
    return text_of((id, row, *label), "what is sent")[1:-1]


def content_of(request: str) -> str:
    """A digest that tells whether an operation that comes again is the same."""
    return hashlib.blake2b(request.encode(), digest_size=8).hexdigest()


def write(request: str, change: Change) -> str:
    """A record, of what was asked and what came of it."""
    if isinstance(change, Predicted):
        came = f"{change.score!r},{list(change.codes)},{list(change.proba)!r}"
        return f'["{PREDICT}",{request},{came}]'
    return f'["{LEARN}",{request},{change.score!r}]'


def read(record: str) -> tuple[str, Change]:
    """What was asked, and what came of it."""
    try:
        verb, id, row, *rest = json.loads(record)
        name = tags.decode(id)
        cells = None if row is None else unflat(tags.decode(row))
        change: Change
        if verb == LEARN:
            label, score = rest
            change = Learned(name, cells, tags.decode(label), float(score))
            return _text(id, row, label), change
        score, codes, proba = rest
        assert verb == PREDICT
        assert cells is not None
        change = Predicted(name, cells, float(score), tuple(codes), tuple(map(float, proba)))
    except Exception as error:
        raise StoreError(f"a record of the log cannot be read: {error!r}") from None
    return _text(id, row), change


def _text(*parts: Any) -> str:
    return json.dumps(parts, separators=(",", ":"))[1:-1]
