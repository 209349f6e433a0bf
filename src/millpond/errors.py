"""The named errors of the library: what was wrong, and what to do about it.

Every error a user can cause derives from `MillpondError`; the command line prints its text without a
traceback. Where a built-in class fits as well (`ValueError`, `LookupError`, ...), an error is one of
those too, so that ordinary `except` clauses keep working.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MillpondError(Exception):
    """The base of all errors raised on purpose."""


class BadInput(MillpondError, ValueError):
    """A row, label or probability that cannot be taken. The state is as it was before the call."""


class BadOption(MillpondError, ValueError):
    """An option outside its range, or options that do not go together."""


class UnknownName(MillpondError, LookupError):
    """A policy, backbone, learner or stream that does not exist; the message lists the near ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names)}"
        super().__init__(f"unknown {kind} {name!r}: {hint}")


class StreamError(MillpondError, ValueError):
    """A file that cannot be read as a stream: empty, ragged, truncated, without the label column ..."""


class DataMissing(MillpondError, FileNotFoundError):
    """A stream's or a backbone's file is not on this machine; the message says how to get it."""

    # OSError formats itself from (errno, filename); one sentence is what a user wants here.
    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class MissingExtra(MillpondError, ImportError):
    """An optional package is not installed; the message names the extra to install."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package: pip install 'millpond[{extra}]'")


class CheckpointError(MillpondError):
    """A checkpoint that is damaged, belongs to another run, or could not be written."""


class OtherWeights(CheckpointError):
    """A backbone's caches that other weights made; a run cannot go on with them."""


class StoreError(MillpondError):
    """A fleet's data that is damaged, in use by another process, or could not be written."""


class TooMany(MillpondError):
    """A limit is reached: of keys, of labels, or of requests that wait."""
