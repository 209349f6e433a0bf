"""Callers that come together are served together: the one who gets in takes along all who wait.

So a batch forms of what arrived while the last one was served, without a thread or a pause of its own,
and a caller who is alone is served at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")


class _Call(Generic[Asked, Answered]):
    def __init__(self, asked: Sequence[Asked]) -> None:
        self.asked = asked
        self.answers: list[Answered] | None = None
        self.error: BaseException | None = None


class Combining(Generic[Asked, Answered]):
    """``serve`` answers a list of things asked; calls of many threads are put together for it."""

    def __init__(self, serve: Callable[[Sequence[Asked]], list[Answered]], most: int) -> None:
        self._serve, self._most = serve, most
        self._calls: deque[_Call[Asked, Answered]] = deque()
        self.lock = Lock()

    def __call__(self, asked: Sequence[Asked]) -> list[Answered]:
        call: _Call[Asked, Answered] = _Call(asked)
        self._calls.append(call)
        with self.lock:
            while call.answers is None and call.error is None:
                self._serve_some()
        if call.error is not None:
            raise call.error
        assert call.answers is not None
        return call.answers

    def _serve_some(self) -> None:
        """The calls that wait, as many as make up ``most`` things; at least one."""
        calls = [self._calls.popleft()]
        together = len(calls[0].asked)
        while self._calls and together + len(self._calls[0].asked) <= self._most:
            calls.append(self._calls.popleft())
            together += len(calls[-1].asked)
        try:
            answers = self._serve([each for call in calls for each in call.asked])
        except BaseException as error:
            for call in calls:
                call.error = error
            return
        start = 0
        for call in calls:
            call.answers = answers[start : start + len(call.asked)]
            start += len(call.asked)
