"""`Stream`: rows in order of arrival with coded labels, what every reader and generator makes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.errors import BadInput, BadOption, StreamError

SINGLE_CLASS_NOTE = "all rows carry one label: nothing can be scored"


@dataclass(frozen=True, eq=False)
class Stream:
    """A labelled table whose row order is the order of arrival.

    Parameters
    ----------
    name
        What reports call it.
    X
        Features, float32 (n, d), C-contiguous. NaN is a missing value; an infinity is an error.
    y
        Labels as int64 codes (n,): positions in `classes`.
    feature_names
        One name a column of `X`.
    classes
        The labels that the codes stand for; for files, the sorted label strings.
    dropped
        Malformed rows that the reader left out; `notes` says which and why.
    notes
        Sentences on what the reader did beyond copying numbers.
    source, target
        The file that it was read from and the label's column, as they were given.
    """

    name: str
    X: NDArray[np.float32]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    classes: tuple[Any, ...]
    dropped: int = 0
    notes: tuple[str, ...] = ()
    source: str | None = None
    target: str | int | None = None

    def __post_init__(self) -> None:
        with np.errstate(over="ignore"):  # a number too large for float32 is reported just below
            X = np.ascontiguousarray(self.X, dtype=np.float32)
        y = np.ascontiguousarray(self.y, dtype=np.int64)
        if X.ndim != 2 or y.shape != X.shape[:1]:
            raise BadInput(f"X must be (n, d) and y (n,): they are {X.shape} and {y.shape}")
        if len(self.feature_names) != X.shape[1]:
            raise BadInput(f"{len(self.feature_names)} feature names for {X.shape[1]} columns")
        if len(y) and not (y.min() >= 0 and y.max() < len(self.classes)):
            raise BadInput(f"y must hold codes from 0 to {len(self.classes) - 1}")
        refuse_infinity(X, self.feature_names)
        for field, value in (
            ("X", X),
            ("y", y),
            ("feature_names", tuple(self.feature_names)),
            ("classes", tuple(self.classes)),
            ("notes", tuple(self.notes)),
        ):
            object.__setattr__(self, field, value)

    def __len__(self) -> int:
        return len(self.y)

    def __iter__(self) -> Iterator[tuple[NDArray[np.float32], int]]:
        return zip(self.X, self.y.tolist(), strict=True)

    @property
    def labels(self) -> NDArray[Any]:
        """The labels as the file has them, (n,)."""
        return np.array(self.classes)[self.y]

    def fingerprint(self) -> str:
        """SHA-256 of the rows, codes and classes; the name, column names and notes do not count."""
        X = self.X
        missing = np.isnan(X)
        if missing.any():  # NaN has many bit patterns; a missing value has one meaning
            X = np.where(missing, np.float32("nan"), X)
        digest = hashlib.sha256(repr((self.X.shape, self.classes)).encode())
        digest.update(X.astype("<f4", copy=False).tobytes())
        digest.update(self.y.astype("<i8", copy=False).tobytes())
        return digest.hexdigest()

    def head(self, n: int) -> Stream:
        """The first `n` rows (all of them when there are fewer), with the same classes."""
        if n < 0:
            raise BadOption(f"head takes a number of rows, not {n}")
        return replace(self, X=self.X[:n], y=self.y[:n])

    def shuffled_within(self, block: int, seed: int) -> Stream:
        """The control for label order: rows permuted inside consecutive blocks of `block` rows.

        A learner that profits from the order of the labels (RIALTO's are exactly t mod 10) loses
        that profit here, while drift over more than a block stays as it was.
        """
        if block < 1:
            raise BadOption(f"a block has at least 1 row, not {block}")
        keys = np.random.default_rng(seed).random(len(self))
        order = np.lexsort((keys, np.arange(len(self)) // block))
        note = f"rows permuted within blocks of {block}, seed {seed}"
        return replace(self, X=self.X[order], y=self.y[order], notes=(*self.notes, note))


def encode(labels: Sequence[str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Codes by sorted label strings, as the paper has them: "10" comes before "2"."""
    classes = tuple(sorted(set(labels)))
    code = {label: k for k, label in enumerate(classes)}
    return np.fromiter((code[label] for label in labels), np.int64, len(labels)), classes


def encode_by_appearance(
    labels: Sequence[str],
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Codes by order of first appearance: the published loader of NOMAO."""
    code = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    return np.fromiter((code[label] for label in labels), np.int64, len(labels)), tuple(code)


def refuse_infinity(
    X: NDArray[np.float32],
    feature_names: Sequence[str],
    lines: NDArray[np.int64] | None = None,
) -> None:
    """A StreamError that names the first infinite cell: its row (from 0), line and column."""
    if X.size == 0 or (np.isfinite(X.min()) and np.isfinite(X.max())):
        return
    infinite = np.isinf(X)
    if not infinite.any():
        return
    row, column = divmod(int(infinite.argmax()), X.shape[1])
    where = f"row {row}" if lines is None else f"row {row} (line {lines[row]})"
    raise StreamError(
        f"{where}, column {feature_names[column]!r}: infinite, or too large for float32; "
        "write a missing value as an empty cell or NaN"
    )
