"""Ranks as the paper takes them: 1 is the best of a stream, ties share the mean of their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, the highest first."""
    return [
        1 + sum(other > value for other in values) + (values.count(value) - 1) / 2
        for value in values
    ]


def mean_ranks(table: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> dict[str, float]:
    """The mean over the table's rows of each column's rank."""
    of_rows = [ranks([row[name] for name in names]) for row in table.values()]
    return {
        name: fmean(column) for name, column in zip(names, zip(*of_rows, strict=True), strict=True)
    }
