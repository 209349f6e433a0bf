"""What arrives while a batch is served makes up the next; what is too much is told so."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from millpond.errors import StoreError, TooMany
from millpond.fleet import Answer, Operation
from millpond.serve.desk import Desk


class SlowFleet:
    """Answers a batch when it is let; remembers the batches."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.batches: list[list[Any]] = []
        self.error: Exception | None = None

    def answer(self, operations: Sequence[Operation]) -> list[Answer]:
        self.batches.append([operation.key for operation in operations])
        assert self.go.acquire(timeout=60)
        if self.error is not None:
            raise self.error
        return [Answer({operation.key: 1.0}) for operation in operations]


def asked(*keys: str) -> list[Operation]:
    return [Operation("predict", key) for key in keys]


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_batches_form_while_one_is_served() -> None:
    async def main() -> None:
        fleet, seen = SlowFleet(), []
        desk = Desk(fleet, 100, lambda o, a, s: seen.append((len(o), len(a))))  # type: ignore[arg-type]
        first = asyncio.create_task(desk.ask(asked("a")))
        await settle()
        rest = [asyncio.create_task(desk.ask(asked(*keys))) for keys in ("bc", "d")]
        await settle()
        assert desk.waiting == 4
        gone = asyncio.create_task(desk.ask(asked("e")))
        await settle()
        gone.cancel()  # who asked has gone; the others are answered
        fleet.go.release(2)
        assert [answer.label for answer in await first] == ["a"]  # type: ignore[union-attr]
        assert [a.label for task in rest for a in await task] == ["b", "c", "d"]  # type: ignore[union-attr]
        assert fleet.batches == [["a"], ["b", "c", "d", "e"]]
        await desk.close()
        assert desk.waiting == 0
        assert seen == [(1, 1), (4, 4)]

    asyncio.run(main())


def test_a_full_queue_says_so() -> None:
    async def main() -> None:
        fleet = SlowFleet()
        desk = Desk(fleet, 3, lambda *_: None)  # type: ignore[arg-type]
        first = asyncio.create_task(
            desk.ask(asked(*"abcde"))
        )  # alone, it is taken whatever its size
        await settle()
        with pytest.raises(TooMany, match="5 operations wait already"):
            await desk.ask(asked("f"))
        fleet.go.release(2)
        await first
        assert [answer.label for answer in await desk.ask(asked("f"))] == ["f"]  # type: ignore[union-attr]
        await desk.close()

    asyncio.run(main())


def test_a_failure_is_everybodys_of_that_batch_alone() -> None:
    async def main() -> None:
        fleet = SlowFleet()
        desk = Desk(fleet, 100, lambda *_: None)  # type: ignore[arg-type]
        fleet.error = StoreError("the disk is full")
        fleet.go.release(1)
        with pytest.raises(StoreError):
            await desk.ask(asked("a"))
        fleet.error = None
        fleet.go.release(1)
        assert await desk.ask(asked("b"))
        await desk.close()

    asyncio.run(main())
