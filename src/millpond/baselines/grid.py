"""The paper's hyperparameter grid of a classical baseline on one stream: nine configurations x seeds.

Every configuration runs in a process of its own and keeps its own folder, so that a Java machine that
dies takes nothing with it, and a grid that was stopped goes on where it was.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from millpond.baselines.options import ENSEMBLES, TREES
from millpond.errors import BadOption, CheckpointError

GRACE_PERIODS = (100, 400, 1000)
TIE_THRESHOLDS = (0.01, 0.05, 0.1)
SEEDS = 5  # of the ensembles; a tree draws nothing


@dataclass(frozen=True)
class Configuration:
    """One cell of the grid with one seed."""

    grace_period: int
    tie_threshold: float
    seed: int

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"g{self.grace_period}-t{self.tie_threshold}-seed{self.seed}"

    def words(self) -> list[str]:
        """What it adds to `millpond run`."""
        settings = [f"grace_period={self.grace_period}", f"tie_threshold={self.tie_threshold}"]
        return [*(f"--set={setting}" for setting in settings), "--seed", str(self.seed)]


@dataclass
class Done:
    """A configuration that ran: where its result is, or why there is none."""

    configuration: Configuration
    folder: Path
    failure: str | None = None


@dataclass
class Grid:
    """The runs of one learner on one stream."""

    learner: str
    stream_words: Sequence[str]
    """The stream and what else `millpond run` needs for it"""
    out: Path
    seeds: int | None = None
    resume: bool = False
    workers: int = 1
    _stopping: Event = field(default_factory=Event)

    def configurations(self) -> list[Configuration]:
        library, _, method = self.learner.partition(":")
        if library not in ("moa", "river") or method not in (*TREES, *ENSEMBLES):
            raise BadOption(
                f"the grid is for moa: and river: {', '.join((*TREES, *ENSEMBLES))}, "
                f"not for {self.learner!r}"
            )
        if self.workers < 1 or (self.seeds is not None and self.seeds < 1):
            raise BadOption("a grid needs at least one worker and one seed")
        seeds = 1 if method in TREES else SEEDS if self.seeds is None else self.seeds
        return [
            Configuration(g, t, seed)
            for seed in range(1, seeds + 1)  # a whole grid with the first seed comes first
            for g in GRACE_PERIODS
            for t in TIE_THRESHOLDS
        ]

    def run(self, tell: Callable[[Done], None]) -> list[Done]:
        """Run all that is not there yet; ``tell`` hears of each as it ends. Order as configured."""
        configurations = self.configurations()
        with ThreadPoolExecutor(self.workers) as pool:
            futures = {pool.submit(self._run_one, each): each for each in configurations}
            done = {}
            try:
                for future in as_completed(futures):
                    done[futures[future]] = ended = future.result()
                    tell(ended)
            except BaseException:
                self._stopping.set()  # the running ones save themselves; the waiting ones never start
                pool.shutdown(cancel_futures=True)
                raise
        return [done[each] for each in configurations]

    def _run_one(self, configuration: Configuration) -> Done:
        folder = self.out / configuration.name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(f"cannot write to {folder}: {error.strerror}") from error
        command = [sys.executable, "-m", "millpond", "run", *self.stream_words]
        command += ["--learner", self.learner, *configuration.words(), "--out", str(folder)]
        command += ["--json", *(["--resume"] if self.resume else [])]
        with subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=_environment(),
            start_new_session=True,  # a Ctrl-C reaches it through us, once
        ) as process:
            errors = self._wait(process)
        return Done(configuration, folder, _failure(process.returncode, errors))

    def _wait(self, process: subprocess.Popen[str]) -> str:
        """What the process said on stderr; it is asked to stop when the grid is."""
        asked = False
        while True:
            try:
                return process.communicate(timeout=0.2)[1]
            except subprocess.TimeoutExpired:
                if self._stopping.is_set() and not asked:
                    process.terminate()
                    asked = True


def _environment() -> dict[str, str]:
    """One BLAS thread each: the workers already fill the cores."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _failure(code: int, errors: str) -> str | None:
    """Why a process gave no result, in a sentence."""
    if code == 0:
        return None
    said = [line.strip() for line in errors.splitlines() if line.strip()]
    if code > 0:
        return said[-1].removeprefix("millpond: ") if said else f"ended with exit code {code}"
    name = signal.Signals(-code).name
    memory = ": the machine may have run out of memory" if name == "SIGKILL" else ""
    java = next((line for line in said if "fatal error" in line or "Out of Memory" in line), "")
    return f"killed by {name}{memory}" + (f" ({java.lstrip('# ')})" if java else "")
