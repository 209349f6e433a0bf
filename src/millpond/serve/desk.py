"""The queue in front of a fleet: what arrives while a batch is served makes up the next one."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from millpond.errors import MillpondError, TooMany
from millpond.fleet import Answer, Fleet, Operation
from millpond.fleet.fleet import TOGETHER

Answers = list[Answer | MillpondError]
Seen = Callable[[Sequence[Operation], Answers, float], None]


class Desk:
    """At most ``most`` operations wait; ``seen`` is told of every batch and its seconds."""

    def __init__(self, fleet: Fleet, most: int, seen: Seen) -> None:
        self._fleet, self._most, self._seen = fleet, most, seen
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="fleet")
        self._calls: deque[tuple[Sequence[Operation], asyncio.Future[Answers]]] = deque()
        self._serving: asyncio.Task[None] | None = None
        self.waiting = 0
        """operations that wait, those that are being served included"""

    async def ask(self, operations: Sequence[Operation]) -> Answers:
        """Answers to operations; TooMany while the queue is full."""
        if self.waiting and self.waiting + len(operations) > self._most:
            raise TooMany(f"{self.waiting:,} operations wait already: try again in a moment")
        answers: asyncio.Future[Answers] = asyncio.get_running_loop().create_future()
        self._calls.append((operations, answers))
        self.waiting += len(operations)
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        return await answers

    async def call(self, verb: Callable[..., Any], *arguments: Any) -> Any:
        """Another verb of the fleet, between two batches."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, verb, *arguments)

    async def _serve(self) -> None:
        try:
            while self._calls:
                calls = [self._calls.popleft()]
                together = len(calls[0][0])
                while self._calls and together + len(self._calls[0][0]) <= TOGETHER:
                    calls.append(self._calls.popleft())
                    together += len(calls[-1][0])
                await self._serve_together(calls)
                self.waiting -= together
        finally:
            self._serving = None

    async def _serve_together(
        self, calls: list[tuple[Sequence[Operation], asyncio.Future[Answers]]]
    ) -> None:
        operations = [operation for asked, _ in calls for operation in asked]
        begin = time.perf_counter()
        try:
            found: Answers = await self.call(self._fleet.answer, operations)
        except Exception as error:  # the store's or the machine's: nobody's request is applied
            for _, answers in calls:
                if not answers.done():
                    answers.set_exception(error)
            return
        seconds, start = time.perf_counter() - begin, 0
        for asked, answers in calls:
            if not answers.done():  # whoever asked may have gone
                answers.set_result(found[start : start + len(asked)])
            start += len(asked)
        self._seen(operations, found, seconds)

    async def close(self) -> None:
        """The batch under way is served; what waits behind it is sent away."""
        while self._calls:
            asked, answers = self._calls.popleft()
            self.waiting -= len(asked)
            if not answers.done():
                answers.set_exception(TooMany("the service ends: ask it again when it is back"))
        if self._serving is not None:
            await self._serving
        self._thread.shutdown()
