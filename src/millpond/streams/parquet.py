"""Parquet, by way of pyarrow (the optional extra `parquet`)."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from millpond.errors import MillpondError, MissingExtra, StreamError
from millpond.streams.cells import Column, coded_column
from millpond.streams.table import Table, assemble, coded_note, target_column, unique_names

MAGIC = b"PAR1"

# pandas stores the row labels of a filtered frame as a last column. It counts rows, and as the last
# column it would be taken for the label.
_PANDAS_INDEX = "__index_level_"


def read_parquet(content: bytes, target: str | int | None = None) -> Table:
    """The table in `content`; nulls are missing values, text is coded by first appearance."""
    try:
        pa = importlib.import_module("pyarrow")
        pq = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtra("reading Parquet", "parquet") from error
    try:
        frame = pq.read_table(pa.BufferReader(content), partitioning=None)
        frame.validate(full=True)  # damage may pass the reader and show only as text is decoded
        return _table(pa, frame, target)
    except MillpondError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise StreamError(f"not a readable Parquet file ({error})") from error


def _table(pa: Any, frame: Any, target: str | int | None) -> Table:
    kept = [name for name in frame.column_names if not name.startswith(_PANDAS_INDEX)]
    index = [name for name in frame.column_names if name not in kept and name != target]
    frame = frame.drop_columns(index)
    names = frame.column_names
    label = target_column(target, names, len(names))
    features = [k for k in range(len(names)) if k != label]
    columns = [_column(pa, frame.column(k), names[k]) for k in features]
    X, coded, _ = assemble(columns, [], np.arange(len(frame)))
    labels = _texts(frame.column(label))
    notes = [f"column {name!r}, the row labels of pandas, left out" for name in index]
    return Table(
        X,
        labels,
        unique_names([names[k] for k in features]),
        notes=(*notes, *coded_note([names[features[j]] for j in coded])),
    )


def _column(pa: Any, values: Any, name: str) -> Column:
    types, kind = pa.types, values.type
    if types.is_dictionary(kind):
        kind = kind.value_type
        values = values.cast(kind)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        numbers = values.cast(pa.float64(), safe=False).to_numpy()  # a null becomes NaN
    elif types.is_null(kind):
        numbers = np.full(len(values), np.nan)
    elif types.is_string(kind) or types.is_large_string(kind) or types.is_boolean(kind):
        return coded_column(_texts(values))
    else:
        raise StreamError(
            f"column {name!r} is of type {kind}; readable are numbers, text and booleans"
        )
    return Column(numbers, np.zeros(len(values), np.bool_), coded=False)


def _texts(values: Any) -> list[str]:
    return ["" if value is None else str(value) for value in values.to_pylist()]
