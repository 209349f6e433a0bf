"""What holds for every published model whose library is at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tiny_checkpoints import TABLES

from millpond.backbones.published.tables import Table

Answer = Callable[[Table], NDArray[Any]]


def check_single(model: Any, library: Answer, tables: dict[str, Table], tolerance: float) -> None:
    """The library's own classifier, fitted on the same context, says the same."""
    for name, table in tables.items():
        (found,) = model.probabilities([table])
        expected = library(table)
        assert found.shape == expected.shape == (len(table.queries), table.classes), name
        assert np.abs(found - expected).max() < tolerance, name
        # The check can fail: what it says depends on the query, and is not uniform.
        assert np.abs(expected - 1 / table.classes).max() > 10 * tolerance, name


def check_lanes(model: Any, tolerance: float, tables: dict[str, Table] = TABLES) -> None:
    """Tables of all shapes in one call, some of a shape: as one by one."""
    chosen = [*tables.values(), *tables.values()]
    other = next(iter(tables.values()))
    order = np.random.default_rng(1).permutation(len(other.X))
    chosen.append(Table(other.X[order], other.y[order], other.queries + 1, other.classes))
    for table, found in zip(chosen, model.probabilities(chosen), strict=True):
        (alone,) = model.probabilities([table])
        assert np.abs(found - alone).max() < tolerance


def check_chunks(model: Any, tolerance: float) -> None:
    """Queries in one forward: as one by one."""
    for table in TABLES.values():
        (together,) = model.probabilities([table])
        for i, row in enumerate(together):
            alone = Table(table.X, table.y, table.queries[i : i + 1], table.classes)
            assert np.abs(model.probabilities([alone])[0] - row).max() < tolerance
