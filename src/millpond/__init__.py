"""Frozen tabular foundation models that learn from data streams through a bounded context."""

from millpond._version import __version__
from millpond.classifier import StreamClassifier
from millpond.context import Context, Delta
from millpond.evaluate.prequential import prequential
from millpond.evaluate.result import Result
from millpond.fleet import Fleet
from millpond.streams import Stream, load_stream

__all__ = [
    "Context",
    "Delta",
    "Fleet",
    "Result",
    "Stream",
    "StreamClassifier",
    "__version__",
    "load_stream",
    "prequential",
]
