"""Commands that take long end at the next row when they are asked to."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console


@contextmanager
def stop_on_signal(errors: Console) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM end a run at its next row; a second one ends it at once."""
    received: list[int] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)
        errors.print("stopping at the next row (again to stop at once)", style="dim")

    before = {n: signal.signal(n, on_signal) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
