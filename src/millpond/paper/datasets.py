"""Dataset statistics (the paper's appendix "Datasets"), counted on the streams that are here."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from millpond.errors import DataMissing
from millpond.paper.published import STREAMS, published
from millpond.paper.sheet import Cell, Row, Sheet, absent, number, words
from millpond.streams import Stream, load_stream

HEAD = ("Dataset", "Rows", "Features", "Classes", "IR", "Balance", "the paper's")


def imbalance(stream: Stream) -> float:
    """IR = max_c n_c / min_c n_c, over the classes that occur."""
    counts = np.bincount(stream.y)
    return float(counts.max() / counts[counts > 0].min())


def balance(ratio: float) -> str:
    """The paper's four classes."""
    rule = published()["protocol"]["balance_rule"]
    if ratio <= rule["balanced_max_ir"]:
        return "balanced"
    if ratio <= rule["imbalanced_max_ir"]:
        return "imbalanced"
    return (
        "highly imbalanced" if ratio <= rule["highly_imbalanced_max_ir"] else "extremely imbalanced"
    )


def not_here(name: str) -> str:
    """Without this machine's paths: what is shown is also kept as data."""
    return f"the stream is not on this machine: millpond streams get {name}"


def datasets(streams: Sequence[str], data_dir: str | os.PathLike[str] | None = None) -> Sheet:
    rows = tuple(Row(STREAMS[name], _cells(name, data_dir)) for name in streams)
    notes = (
        "IR: rows of the largest class over rows of the smallest; balanced up to 1.1, imbalanced up "
        "to 10, highly imbalanced up to 100.",
    )
    return Sheet("datasets", "Dataset statistics", HEAD, rows, notes)


def _cells(name: str, data_dir: str | os.PathLike[str] | None) -> tuple[Cell, ...]:
    paper = published()["datasets"][name]
    try:
        stream = load_stream(name, data_dir=data_dir)
    except DataMissing:
        return (*[absent(not_here(name))] * 5, words(_stated(paper)))
    shape = (len(stream), stream.X.shape[1], len(stream.classes))
    ratio = imbalance(stream)
    found = balance(ratio)
    same = shape == tuple(paper[key] for key in ("rows", "features", "classes"))
    agrees = same and found == paper["balance"]
    return (
        *[number(value, 0) for value in shape],
        number(ratio, 2),
        words(found),
        words("the same" if agrees else paper["balance"] if same else _stated(paper)),
    )


def _stated(paper: dict[str, object]) -> str:
    return f"{paper['rows']:,} x {paper['features']}, {paper['classes']}, {paper['balance']}"
