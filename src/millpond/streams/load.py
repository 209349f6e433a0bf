"""`load_stream`: a name of the registry, or a path to one's own file, becomes a `Stream`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from millpond.errors import BadOption, StreamError, UnknownName
from millpond.streams import registry
from millpond.streams.agrawal import generate_agr_a
from millpond.streams.archives import PACKED_SUFFIXES, unpack
from millpond.streams.arff import looks_like_arff, read_arff
from millpond.streams.delimited import read_delimited
from millpond.streams.parquet import MAGIC, read_parquet
from millpond.streams.registry import Entry
from millpond.streams.stream import Stream, encode_by_appearance
from millpond.streams.table import Table, to_stream
from millpond.streams.text import decode

DATA_SUFFIXES = (".csv", ".tsv", ".data", ".txt", ".arff", ".parquet", *PACKED_SUFFIXES)

# METER's checksum is not known, these facts of the paper's file are.
_METER_CHARACTERS = 15_050_194
_METER_LAST_ROW = ("0.384,0.3732,0.3996,0.381,", ",0.423,0.4248,0.4302,8")


def load_stream(
    name_or_path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    data_dir: str | os.PathLike[str] | None = None,
) -> Stream:
    """Load a stream of the registry by its name, or a file by its path.

    Parameters
    ----------
    name_or_path
        A name that `millpond streams list` shows, or a CSV, TSV, ARFF or Parquet file, also packed
        (.xz, .gz, .bz2, .zip). Text with a path separator or a known suffix is a path.
    target
        For a file: the label's column by name or number; the last one when not given.
    data_dir
        The folder of the registry's files; else `MILLPOND_DATA`, else a per-user cache.
    """
    if isinstance(name_or_path, str):
        if registry.canonical(name_or_path) in registry.NAMES:
            return _load_registered(registry.entry(name_or_path), target, data_dir)
        if not _is_path(name_or_path):
            raise UnknownName("stream", name_or_path, registry.NAMES)
    return _load_file(Path(name_or_path).expanduser(), target)


def _is_path(text: str) -> bool:
    separators = [sep for sep in ("/", os.sep, os.altsep) if sep]
    return (
        any(sep in text for sep in separators)
        or text.lower().endswith(DATA_SUFFIXES)
        or os.path.isfile(text)
    )


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors in here say which file they are about."""
    try:
        yield
    except (StreamError, BadOption) as error:
        raise type(error)(f"{path}: {error}") from error


def _load_file(path: Path, target: str | int | None) -> Stream:
    unpacked = unpack(path)
    with _naming(path):
        table = _read(unpacked.name.lower(), unpacked.content, target)
        stream = to_stream(table, path.name.split(".")[0] or path.name)
    notes = (*unpacked.notes, *stream.notes)
    return replace(stream, notes=notes, source=str(path), target=target)


def _read(name: str, content: bytes, target: str | int | None) -> Table:
    """The reader that the content calls for, or else the name."""
    if name.endswith(".parquet") or (content.startswith(MAGIC) and content.endswith(MAGIC)):
        return read_parquet(content, target)
    text = decode(content)
    if name.endswith(".arff") or looks_like_arff(text):
        return read_arff(text, target)
    return read_delimited(text, target)


def _load_registered(
    entry: Entry, target: str | int | None, data_dir: str | os.PathLike[str] | None
) -> Stream:
    if target is not None:
        raise BadOption(f"target is for files; the label of {entry.name} is given by the paper")
    if entry.kind == "generated":
        return generate_agr_a()
    path = registry.locate(entry, data_dir)
    content = entry.content(path)
    with _naming(path):
        text = decode(content)
        if entry.name == "nomao":
            return _by_appearance(entry, read_arff(text, by_appearance=True))
        stream = to_stream(read_delimited(text, delimiter=",", headerless=True), entry.name)
    if entry.name == "meter":
        return replace(stream, notes=(*stream.notes, *_meter_notes(text)))
    if entry.dropped_class is not None:
        return _without_class(stream, entry.dropped_class)
    return stream


def _without_class(stream: Stream, code: int) -> Stream:
    """The stream less the rows of one class, the codes above it moved down by one."""
    keep = stream.y != code
    y = stream.y[keep]
    rest = stream.classes[:code] + stream.classes[code + 1 :]
    note = f"{int((~keep).sum())} rows of class {stream.classes[code]!r} left out, as in the paper"
    return replace(
        stream, X=stream.X[keep], y=y - (y > code), classes=rest, notes=(*stream.notes, note)
    )


def _by_appearance(entry: Entry, table: Table) -> Stream:
    """The published loader of NOMAO: labels, like nominal features, as they first appear."""
    y, classes = encode_by_appearance(table.labels)
    note = "labels and nominal features are coded by order of first appearance, as in the paper"
    return Stream(entry.name, table.X, y, table.feature_names, classes, notes=(note,))


def _meter_notes(text: str) -> list[str]:
    """What speaks against a file being the paper's METER; nothing is refused for it."""
    notes = []
    if len(text) != _METER_CHARACTERS:
        notes.append(f"{len(text):,} characters; the paper's METER has {_METER_CHARACTERS:,}")
    begins, ends = _METER_LAST_ROW
    last = text.rstrip("\n").rpartition("\n")[2]
    if not (last.startswith(begins) and last.endswith(ends)):
        notes.append("the last row is not that of the paper's METER")
    return notes
