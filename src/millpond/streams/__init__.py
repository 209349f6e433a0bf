"""Streams: the paper's seven by name, one's own files by path."""

from millpond.streams.agrawal import generate_agr_a
from millpond.streams.load import load_stream
from millpond.streams.registry import Entry, Status, entries, entry, get
from millpond.streams.stream import Stream

__all__ = [
    "Entry",
    "Status",
    "Stream",
    "entries",
    "entry",
    "generate_agr_a",
    "get",
    "load_stream",
]
