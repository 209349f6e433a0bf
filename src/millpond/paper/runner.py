"""Running units: groups of lanes, in this process or in several, each resumable, each kept when done."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from millpond.backbones import BACKBONES, get_backbone
from millpond.errors import DataMissing, MillpondError
from millpond.evaluate.prequential import Interrupted, Progress, prequential
from millpond.paper.datasets import not_here
from millpond.paper.record import Record, record
from millpond.paper.store import Store
from millpond.paper.units import CONTEXT, Group, Unit
from millpond.streams import Stream, load_stream

TRIES = 2  # of a group whose worker died


@dataclass(frozen=True)
class Place:
    """Where units are run."""

    folder: Path
    data_dir: str | None = None
    device: str | None = None
    """for backbones that take one; None is the CPU, in NumPy where a backbone can"""


@dataclass
class Outcome:
    """A group that ended: its records, or why there are none."""

    group: Group
    records: list[Record]
    failure: str = ""


def device_options(backbone: str, device: str | None) -> dict[str, str]:
    """What puts a backbone on a device; nothing for one that computes where NumPy does."""
    if device is None:
        return {}
    module, _, name = BACKBONES[backbone].partition(":")
    known = inspect.signature(getattr(importlib.import_module(module), name)).parameters
    if "device" not in known:
        return {}
    return {"device": device, **({"engine": "torch"} if "engine" in known else {})}


def lacking(backbone: str, device: str | None) -> str:
    """Why a backbone cannot be used here; empty where it can."""
    try:
        get_backbone(backbone, **device_options(backbone, device))
    except (DataMissing, ImportError) as error:
        return str(error)
    return ""


def weights_of(backbone: str) -> str:
    """The SHA-256 of a backbone's weights file; empty for one that has none here."""
    try:
        path = getattr(get_backbone(backbone), "weights", None)
    except MillpondError:
        return ""
    return _file_sha256(path) if isinstance(path, Path) and path.is_file() else ""


@lru_cache
def _file_sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run_group(
    group: Group,
    place: Place,
    progress: Callable[[Progress], None],
    stop: Callable[[], bool],
) -> Outcome:
    """One run of all lanes; it goes on where it was stopped, and its folder goes when it is done."""
    run = group.run
    try:
        stream = load_stream(run.stream, data_dir=place.data_dir)
    except DataMissing:
        return Outcome(group, [], not_here(run.stream))
    work = _work(Store(place.folder), group)
    begin = time.process_time()
    try:
        results = prequential(
            stream if run.learner == CONTEXT else [stream],  # one lane an entry
            **_learner(group, place),
            chunk=run.chunk,
            delay=run.delay,
            shuffle_within=run.shuffle,
            limit=run.limit,
            seed=run.seed,
            out=work,
            resume=True,
            progress=progress,
            stop=stop,
        )
    except MillpondError as error:
        return Outcome(group, [], str(error))
    where = {
        "device": place.device or "cpu",
        "cpu_seconds": round(time.process_time() - begin, 2),  # since it was resumed
        "cores": os.cpu_count(),
        "weights_sha256": "" if run.backbone is None else weights_of(run.backbone),
    }
    labels = _seen(stream, run).y
    records = [
        record(unit, result, labels, len(stream), where)
        for unit, result in zip(group.units, results, strict=True)
    ]
    return Outcome(group, records)


def _work(store: Store, group: Group) -> Path:
    """The folder of the unfinished run; other weights could not go on with it."""
    weights = "" if group.run.backbone is None else weights_of(group.run.backbone)
    return store.work("-".join(filter(None, (group.key, weights[:8]))))


def _learner(group: Group, place: Place) -> dict[str, Any]:
    run = group.run
    if run.learner != CONTEXT:
        whole = {"grace_period", "ensemble_size"}
        options = {k: int(v) if k in whole else v for k, v in run.options}
        return {"learner": run.learner, **options}
    return {
        "backbone": run.backbone,
        **device_options(str(run.backbone), place.device),
        "policy": [unit.policy for unit in group.units],
        "tau": [0.0 if unit.tau is None else unit.tau for unit in group.units],
        "budget": [unit.budget for unit in group.units],
        "short_ratio": [unit.short_ratio or 0.75 for unit in group.units],
    }


def _seen(stream: Stream, run: Unit) -> Stream:
    """The rows as the run had them."""
    if run.shuffle is not None:
        stream = stream.shuffled_within(run.shuffle, run.seed)
    return stream if run.limit is None else stream.head(run.limit)


# -- many groups ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """How far all of it is: rows of all lanes, done and in all."""

    done: int
    total: int
    ended: Outcome | None = None


def run_all(
    groups: Sequence[Group],
    rows: Callable[[Unit], int],
    place: Place,
    workers: int,
    tell: Callable[[Step], None],
    stop: Callable[[], bool],
) -> list[Outcome]:
    """Run every group and keep what it finds at once; those that take longest begin first.

    Raises `Interrupted` once `stop` says so and all that runs has saved itself.
    """
    store = Store(place.folder)
    costs = {group: len(group.units) * rows(group.run) for group in groups}
    ordered = sorted(groups, key=lambda group: -costs[group])
    counter = _Counter(costs, tell)
    run = _in_processes if workers > 1 else _in_turn
    outcomes = []
    for outcome in run(ordered, place, workers, counter, stop):
        if outcome.records:
            store.add(outcome.records)
            shutil.rmtree(_work(store, outcome.group), ignore_errors=True)
        counter.ended(outcome)
        outcomes.append(outcome)
    if stop():
        raise Interrupted(counter.done(), counter.total)
    return outcomes


class _Counter:
    """Rows done of each group, times its lanes."""

    def __init__(self, costs: dict[Group, int], tell: Callable[[Step], None]) -> None:
        self._costs, self._tell = costs, tell
        self._rows = dict.fromkeys(costs, 0)
        self.total = sum(costs.values())

    def done(self) -> int:
        return sum(self._rows.values())

    def at(self, group: Group, row: int) -> None:
        self._rows[group] = min(len(group.units) * row, self._costs[group])
        self._tell(Step(self.done(), self.total))

    def ended(self, outcome: Outcome) -> None:
        self._rows[outcome.group] = self._costs[outcome.group]
        self._tell(Step(self.done(), self.total, outcome))


def _in_turn(
    groups: Sequence[Group],
    place: Place,
    workers: int,
    counter: _Counter,
    stop: Callable[[], bool],
) -> Iterator[Outcome]:
    for group in groups:
        if stop():
            return
        try:
            yield run_group(group, place, lambda now, g=group: counter.at(g, now.row), stop)  # type: ignore[misc]
        except Interrupted:
            return


def _in_processes(
    groups: Sequence[Group],
    place: Place,
    workers: int,
    counter: _Counter,
    stop: Callable[[], bool],
) -> Iterator[Outcome]:
    """A process that dies takes the pool with it: what it left undone runs again in a new one."""
    tried = dict.fromkeys(groups, 0)
    left = list(groups)
    while left and not stop():
        for group in left:
            tried[group] += 1
        lost = []
        for group, outcome in _pool(left, place, workers, counter, stop):
            if outcome is None:
                lost.append(group)
            else:
                yield outcome
        for group in lost:
            if tried[group] >= TRIES:
                yield Outcome(group, [], "its process died, and died again when it was run anew")
        left = [group for group in lost if tried[group] < TRIES]


def _pool(
    groups: Sequence[Group],
    place: Place,
    workers: int,
    counter: _Counter,
    stop: Callable[[], bool],
) -> Iterator[tuple[Group, Outcome | None]]:
    """Each group with what it gave, None where its process died; nothing for one that was stopped."""
    start = multiprocessing.get_context("spawn")  # a Java machine and a GPU do not survive a fork
    stopping, at = start.Event(), start.Array("q", len(groups))
    with ProcessPoolExecutor(workers, start, _initialise, (stopping, at)) as pool:
        futures: dict[Future[Outcome | None], int] = {
            pool.submit(_in_worker, i, group, place): i for i, group in enumerate(groups)
        }
        waiting = set(futures)
        while waiting:
            ended, waiting = wait(waiting, 0.2, FIRST_COMPLETED)
            if stop() and not stopping.is_set():
                stopping.set()
                for future in waiting:
                    future.cancel()
            for i, group in enumerate(groups):
                if at[i]:
                    counter.at(group, at[i])
            for future in ended:
                if future.cancelled():
                    continue
                group = groups[futures[future]]
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    yield group, None
                    continue
                if outcome is not None:
                    yield group, outcome


_STOPPING: Any = None
_AT: Any = None


def _begin(stopping: Any, at: Any) -> None:
    """In a new worker: Ctrl-C is the parent's to answer, and products of matrices take one thread."""
    global _STOPPING, _AT
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _STOPPING, _AT = stopping, at


_initialise = _begin


def _in_worker(index: int, group: Group, place: Place) -> Outcome | None:
    """None where it was stopped, and saved itself."""

    def progress(now: Progress) -> None:
        _AT[index] = now.row

    try:
        return run_group(group, place, progress, _STOPPING.is_set)
    except Interrupted:
        return None
