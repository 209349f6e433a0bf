"""The service's numbers in Prometheus' text format, version 0.0.4."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from millpond.serve.watch import BUCKETS, Histogram, Watch

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def text(watch: Watch, memory: dict[str, int], waiting: int) -> str:
    """All of them. ``memory`` is the fleet's, ``waiting`` the length of the queue."""
    return "\n".join(_lines(watch, memory, waiting)) + "\n"


def _lines(watch: Watch, memory: dict[str, int], waiting: int) -> Iterator[str]:
    yield from _head("operations_total", "counter", "operations by verb and outcome")
    outcomes = {"done": watch.done, "repeated": watch.repeated, "refused": watch.refused}
    for outcome, counts in outcomes.items():
        for verb, count in counts.items():
            yield f'millpond_operations_total{{verb="{verb}",outcome="{outcome}"}} {count}'
    yield from _head("responses_total", "counter", "requests answered, by status")
    for status, count in sorted(watch.status.items()):
        yield f'millpond_responses_total{{status="{status}"}} {count}'
    for name, what, count in (
        ("labels_scored_total", "labels compared with their predictions", watch.scored),
        ("labels_right_total", "of these, predicted rightly", watch.right),
        ("drifts_total", "drift marks of all keys", watch.drifts),
        ("keys_spilled_total", "keys written to disk to make room", memory["spilled"]),
        ("keys_returned_total", "keys read back", memory["returned"]),
        ("log_records_total", "changes logged by this process", memory["log_records"]),
        ("log_bytes_total", "their bytes", memory["log_bytes"]),
    ):
        yield from _head(name, "counter", what)
        yield f"millpond_{name} {count}"
    for name, what, count in (
        ("keys", "keys in all", memory["keys"]),
        ("keys_resident", "keys in memory", memory["resident"]),
        ("lane_bytes", "bytes of the lanes in memory", memory["lane_bytes"]),
        ("queue_operations", "operations that wait", waiting),
    ):
        yield from _head(name, "gauge", what)
        yield f"millpond_{name} {count}"
    yield from _histogram("request_seconds", "from a request to its answer", watch.requests)
    yield from _histogram(
        "batch_seconds", "a batch in the fleet, its commit included", watch.batches
    )


def _head(name: str, kind: str, what: str) -> list[str]:
    return [f"# HELP millpond_{name} {what}", f"# TYPE millpond_{name} {kind}"]


def _histogram(name: str, what: str, histogram: Histogram) -> Iterator[str]:
    yield from _head(name, "histogram", what)
    bounds = [*map(str, BUCKETS), "+Inf"]
    sums = list(accumulate(histogram.counts))
    for bound, count in zip(bounds, sums, strict=True):
        yield f'millpond_{name}_bucket{{le="{bound}"}} {count}'
    yield f"millpond_{name}_sum {histogram.total:.6f}"
    yield f"millpond_{name}_count {sums[-1]}"
