"""Predictions that wait for their labels, by key or by row: so many, and the oldest is forgotten."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from millpond.reading import Cells, flat, same, unflat


class Waiting:
    """What rows will enter the context with, until their labels come.

    At most ``most`` predictions wait under keys, and as many without one; the keys of as many that do not
    wait any more are remembered, so that a label that comes twice or too late can be told apart.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.forgotten = 0
        """Predictions that were asked for with a key, and dropped because too many waited."""
        self._by_row: OrderedDict[Hashable, float] = OrderedDict()
        self._by_key: OrderedDict[Hashable, tuple[Cells, float]] = OrderedDict()
        self._gone: OrderedDict[Hashable, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_row) + len(self._by_key)

    def add(self, key: Hashable | None, cells: Cells, score: float) -> None:
        """A prediction was made; one that waits under the same key or for an equal row is replaced."""
        if key is None:
            _newest(self._by_row, same(cells), score, self.most)
            return
        self._gone.pop(key, None)
        dropped = _newest(self._by_key, key, (cells, score), self.most)
        if dropped is not None:
            self.forgotten += 1
            _newest(self._gone, dropped, "forgotten", self.most)

    def under(self, key: Hashable) -> tuple[Cells, float] | None:
        """The row and the score that wait under a key."""
        return self._by_key.get(key)

    def score_of(self, cells: Cells) -> float | None:
        """The score of the last prediction without a key for an equal row."""
        return self._by_row.get(same(cells))

    def learned(self, key: Hashable | None, cells: Cells) -> None:
        """The row's label has come: its prediction waits no longer."""
        if key is not None and self._by_key.pop(key, None) is not None:
            _newest(self._gone, key, "learned", self.most)
        else:
            self._by_row.pop(same(cells), None)

    def why_not(self, key: Hashable) -> str:
        """Why nothing waits under a key, as far as it is known."""
        gone = self._gone.get(key)
        if gone == "learned":
            return f"the label of key {key!r} was learned already"
        if gone == "forgotten":
            return (
                f"the prediction under key {key!r} was forgotten: more than {self.most:,} waited. "
                "Give x with the label, or let more wait: waiting=..."
            )
        since = f" (or was forgotten long ago: {self.forgotten:,} were)" if self.forgotten else ""
        return (
            f"no prediction waits under key {key!r}: nothing was predicted under it{since}. "
            "Predict with key=... first, or give x"
        )

    # -- saving ----------------------------------------------------------------------------------

    def state(self) -> tuple[Any, ...]:
        keyed = ((key, flat(cells), score) for key, (cells, score) in self._by_key.items())
        return (self.forgotten, *map(tuple, (self._by_row.items(), keyed, self._gone.items())))

    def restore(self, state: tuple[Any, ...]) -> None:
        self.forgotten, by_row, by_key, gone = state
        self._by_row = OrderedDict(by_row)
        self._by_key = OrderedDict((key, (unflat(cells), score)) for key, cells, score in by_key)
        self._gone = OrderedDict(gone)


def _newest(waiting: OrderedDict[Hashable, Any], key: Hashable, value: Any, most: int) -> Any:
    """Store as the newest; the key of the oldest, which goes if there are too many, or None."""
    waiting[key] = value
    waiting.move_to_end(key)
    return waiting.popitem(last=False)[0] if len(waiting) > most else None
