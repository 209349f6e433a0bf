"""ARFF: declared columns, dense and sparse rows, quoted names and values.

The format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from millpond.errors import StreamError
from millpond.streams.cells import Column, coded_column, numeric_column
from millpond.streams.rows import Rows, of_one_width
from millpond.streams.table import (
    BadRow,
    Table,
    assemble,
    coded_note,
    target_column,
    unique_names,
)

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_CELL = re.compile(rf"\s*(?:({_QUOTED})\s*|([^,]*))(?:,|\Z)")
_SPARSE_CELL = re.compile(rf"\s*(\d{{1,9}})\s+(?:({_QUOTED})\s*|([^,]*))(?:,|\Z)")
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.+)", re.IGNORECASE)


@dataclass(frozen=True)
class Attribute:
    """A declared column; `values` are a nominal one's, in their order."""

    name: str
    kind: Literal["numeric", "nominal", "text"]
    values: tuple[str, ...] = ()

    @property
    def default(self) -> str:
        """What a sparse row leaves out."""
        if self.kind == "numeric":
            return "0"
        return self.values[0] if self.values else "?"


def looks_like_arff(text: str) -> bool:
    for line in text[: 1 << 16].split("\n"):
        if line.strip() and not line.lstrip().startswith("%"):
            return line.lstrip().lower().startswith(("@relation", "@attribute"))
    return False


def read_arff(text: str, target: str | int | None = None, *, by_appearance: bool = False) -> Table:
    """The table in `text`. Nominal features are coded in their declared order.

    `by_appearance` codes them by first appearance instead, as the published loader of NOMAO does.
    """
    attributes, lines, numbers = _parts(text)
    names = [attribute.name for attribute in attributes]
    label = target_column(target, names, len(attributes))
    rows, malformed = _rows(lines, numbers, attributes)
    features = [k for k in range(len(attributes)) if k != label]
    X, misfits = _features(rows, attributes, features, by_appearance)
    labels = rows.column(label)
    if attributes[label].kind == "nominal":
        column = coded_column(labels, _codes(attributes[label]))
        misfits += assemble([column], [labels], rows.numbers)[2]
    text_features = [names[k] for k in features if attributes[k].kind == "text"]
    table = Table(
        X,
        labels,
        unique_names([names[k] for k in features]),
        rows.numbers,
        (*rows.bad_rows, *malformed),
        tuple(coded_note(text_features)),
    )
    return table.without(misfits)


def _parts(text: str) -> tuple[list[Attribute], list[str], NDArray[np.int64]]:
    """The declarations, and the data lines with their numbers."""
    attributes: list[Attribute] = []
    lines = text.split("\n")
    for at, line in enumerate(lines):
        stripped = line.strip()
        keyword = stripped[:10].lower()
        if keyword.startswith("@data"):
            break
        if keyword.startswith("@attribute"):
            attributes.append(_attribute(stripped, at + 1))
        elif stripped and not stripped.startswith("%") and not keyword.startswith("@relation"):
            raise StreamError(f"line {at + 1}: no ARFF declaration: {stripped[:60]!r}")
    else:
        raise StreamError("ARFF without an @data line: the file is incomplete")
    kept = [
        number
        for number, line in enumerate(lines[at + 1 :], at + 2)
        if line and not line.isspace() and not line.lstrip().startswith("%")
    ]
    return attributes, [lines[number - 1].strip() for number in kept], np.array(kept, np.int64)


def _attribute(line: str, number: int) -> Attribute:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise StreamError(f"line {number}: an attribute needs a name and a type: {line[:60]!r}")
    name, declared = _unquote(match[1]), match[2].strip()
    if declared.startswith("{"):
        end = declared.rfind("}")
        if end < 0:
            raise StreamError(f"line {number}: the values of {name!r} are not closed by a brace")
        return Attribute(name, "nominal", tuple(_split(declared[1:end])))
    kind = declared.split()[0].lower()
    if kind in ("numeric", "real", "integer"):
        return Attribute(name, "numeric")
    if kind == "string":
        return Attribute(name, "text")
    raise StreamError(
        f"line {number}: attribute {name!r} is of type {kind!r}; "
        "readable are numeric, real, integer, string and {a, b, ...}"
    )


def _rows(
    lines: list[str], numbers: NDArray[np.int64], attributes: Sequence[Attribute]
) -> tuple[Rows, list[BadRow]]:
    """Unsplit lines where every row is dense and unquoted, cells otherwise."""
    width = len(attributes)
    if not any("'" in line or '"' in line or line.startswith("{") for line in lines):
        return of_one_width(lines, numbers, ",", width), []
    cells: list[list[str]] = []
    at: list[int] = []
    malformed = []
    for line, number in zip(lines, numbers.tolist(), strict=True):
        row = _sparse(line, attributes) if line.startswith("{") else _split(line)
        if row is None:
            malformed.append(BadRow(number, "not a well-formed sparse row"))
        else:
            cells.append(row)
            at.append(number)
    return of_one_width(cells, np.array(at, np.int64), ",", width), malformed


def _features(
    rows: Rows, attributes: Sequence[Attribute], features: Sequence[int], by_appearance: bool
) -> tuple[NDArray[np.float32], list[BadRow]]:
    """Numeric columns by the C reader where it can, the others cell by cell."""
    numeric = [j for j, k in enumerate(features) if attributes[k].kind == "numeric"]
    fast = rows.as_numbers([features[j] for j in numeric])
    slow = sorted(set(range(len(features))) - set(numeric if fast is not None else ()))
    cells = rows.columns([features[j] for j in slow])
    columns = [
        _column(attributes[features[j]], cells[i], by_appearance) for i, j in enumerate(slow)
    ]
    coded, _, misfits = assemble(columns, cells, rows.numbers)
    if fast is None:
        return coded, misfits
    X = np.empty((len(rows), len(features)), np.float32)
    X[:, numeric] = fast
    X[:, slow] = coded
    return X, misfits


def _column(attribute: Attribute, cells: Sequence[str], by_appearance: bool) -> Column:
    if attribute.kind == "numeric":
        return numeric_column(cells)
    declared = attribute.kind == "nominal" and not by_appearance
    return coded_column(cells, _codes(attribute) if declared else None)


def _codes(attribute: Attribute) -> dict[str, int]:
    return {value: code for code, value in enumerate(attribute.values)}


def _split(text: str) -> list[str]:
    """Comma-parted cells with quotes and escapes undone."""
    cells = []
    for match in _CELL.finditer(text):
        cells.append(_unquote(match[1] or match[2]))
        if not match[0].endswith(","):
            break
    return cells


def _sparse(line: str, attributes: Sequence[Attribute]) -> list[str] | None:
    """A row of "{column value, ...}", or None where it is malformed."""
    inner = line[1:-1].strip()
    if not line.endswith("}"):
        return None
    row = [attribute.default for attribute in attributes]
    at = 0
    while at < len(inner):
        match = _SPARSE_CELL.match(inner, at)
        if match is None or int(match[1]) >= len(row):
            return None
        row[int(match[1])] = _unquote(match[2] or match[3])
        at = match.end()
    return row


def _unquote(cell: str) -> str:
    cell = cell.strip()
    if len(cell) >= 2 and cell[0] == cell[-1] and cell[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", cell[1:-1])
    return cell
