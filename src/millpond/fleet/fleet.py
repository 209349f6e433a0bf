"""`Fleet`: the verbs of stream learning for thousands of keys."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from threadpoolctl import ThreadpoolController

from millpond.backbones import Backbone
from millpond.checks import check_whole
from millpond.errors import BadInput, MillpondError, StoreError, TooMany
from millpond.fleet.combining import Combining
from millpond.fleet.keyed import Keyed
from millpond.fleet.operation import LEARN, PREDICT, Answer, Operation, key_of, name_of
from millpond.fleet.pools import Pools
from millpond.fleet.recovery import fingerprint_of
from millpond.fleet.residents import Residents
from millpond.fleet.rounds import serve
from millpond.fleet.store import Store
from millpond.learner import DEFAULT_BACKBONE, DEFAULT_TAU, ContextLearner
from millpond.policies import Policy
from millpond.state import fingerprint

TOGETHER = 512
"""Operations in a batch, of callers that come together."""


class Fleet:
    """Many keyed streams over one frozen backbone: a `StreamClassifier` for each key, stepped together.

    Parameters
    ----------
    backbone, policy, budget, short_ratio, tau
        The frozen model, and the context that each key has: see `Context`.
    resident : int
        How many keys may be in memory; the least recently used go to disk and come back as they were.
    keys : int
        How many keys there may be at all.
    labels : int
        How many labels a key may have.
    waiting : int
        How many predictions of a key may wait for their labels.
    remember : int
        How many operations with ids a key remembers; one that comes again is answered and not
        applied again.
    data : path, optional
        A folder that outlives the process: every change is logged there before it is acknowledged.
    sync : bool
        Whether an acknowledged change is on the disk (it outlives the machine) or with the operating
        system (it outlives the process).
    snapshot_every : int
        Changes of a key after which a snapshot of it is written: the most that a recovery replays.
    **options
        Details of the contexts (see `Context`) and options of the backbone.

    Notes
    -----
    Rows, labels, late labels and errors are those of `StreamClassifier`; what is ``key=`` there is
    ``id=`` here, as the key names the stream. Keys and ids are text, numbers, booleans, bytes, or tuples
    of these. Any number of threads may call; those that come together are served in one batch.

    Examples
    --------
    >>> with Fleet("knn", budget=100) as fleet:
    ...     for t in range(40):
    ...         for key in ("north", "south"):
    ...             guess = fleet.predict_one([t % 7, t % 2], key=key, id=t)
    ...             fleet.learn_one(y=(t % 2 == 1) == (key == "north"), key=key, id=t)
    ...     fleet.predict_one([3, 1], key="north"), fleet.predict_one([3, 1], key="south")
    (True, False)
    """

    def __init__(
        self,
        backbone: str | Backbone = DEFAULT_BACKBONE,
        policy: str | Policy = "cure",
        budget: int = 1000,
        short_ratio: float = 0.75,
        tau: float | str = DEFAULT_TAU,
        *,
        resident: int = 1000,
        keys: int = 1_000_000,
        labels: int = 1000,
        waiting: int = 1000,
        remember: int = 1000,
        data: str | os.PathLike[str] | None = None,
        sync: bool = True,
        snapshot_every: int = 500,
        **options: Any,
    ) -> None:
        self._resident = check_whole("resident", resident, 1)
        self._most_keys, self._most_labels = (
            check_whole("keys", keys, 1),
            check_whole("labels", labels, 1),
        )
        self._waiting, self._remember = (
            check_whole("waiting", waiting, 1),
            check_whole("remember", remember, 1),
        )
        self._snapshot_every = check_whole("snapshot_every", snapshot_every, 1)

        def make(lanes: int) -> ContextLearner:
            return ContextLearner(
                lanes,
                backbone=shared,
                policy=policy,
                budget=budget,
                short_ratio=short_ratio,
                tau=tau,
                **details,
            )

        # The first learner reads the backbone's name and its options; the others share what it made.
        shared, details = backbone, options
        first = make(1)
        shared = first.backbone
        details = first.details
        self._pools = Pools(make, self._resident)
        self._about = {**first.describe(0), "waiting": self._waiting, "remember": self._remember}
        stored = {
            name: value if _plain(value) else str(value) for name, value in self._about.items()
        }
        self._store = Store(None if data is None else Path(data), stored, sync)
        self._residents = Residents(self._resident, self._pools, self._store, self._new)
        self._answer = Combining[Operation, Answer | MillpondError](self._serve, TOGETHER)
        self._blas = ThreadpoolController()
        self._closed: str | None = None

    def _new(self, name: str) -> Keyed:
        return Keyed(name, self._waiting, self._remember)

    # -- one row ---------------------------------------------------------------------------------

    def predict_proba_one(
        self, x: Any, *, key: Hashable, id: Hashable | None = None
    ) -> dict[Hashable, float]:
        """The probability of each class that is now in the key's context; {} while it is empty."""
        return self._one(Operation(PREDICT, key, x, id=id)).probabilities

    def predict_one(self, x: Any, *, key: Hashable, id: Hashable | None = None) -> Any:
        """The most likely label (the earlier seen on ties); None while the key's context is empty."""
        return self._one(Operation(PREDICT, key, x, id=id)).label

    def learn_one(
        self, x: Any = None, y: Any = None, *, key: Hashable, id: Hashable | None = None
    ) -> None:
        """Add a labelled row to the key's context; with an id, the row that was predicted under it."""
        self._one(Operation(LEARN, key, x, y, id))

    def _one(self, operation: Operation) -> Answer:
        (answer,) = self.answer([operation])
        if isinstance(answer, MillpondError):
            raise answer
        return answer

    # -- many ------------------------------------------------------------------------------------

    def answer(self, operations: Sequence[Operation]) -> list[Answer | MillpondError]:
        """Operations of any keys, those of one key in their order: an answer or an error for each.

        They are one batch: with ``data``, all that succeed are acknowledged by one commit. What goes
        wrong with the store or the machine, and not with an operation, is raised; none is applied then.
        """
        return self._answer(operations)

    # -- keys ------------------------------------------------------------------------------------

    def keys(self) -> list[Hashable]:
        """All keys that were ever asked, in memory or not."""
        with self._answer.lock:
            return [key_of(name) for name in sorted(self._residents.known)]

    def __len__(self) -> int:
        return len(self._residents.known)

    def __contains__(self, key: Hashable) -> bool:
        return name_of(key) in self._residents.known

    def describe(self, key: Hashable) -> dict[str, Any]:
        """What a key's context holds, its labels and features, and what waits; brings it into memory."""
        with self._answer.lock:
            keyed = self._key(key)
            intake = keyed.intake
            return {
                "operations": keyed.operations,
                "labels": list(intake.labels),
                "features": intake.encoder.width,
                "waiting": len(intake.waiting),
                "forgotten": intake.waiting.forgotten,
                "banks": self._banks(keyed),
            }

    def banks(self, keys: Sequence[Hashable]) -> list[dict[str, Any] | None]:
        """What the contexts of some keys hold, by class; None for those that are not in memory."""
        with self._answer.lock:
            return [self._banks(self._residents.get(name_of(key))) for key in keys]

    def forget(self, key: Hashable) -> None:
        """Drop a key and all that is stored of it."""
        name = name_of(key)
        with self._answer.lock:
            self._check_open()
            if name in self._residents.known:
                with self._stored({name}):
                    self._store.forget(name)
                self._residents.drop(name)
                self._residents.known.discard(name)

    # -- the whole -------------------------------------------------------------------------------

    @property
    def about(self) -> dict[str, Any]:
        """How it was made: backbone, policy, budget ..."""
        return dict(self._about)

    @property
    def problem(self) -> str | None:
        """Why it takes no more operations; None while it does."""
        return self._closed

    def memory(self) -> dict[str, int]:
        """Keys in memory and on disk, and the bytes of the lanes that are there."""
        with self._answer.lock:
            return {
                "keys": len(self._residents.known),
                "resident": len(self._residents),
                "spilled": self._residents.spilled,
                "returned": self._residents.returned,
                "lane_bytes": self._pools.bytes(),
                "log_records": self._store.records,
                "log_bytes": self._store.bytes_logged,
            }

    def fingerprint(self, key: Hashable | None = None) -> str:
        """SHA-256 over all that decides the answers of a key, or of all keys, and over those given."""
        with self._answer.lock:
            if key is not None:
                return fingerprint_of(self._key(key), self._pools)
            return fingerprint(
                {
                    name: fingerprint_of(self._key(key_of(name)), self._pools)
                    for name in sorted(self._residents.known)
                },
                {},
            )

    def snapshot(self, key: Hashable | None = None) -> None:
        """Write a snapshot of a key, or of all keys in memory, so that recovery replays nothing."""
        with self._answer.lock:
            self._check_open()
            chosen = list(self._residents) if key is None else [self._key(key)]
            with self._stored({keyed.name for keyed in chosen}):
                for keyed in chosen:
                    self._residents.save(keyed)

    def close(self) -> None:
        """End it. What is durable is so already."""
        with self._answer.lock:
            self._closed = self._closed or "it was closed"
            self._store.close()

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- inside ----------------------------------------------------------------------------------

    def _key(self, key: Hashable) -> Keyed:
        """A key that was asked before, in memory; under the lock."""
        name = name_of(key)
        self._check_open()
        if name not in self._residents.known:
            raise BadInput(f"there is no key {key!r}: nothing was asked of it")
        with self._stored({name}):  # with what is spilled for it
            (keyed,) = self._residents.bring([name])
        if isinstance(keyed, StoreError):
            raise keyed
        return keyed

    def _banks(self, keyed: Keyed | None) -> dict[str, Any] | None:
        if keyed is None or keyed.place is None:
            return None
        return self._pools.banks(keyed.place, len(keyed.intake.labels))

    def _serve(self, operations: Sequence[Operation]) -> list[Answer | MillpondError]:
        """A batch, under the lock."""
        self._check_open()
        answers: list[Answer | MillpondError | None] = [None] * len(operations)
        queues: dict[str, deque[int]] = {}
        for at, operation in enumerate(operations):
            try:
                name = name_of(operation.key)
                self._check_room(name, queues)
            except MillpondError as error:
                answers[at] = error
            else:
                queues.setdefault(name, deque()).append(at)
        asked: set[str] = set()
        with self._blas.limit(limits=1, user_api="blas"), self._stored(asked):
            while queues:
                self._round(operations, queues, answers, asked)
        return [answer for answer in answers if answer is not None]

    def _check_room(self, name: str, queues: dict[str, Any]) -> None:
        known = self._residents.known
        if name in known or name in queues or len(known) < self._most_keys:
            return
        raise TooMany(f"there are {self._most_keys:,} keys already: keys=... allows more")

    def _round(
        self,
        operations: Sequence[Operation],
        queues: dict[str, deque[int]],
        answers: list[Answer | MillpondError | None],
        asked: set[str],
    ) -> None:
        """The next operation of as many keys as may be in memory at once."""
        names = list(queues)[: self._resident]
        places: list[int] = []
        round: list[tuple[Keyed, Operation]] = []
        for name, keyed in zip(names, self._residents.bring(names), strict=True):
            if isinstance(keyed, StoreError):
                for at in queues.pop(name):
                    answers[at] = keyed
                continue
            asked.add(name)
            places.append(queues[name].popleft())
            round.append((keyed, operations[places[-1]]))
            if not queues[name]:
                del queues[name]
        found = serve(round, self._pools, self._store, self._most_labels)
        for at, (keyed, _), answer in zip(places, round, found, strict=True):
            answers[at] = answer
            self._residents.settle(keyed)
            if self._store.durable and keyed.operations - keyed.saved >= self._snapshot_every:
                self._residents.save(keyed)

    @contextmanager
    def _stored(self, asked: set[str]) -> Iterator[None]:
        """One commit for what is done to some keys; none of it has happened if anything fails."""
        try:
            yield
            self._store.commit()
        except BaseException as error:
            self._undo(asked, error)
            raise

    def _undo(self, asked: set[str], error: BaseException) -> None:
        """The keys come back from the store, as they were, when they are asked again."""
        if not self._store.durable:
            self._closed = f"it broke: {error!r}"
            return
        try:
            self._store.rollback()
            for name in asked:
                self._residents.drop(name)
            self._residents.reread()
        except StoreError as another:
            self._closed = f"its store broke: {another}"

    def _check_open(self) -> None:
        if self._closed is not None:
            raise StoreError(f"this fleet takes no more: {self._closed}")


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float | None)
