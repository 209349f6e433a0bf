"""The prequential loop: test, then train, over one or many lanes that step together.

The one evaluation loop of the library; every learner, table and figure goes through it.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from millpond._version import __version__
from millpond.baselines import BlockLearner, Learner, get_learner
from millpond.errors import BadInput, BadOption, CheckpointError, MillpondError
from millpond.evaluate.blocks import follow, refuse_late_labels
from millpond.evaluate.checkpoint import Checkpoints
from millpond.evaluate.identity import check_identity
from millpond.evaluate.lane import Lane
from millpond.evaluate.result import Result, finite, predictions_digest, read_facts
from millpond.evaluate.schedule import Pending, Protocol
from millpond.evaluate.steps import read_predictions, write_columns
from millpond.learner import ContextLearner
from millpond.state import State, named, under, write_atomically
from millpond.streams import Stream
from millpond.streams.registry import entries

CHECKPOINT_SECONDS = 5.0
LONG_SAVE = 0.25  # seconds; where saving takes longer, it is done that much less often
PROGRESS_SECONDS = 0.1


@dataclass(frozen=True)
class Progress:
    """How far a run is: rows done of all rows (of the longest lane), and the first lane's accuracy."""

    row: int
    rows: int
    accuracy: float
    note: str = ""


class Interrupted(Exception):
    """A run was asked to stop and did, at a row from which it can be resumed."""

    def __init__(self, row: int, rows: int) -> None:
        super().__init__(f"stopped at row {row:,} of {rows:,}")
        self.row, self.rows = row, rows


def prequential(
    stream: Stream | Sequence[Stream],
    *,
    learner: str | None = None,
    warmup: int = 100,
    chunk: int = 1,
    delay: int = 0,
    missing: float = 0.0,
    limit: int | None = None,
    shuffle_within: int | None = None,
    window: int = 1000,
    seed: int = 0,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] | None = None,
    **options: Any,
) -> Any:
    """Evaluate a learner on a stream: predict each row, score, then learn its label.

    Parameters
    ----------
    stream : Stream or sequence of Stream
        A sequence, or a sequence for any of ``policy``, ``budget``, ``short_ratio`` and ``tau``, makes
        one lane of each entry; lanes step together and a list of results is returned.
    learner : str, optional
        ``nochange``, ``majority``, ``successor``, ``period``, ``moa:arf``, ``river:arf`` ... (see
        `millpond.baselines.LEARNERS`); by default a context and a backbone, made from ``options``.
    warmup, chunk, delay, missing, limit, shuffle_within, window, seed
        The protocol, see `millpond.evaluate.schedule.Protocol`.
    out : path, optional
        A folder for ``result.json``, the per-step log ``steps.npz`` and checkpoints.
    resume : bool
        Go on from the newest checkpoint in ``out``: the predictions are those of an uninterrupted
        run, byte for byte. Without a checkpoint the run starts at row 0; a finished run's result is
        returned as it is.
    progress, stop
        Called with a `Progress` some ten times a second; asked before each chunk whether to stop (then
        the run is saved and `Interrupted` raised).
    **options
        Go to the learner: ``backbone``, ``policy``, ``budget``, ``short_ratio``, ``tau`` and the
        backbone's own; ``grace_period``, ``ensemble_size`` ... of a baseline.

    Returns
    -------
    Result or list of Result
    """
    protocol = Protocol(
        warmup=warmup,
        chunk=chunk,
        delay=delay,
        missing=missing,
        limit=limit,
        shuffle_within=shuffle_within,
        window=window,
        seed=seed,
    )
    streams, many = _lanes(stream, options)
    run = Run(streams, learner, protocol, options, None if out is None else Path(out))
    results = run.results(resume, progress or _silent, stop or _never)
    return results if many else results[0]


class Run:
    """One pass over the rows: lanes, learner, and what is needed to go on after an interruption."""

    def __init__(
        self,
        streams: list[Stream],
        learner: str | None,
        protocol: Protocol,
        options: dict[str, Any],
        out: Path | None,
    ) -> None:
        self.protocol = protocol
        self.lanes = [Lane(_prepared(stream, protocol), protocol) for stream in streams]
        self.rows = max(lane.rows for lane in self.lanes)
        self.learner: Learner | BlockLearner = (
            ContextLearner(len(streams), **options)
            if learner is None
            else get_learner(
                learner, [lane.stream for lane in self.lanes], protocol.seed, **options
            )
        )
        if isinstance(self.learner, BlockLearner):
            refuse_late_labels(self.learner, protocol)
        self.pending = Pending(protocol.delay)
        self.row = 0
        self.resumed_from: int | None = None
        self.elapsed = 0.0
        self.out = out
        self._width = max(lane.stream.X.shape[1] for lane in self.lanes)
        self._identity = self._make_identity()

    # -- the loop --------------------------------------------------------------------------------

    def results(
        self, resume: bool, progress: Callable[[Progress], None], stop: Callable[[], bool]
    ) -> list[Result]:
        # A step is many small products; threads that wait for each other make it slower, not faster.
        with ExitStack() as files, threadpool_limits(limits=1, user_api="blas"):
            store = self._open_folder(resume, progress, files)
            if store is None and self.out is not None:
                return self._finished()
            self._loop(store, progress, stop)
            results = [self._result(index, lane) for index, lane in enumerate(self.lanes)]
            self._write(results, store)
        return results

    def _loop(
        self,
        store: Checkpoints | None,
        progress: Callable[[Progress], None],
        stop: Callable[[], bool],
    ) -> None:
        begin = saved = time.perf_counter()
        told, before, interval = 0.0, self.elapsed, CHECKPOINT_SECONDS
        size, step = self._stepper()
        for rows in self.protocol.chunks(self.row, self.rows, size):
            now = time.perf_counter()
            self.elapsed = before + now - begin
            stopping = stop()
            if store and (stopping or now - saved > interval):
                self._checkpoint(store)
                saved = time.perf_counter()
                interval = CHECKPOINT_SECONDS * max(1.0, (saved - now) / LONG_SAVE)
            if now - told > PROGRESS_SECONDS:
                progress(Progress(self.row, self.rows, self.lanes[0].metrics.accuracy))
                told = now
            if stopping:
                raise Interrupted(self.row, self.rows)
            step(rows)
            self.row = rows.stop
        self.elapsed = before + time.perf_counter() - begin
        progress(Progress(self.row, self.rows, self.lanes[0].metrics.accuracy))

    def _stepper(self) -> tuple[int, Callable[[range], None]]:
        """How many rows a step has, and what does it."""
        if isinstance(self.learner, BlockLearner):
            return self.learner.block, partial(follow, self.learner, self.lanes)
        return self.protocol.chunk, partial(self._step, self.learner)

    def _step(self, learner: Learner, rows: range) -> None:
        """Predict a chunk against one context, score it, then learn the labels that are due."""
        waiting = np.zeros((len(rows), len(self.lanes)))
        active = [i for i, lane in enumerate(self.lanes) if rows.start < lane.rows]
        stops = {i: min(rows.stop, self.lanes[i].rows) for i in active}
        for stop in sorted(set(stops.values())):  # one, unless a lane ends within the chunk
            together = np.array([i for i in active if stops[i] == stop])
            self._predict(learner, range(rows.start, stop), together, waiting)
        for row, row_scores in zip(rows, waiting, strict=True):
            self.pending.add(row, row_scores)
        for row, row_scores in self.pending.due(rows.stop):
            self._learn(learner, row, row_scores)
        for i in active:
            self.lanes[i].note_point(stops[i], self._banks(i))

    def _predict(
        self,
        learner: Learner,
        rows: range,
        lanes: NDArray[np.int64],
        waiting: NDArray[np.float64],
    ) -> None:
        """Predict and score k rows of n lanes; ``waiting`` (>= k, all lanes) takes their scores."""
        if rows.start < self.protocol.warmup:
            for i in lanes:
                self.lanes[i].pass_over(rows, self._banks(i))
            return
        predictions = learner.predict(rows, self._features(rows, lanes), lanes)
        scores = learner.score(predictions, lanes)
        waiting[: len(rows), lanes] = scores.T
        for i, prediction, score in zip(lanes, predictions, scores, strict=True):
            self.lanes[i].score(rows, prediction, score, self._banks(i))

    def _learn(self, learner: Learner, row: int, scores: NDArray[np.float64]) -> None:
        arrival = row + self.protocol.delay  # after a lane's end nobody waits for it any more
        labelled = np.array(
            [i for i, lane in enumerate(self.lanes) if arrival < lane.rows and lane.arrives[row]],
            dtype=np.int64,
        )
        if not len(labelled):
            return
        X = self._features(range(row, row + 1), labelled)[:, 0]
        y = np.array([self.lanes[i].stream.y[row] for i in labelled])
        learner.learn(row, X, y, scores[labelled], labelled)
        for i, label in zip(labelled, y.tolist(), strict=True):
            self.lanes[i].floors.learn(row, label)

    def _features(self, rows: range, lanes: NDArray[np.int64]) -> NDArray[np.float32]:
        """(n, k, d) rows of n lanes; lanes of fewer features are padded with zeros."""
        X = np.zeros((len(lanes), len(rows), self._width), dtype=np.float32)
        for place, i in enumerate(lanes):
            own = self.lanes[i].stream.X[rows.start : rows.stop]
            X[place, :, : own.shape[1]] = own
        return X

    def _banks(self, lane: int) -> dict[str, Any]:
        return self.learner.banks(int(lane), self.lanes[lane].n_classes)

    # -- results ---------------------------------------------------------------------------------

    def _result(self, index: int, lane: Lane) -> Result:
        metrics = lane.metrics.cumulative()
        seconds = self.learner.seconds
        facts = {
            "accuracy": metrics["accuracy"],
            "scored": lane.metrics.n,
            "unscored": sum(lane.unscored.values()),
            "rows": lane.rows,
            "resumed_from": self.resumed_from,
            "predictions_sha256": predictions_digest(lane.predictions),
            "unscored_why": {why: n for why, n in lane.unscored.items() if n},
            "stream": _describe_stream(lane.stream),
            "learner": self.learner.describe(index),
            "protocol": asdict(self.protocol),
            "lanes": len(self.lanes),
            "steps": lane.rows,
            "seconds": {**seconds, "total": sum(seconds.values()), "wall": self.elapsed},
            "metrics": {"cumulative": metrics, "windowed": lane.metrics.windowed()},
            "floors": lane.floors.accuracies(),
            "trajectory": lane.trajectory,
            "confusion": lane.metrics.confusion.tolist(),
            "reliability": lane.metrics.reliability(),
            "versions": {
                "millpond": __version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
                **getattr(self.learner, "versions", dict)(),
            },
            "machine": {"system": platform.system(), "processor": platform.machine()},
        }
        return Result(finite(facts), lane.predictions)

    # -- the folder: logs, checkpoints, results --------------------------------------------------

    def _folder(self, index: int) -> Path:
        """A single lane's files lie in the run's folder, those of many in one folder each."""
        assert self.out is not None
        return self.out if len(self.lanes) == 1 else self.out / f"lane-{index:03d}"

    def _open_folder(
        self, resume: bool, progress: Callable[[Progress], None], files: ExitStack
    ) -> Checkpoints | None:
        """Make the folder ready; None where there is none, or where the run is finished already."""
        if self.out is None:
            if resume:
                raise BadOption("resume needs the folder that the run writes to: out=...")
            return None
        store = Checkpoints(self.out)
        if resume:  # before anything is made: a run that is refused changes nothing
            if all((self._folder(i) / "result.json").exists() for i in range(len(self.lanes))):
                return None
            self._resume(store, progress)
        try:
            for index in range(len(self.lanes)):
                self._folder(index).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(f"cannot write to {self.out}: {error.strerror}") from error
        if not resume:
            store.clear()
            for index in range(len(self.lanes)):
                (self._folder(index) / "result.json").unlink(missing_ok=True)
        for index, lane in enumerate(self.lanes):
            lane.open_log(self._folder(index) / "steps.log", min(self.row, lane.rows))
            assert lane.log is not None
            files.enter_context(lane.log)
        return store

    def _resume(self, store: Checkpoints, progress: Callable[[Progress], None]) -> None:
        found = store.load()
        if found is None:
            why = self._why_not_saved() or "nothing to resume"
            progress(Progress(0, self.rows, np.nan, f"{why}: starting at row 0"))
            return
        meta, arrays, warnings = found
        try:
            self._restore(meta, arrays)
        except MillpondError:
            raise
        except Exception as error:  # whole, but its parts do not fit together
            raise CheckpointError(
                f"the checkpoint in {self.out} cannot be taken up: {error!r}; start again without "
                "--resume"
            ) from error
        for warning in warnings:
            progress(Progress(self.row, self.rows, self.lanes[0].metrics.accuracy, warning))
        note = f"resuming at row {self.row:,}"
        progress(Progress(self.row, self.rows, self.lanes[0].metrics.accuracy, note))

    def _restore(self, meta: dict[str, Any], arrays: State) -> None:
        self._check_identity(meta["identity"])
        self.row = self.resumed_from = meta["row"]
        self.elapsed = meta["elapsed"]
        self.learner.seconds.update(meta["seconds"])
        self.learner.restore(under("learner.", arrays))
        self.pending.restore(under("pending.", arrays))
        for index, lane in enumerate(self.lanes):
            lane.restore(meta["lanes"][index], under(f"lane{index}.", arrays))

    def _why_not_saved(self) -> str | None:
        return self.learner.why_not_saved if isinstance(self.learner, BlockLearner) else None

    def _checkpoint(self, store: Checkpoints) -> None:
        if self._why_not_saved():
            return
        for lane in self.lanes:
            assert lane.log is not None
            lane.log.flush()  # first: a checkpoint must never know more rows than the log
        arrays = named("learner.", self.learner.state())
        arrays |= named("pending.", self.pending.state(len(self.lanes)))
        for index, lane in enumerate(self.lanes):
            arrays |= named(f"lane{index}.", lane.arrays())
        meta = {
            "row": self.row,
            "elapsed": self.elapsed,
            "seconds": self.learner.seconds,
            "identity": self._identity,
            "lanes": [finite(lane.meta()) for lane in self.lanes],
        }
        store.save(meta, arrays)

    def _write(self, results: list[Result], store: Checkpoints | None) -> None:
        if store is None:
            return
        for index, (lane, result) in enumerate(zip(self.lanes, results, strict=True)):
            assert lane.log is not None
            folder = self._folder(index)
            write_columns(folder / "steps.npz", lane.log.records())
            identity = json.dumps(self._identity, indent=1, ensure_ascii=False) + "\n"
            write_atomically(folder / "identity.json", identity.encode())
            result.to_json(folder / "result.json")
        for index in range(len(self.lanes)):
            (self._folder(index) / "steps.log").unlink(missing_ok=True)
        store.clear()

    def _finished(self) -> list[Result]:
        """The results of a run that was finished before."""
        results = []
        for index in range(len(self.lanes)):
            folder = self._folder(index)
            self._check_identity(read_facts(folder / "identity.json"))
            facts = read_facts(folder / "result.json")
            results.append(Result(facts, read_predictions(folder / "steps.npz")))
        return results

    def _make_identity(self) -> dict[str, Any]:
        """What must be the same for a run to be gone on with."""
        return {
            "streams": [lane.stream.fingerprint() for lane in self.lanes],
            "learners": [
                json.loads(json.dumps(self.learner.describe(i), default=str))
                for i in range(len(self.lanes))
            ],
            "protocol": finite(asdict(self.protocol)),
        }

    def _check_identity(self, saved: dict[str, Any]) -> None:
        assert self.out is not None
        check_identity(self.out, saved, self._identity)


def _lanes(stream: Stream | Sequence[Stream], options: dict[str, Any]) -> tuple[list[Stream], bool]:
    """The stream of each lane, and whether there is a lane axis at all."""
    lengths = {
        name: len(options[name])
        for name in ("policy", "budget", "short_ratio", "tau")
        if isinstance(options.get(name), list | tuple | np.ndarray)
    }
    if isinstance(stream, str | Path):
        raise BadInput(f"prequential takes a Stream: load_stream({str(stream)!r}) makes it")
    streams = [stream] if isinstance(stream, Stream) else list(stream)
    for each in streams:
        if not isinstance(each, Stream):
            raise BadInput(f"prequential takes a Stream for each lane, not {type(each).__name__}")
    if not isinstance(stream, Stream):
        lengths["stream"] = len(streams)
    if not lengths:
        return streams, False
    if len(set(lengths.values())) > 1 or not min(lengths.values()):
        raise BadOption(f"every sequence needs one entry a lane, and at least one: {lengths}")
    lanes = next(iter(lengths.values()))
    return streams * lanes if isinstance(stream, Stream) else streams, True


def _prepared(stream: Stream, protocol: Protocol) -> Stream:
    if protocol.shuffle_within is not None:
        stream = stream.shuffled_within(protocol.shuffle_within, protocol.seed)
    if protocol.limit is not None:
        stream = stream.head(protocol.limit)
    if not len(stream):
        raise BadOption(f"the stream {stream.name!r} has no rows")
    return stream


def _describe_stream(stream: Stream) -> dict[str, Any]:
    labels = {entry.name: entry.label for entry in entries()}
    return {
        "name": stream.name,
        "label": labels.get(stream.name, stream.name),
        "rows": len(stream),
        "features": stream.X.shape[1],
        "classes": [str(label) for label in stream.classes],
        "fingerprint": stream.fingerprint(),
        "dropped": stream.dropped,
        "notes": list(stream.notes),
        "source": stream.source,
        "target": stream.target,
    }


def _silent(progress: Progress) -> None:
    pass


def _never() -> bool:
    return False
