"""A fleet that is killed at random points while a client feeds it, and what the client finds afterwards.

The client is a process of its own that knows what was acknowledged. After each kill it starts the fleet
again, sends once more what was not acknowledged and, as clients do that are not sure, some of what
was. In the end the fleet has to be, by fingerprint, the one that was fed the same and never killed.
"""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from millpond.fleet import Answer, Fleet, Operation

OPTIONS: dict[str, Any] = {"budget": 16, "tau": 0.3, "resident": 4, "snapshot_every": 25, "k": 3}
KEYS = 6
AGAIN = 3
"""Acknowledged batches that are sent once more after a kill"""
SETTLED = 0.02
"""Seconds after the last acknowledgement within which a kill comes"""


@dataclass
class Figures:
    kills: int = 0
    kills_while_opening: int = 0
    kills_with_a_batch_under_way: int = 0
    found_applied: int = 0
    """batches that were not acknowledged before the kill, and had been applied nevertheless"""
    batches: int = 0
    operations: int = 0
    repeated: int = 0
    """operations that were answered again and not applied again"""
    seconds: float = 0.0
    same_fingerprint: bool = False
    fingerprint: str = ""
    options: dict[str, Any] = field(default_factory=lambda: dict(OPTIONS))


def batches(seed: int) -> Iterator[list[Operation]]:
    """Without end: rows of several keys predicted, their labels some rows later, all with ids."""
    rng = random.Random(seed)
    rows = [0] * KEYS
    while True:
        batch = []
        for _ in range(rng.randint(1, 5)):
            key = rng.randrange(KEYS)
            t = rows[key] = rows[key] + 1
            x: Any = [round(rng.gauss(0, 1), 2), float(t % 7)]
            if key % 3 == 2:
                x = {"u": x[0], "kind": "abc"[t % 3]} | ({"late": 1.0} if t > 40 else {})
            batch.append(Operation("predict", key, x, id=t))
            if t > 3:
                batch.append(Operation("learn", key, None, "nyz"[rng.randrange(3)], t - 3))
        yield batch


def _fleet(connection: Connection, folder: str) -> None:
    """The process that is killed."""
    fleet = Fleet("knn", **OPTIONS, data=folder)
    connection.send("open")
    while True:
        asked = connection.recv()
        if asked is None:
            break
        connection.send([_said(answer) for answer in fleet.answer(asked)])
    connection.send(fleet.fingerprint())
    fleet.close()


def _said(answer: Any) -> Any:
    return (answer.probabilities, answer.repeated) if isinstance(answer, Answer) else repr(answer)


class Client:
    """Feeds a fleet, kills it, and starts it again."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._rng = folder, random.Random(seed)
        # Processes are forked from one that has imported everything, and that has no threads.
        self._processes = multiprocessing.get_context("forkserver")
        self._processes.set_forkserver_preload(["millpond.fleet", "millpond.backbones.knn"])
        self._stream = batches(seed)
        self.acknowledged: list[tuple[list[Operation], list[Any]]] = []
        self._sent: list[list[Operation]] = []
        self.figures = Figures()

    def run(self, kills: int) -> Figures:
        begin = time.perf_counter()
        while self.figures.kills < kills:
            self._live_and_die()
        self._start()
        self._catch_up()
        self._connection.send(None)
        found = self._connection.recv()
        self._process.join()
        with Fleet("knn", **OPTIONS) as never_killed:
            for batch, said in self.acknowledged:
                expected = [_said(answer) for answer in never_killed.answer(batch)]
                assert [each[0] for each in said] == [each[0] for each in expected]
            self.figures.same_fingerprint = found == never_killed.fingerprint()
        self.figures.fingerprint = found
        self.figures.batches = len(self.acknowledged)
        self.figures.operations = sum(len(batch) for batch, _ in self.acknowledged)
        self.figures.seconds = round(time.perf_counter() - begin, 1)
        return self.figures

    def _start(self) -> None:
        self._connection, its = self._processes.Pipe()
        self._process = self._processes.Process(target=_fleet, args=(its, str(self._folder)))
        self._process.start()
        its.close()

    def _live_and_die(self) -> None:
        self._start()
        if self._rng.random() < 0.2:  # while it opens, or recovers
            time.sleep(self._rng.uniform(0, 2 * SETTLED))
            self.figures.kills_while_opening += not self._connection.poll()
        else:
            self._catch_up()
            for _ in range(self._rng.randint(0, 4)):
                self._sent.append(next(self._stream))
                self._catch_up(open=True)
            self._sent.append(next(self._stream))
            self._connection.send(self._sent[0])
            time.sleep(self._rng.uniform(0, SETTLED))
            self.figures.kills_with_a_batch_under_way += not self._connection.poll()
        self._process.kill()
        self._process.join()
        self._connection.close()
        self.figures.kills += 1

    def _catch_up(self, open: bool = False) -> None:
        """Send what was not acknowledged; after a start, some of what was before it."""
        if not open:
            assert self._connection.recv() == "open"
            count = self._rng.randint(0, AGAIN)
            for batch, said in self.acknowledged[-count:] if count else []:
                self._connection.send(batch)
                again = self._connection.recv()
                assert again == [(probabilities, True) for probabilities, _ in said], again
                self.figures.repeated += len(batch)
        first = not open
        while self._sent:
            self._connection.send(self._sent[0])
            said = self._connection.recv()
            repeated = {each[1] for each in said}
            assert len(repeated) == 1, f"half a batch was applied: {said}"
            self.figures.found_applied += repeated == {True}
            assert first or repeated == {False}
            first = False
            self.acknowledged.append((self._sent.pop(0), said))


def figures_of(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    return asdict(Client(folder, seed).run(kills))
