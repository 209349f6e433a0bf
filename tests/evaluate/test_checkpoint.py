"""Resuming: whatever stops a run, gone on with it gives the predictions of an uninterrupted one."""

from __future__ import annotations

import errno
import json
import math
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backbones_made import Cached, Forgetful, Voting
from millpond import Result, Stream, StreamClassifier, load_stream, prequential
from millpond.errors import CheckpointError, MillpondError
from millpond.evaluate.checkpoint import NAMES, Checkpoints
from millpond.evaluate.prequential import Interrupted, Progress
from millpond.state import pack, unpack, write_atomically
from oracle import POLICIES
from slow_loop import made_stream

OPTIONS: dict[str, Any] = {
    "backbone": "knn",
    "budget": 12,
    "short_ratio": 0.5,
    "tau": 0.4,
    "warmup": 10,
    "window": 40,
}
STREAM = made_stream(1, 90, classes=3, late=True, missing=0.05)


SECONDS = "millpond.evaluate.prequential.CHECKPOINT_SECONDS"
ALWAYS = -1.0  # a checkpoint before every chunk; else these runs make one only when they stop


def stop_after(chunks: int) -> Callable[[], bool]:
    answers = iter([False] * chunks)
    return lambda: next(answers, True)


def interrupted(folder: Path, chunks: int, stream: Any = STREAM, **options: Any) -> int:
    """Run until it is asked to stop; the row it stopped at."""
    with pytest.raises(Interrupted) as stop:
        prequential(stream, **(OPTIONS | options), out=folder, stop=stop_after(chunks))
    return stop.value.row


def resumed(folder: Path, stream: Any = STREAM, **options: Any) -> tuple[Any, list[str]]:
    """Go on to the end: the result, and what was said."""
    told: list[Progress] = []
    result = prequential(
        stream, **(OPTIONS | options), out=folder, resume=True, progress=told.append
    )
    return result, [now.note for now in told if now.note]


def same(result: Result, expected: Result) -> None:
    """Equal in all but times."""
    times = ("seconds", "resumed_from")
    facts, wanted = (
        {k: v for k, v in r.facts.items() if k not in times} for r in (result, expected)
    )
    assert facts == wanted
    assert result.predictions.tobytes() == expected.predictions.tobytes()


def columns(folder: Path) -> dict[str, bytes]:
    with np.load(folder / "steps.npz") as log:
        return {name: column.tobytes() for name, column in log.items()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """The uninterrupted run and its folder."""
    folder = tmp_path_factory.mktemp("whole")
    return prequential(STREAM, **OPTIONS, out=folder), folder


# ---- The two files -------------------------------------------------------------------------------


def test_two_files_in_turn_and_the_newest_is_loaded(tmp_path: Path) -> None:
    store = Checkpoints(tmp_path)
    assert store.load() is None
    for row in range(5):
        store.save({"row": row}, {"a": np.full(3, row)})
        found = Checkpoints(tmp_path).load()
        assert found is not None
        meta, arrays, warnings = found
        assert (meta, arrays["a"].tolist(), warnings) == ({"row": row}, [row] * 3, [])
    assert sorted(file.name for file in tmp_path.iterdir()) == list(NAMES)
    store.clear()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("saved", [1, 2, 3])
def test_a_loaded_store_writes_over_the_older_file(tmp_path: Path, saved: int) -> None:
    store = Checkpoints(tmp_path)
    for row in range(saved):
        store.save({"row": row}, {})
    again = Checkpoints(tmp_path)
    again.load()
    again.save({"row": saved}, {})
    rows = set()
    for name in NAMES:
        other = tmp_path / "other"
        other.mkdir(exist_ok=True)
        shutil.copy(tmp_path / name, other / name)
        found = Checkpoints(other).load()
        assert found is not None
        rows.add(found[0]["row"])
        (other / name).unlink()
    assert rows == {saved - 1, saved}


def test_a_failed_save_keeps_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Checkpoints(tmp_path)
    store.save({"row": 1}, {})
    store.save({"row": 2}, {})
    for _ in range(2):  # also when it is tried again
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", _disk_full)
            with pytest.raises(CheckpointError, match="No space left"):
                store.save({"row": 3}, {})
    (tmp_path / NAMES[1]).write_bytes(b"damaged")
    found = Checkpoints(tmp_path).load()
    assert found is not None
    assert found[0] == {"row": 1}


def test_a_checkpoint_that_cannot_be_opened_is_damaged(tmp_path: Path) -> None:
    Checkpoints(tmp_path).save({"row": 1}, {})
    (tmp_path / NAMES[1]).mkdir()
    found = Checkpoints(tmp_path).load()
    assert found is not None
    assert found[0] == {"row": 1}
    assert NAMES[1] in found[2][0]


# ---- Interrupted and resumed ---------------------------------------------------------------------

learners = st.one_of(
    st.fixed_dictionaries(
        {
            "backbone": st.sampled_from(["knn", Cached()]),
            "policy": st.sampled_from(POLICIES),
            "entropy_over": st.sampled_from(["context", "seen"]),
            "budget": st.integers(2, 14),
            "tau": st.sampled_from([0.0, 0.5]),
        }
    ),
    st.fixed_dictionaries(
        {"learner": st.sampled_from(["nochange", "majority", "successor", "period"])}
    ),
)
protocols = st.fixed_dictionaries(
    {
        "warmup": st.integers(0, 20),
        "chunk": st.integers(1, 6),
        "delay": st.sampled_from([0, 1, 9]),
        "missing": st.sampled_from([0.0, 0.4]),
        "window": st.sampled_from([7, 1000]),
    }
)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    lengths=st.lists(st.integers(1, 70), min_size=1, max_size=3),
    learner=learners,
    protocol=protocols,
    cuts=st.lists(st.integers(0, 30), min_size=1, max_size=3),
)
def test_resumed_at_any_chunks_a_run_is_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    lengths: list[int],
    learner: dict[str, Any],
    protocol: dict[str, Any],
    cuts: list[int],
) -> None:
    """With one lane or many, whatever the learner and the protocol."""
    folder = tmp_path_factory.mktemp("run")
    streams = [
        made_stream(seed + k, rows, features=1 + k, classes=2 + k, late=True)
        for k, rows in enumerate(lengths)
    ]
    stream: Any = streams if len(streams) > 1 else streams[0]
    options = learner | protocol
    uninterrupted = prequential(stream, **options, out=folder / "whole")
    row = 0
    for cut in cuts:
        try:
            prequential(stream, **options, out=folder / "parts", resume=True, stop=stop_after(cut))
        except Interrupted as stop:
            row = stop.row
    results = prequential(stream, **options, out=folder / "parts", resume=True)
    for result, expected in zip(
        results if len(streams) > 1 else [results],
        uninterrupted if len(streams) > 1 else [uninterrupted],
        strict=True,
    ):
        same(result, expected)
        assert result.resumed_from in (row, None)
    for path in (folder / "whole").rglob("steps.npz"):
        part = folder / "parts" / path.relative_to(folder / "whole")
        assert columns(part.parent) == columns(path.parent)


def test_a_stateful_backbone_is_restored(tmp_path: Path) -> None:
    expected = prequential(STREAM, **(OPTIONS | {"backbone": Cached()}))
    interrupted(tmp_path, 50, backbone=Cached())
    result, _ = resumed(tmp_path, backbone=Cached())
    same(result, expected)


def test_a_backbone_that_forgets_its_caches_is_noticed(tmp_path: Path) -> None:
    """The tests above can fail."""
    expected = prequential(STREAM, **(OPTIONS | {"backbone": Forgetful()}))
    interrupted(tmp_path, 50, backbone=Forgetful())
    result, _ = resumed(tmp_path, backbone=Forgetful())
    with pytest.raises(AssertionError):
        same(result, expected)


def test_a_resumed_run_says_where_it_goes_on(tmp_path: Path, whole: tuple[Result, Path]) -> None:
    assert interrupted(tmp_path, 31) == 31
    assert interrupted(tmp_path, 7, resume=True) == 38
    result, said = resumed(tmp_path)
    assert said == ["resuming at row 38"]
    assert result.resumed_from == json.loads((tmp_path / "result.json").read_text())["resumed_from"]
    assert result.resumed_from == 38
    same(result, whole[0])
    assert columns(tmp_path) == columns(whole[1])
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "identity.json",
        "result.json",
        "steps.npz",
    ]


def test_the_wall_clock_goes_on(tmp_path: Path) -> None:
    interrupted(tmp_path, 60)
    result, _ = resumed(tmp_path)
    seconds = result.seconds
    assert seconds["wall"] >= seconds["total"] > 0


def test_nothing_to_resume_starts_at_row_0_and_says_so(
    tmp_path: Path, whole: tuple[Result, Path]
) -> None:
    result, said = resumed(tmp_path / "new" / "folder")
    assert said == ["nothing to resume: starting at row 0"]
    assert result.resumed_from is None
    same(result, whole[0])


def test_a_finished_run_is_returned_as_it_is(tmp_path: Path) -> None:
    first = prequential(STREAM, **OPTIONS, out=tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    stream, asked = STREAM, Voting()
    again, said = resumed(tmp_path, stream)
    assert said == []
    assert again.facts == first.facts
    assert again.predictions.tobytes() == first.predictions.tobytes()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    with pytest.raises(CheckpointError, match="holds another run"):
        resumed(tmp_path, backbone=asked)


def test_a_new_run_does_not_look_at_what_was_there(
    tmp_path: Path, whole: tuple[Result, Path]
) -> None:
    interrupted(tmp_path, 50, tau=0.9)
    same(prequential(STREAM, **OPTIONS, out=tmp_path), whole[0])
    prequential(STREAM, **(OPTIONS | {"tau": 0.9}), out=tmp_path)
    interrupted(tmp_path, 50)  # the finished run's result is gone from here on
    result, said = resumed(tmp_path)
    assert said == ["resuming at row 50"]
    same(result, whole[0])
    assert columns(tmp_path) == columns(whole[1])


def test_a_new_run_that_dies_early_leaves_nothing_of_the_old_one(tmp_path: Path) -> None:
    interrupted(tmp_path, 50)

    def die() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prequential(STREAM, **(OPTIONS | {"tau": 0.9}), out=tmp_path, stop=die)
    result, said = resumed(tmp_path, tau=0.9)
    assert said == ["nothing to resume: starting at row 0"]
    same(result, prequential(STREAM, **(OPTIONS | {"tau": 0.9})))


def test_nothing_of_a_checkpoint_grows_with_the_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But the points of the trajectory, of which there are 401 at the most."""
    sizes: dict[int, dict[str, tuple[int, ...]]] = {}

    def spy(store: Checkpoints, meta: dict[str, Any], arrays: dict[str, Any]) -> None:
        sizes[meta["row"]] = {name: array.shape for name, array in arrays.items()}
        for lane in meta["lanes"]:
            assert all(len(values) <= 401 for values in lane["trajectory"].values())

    monkeypatch.setattr(Checkpoints, "save", spy)
    monkeypatch.setattr(SECONDS, ALWAYS)
    prequential(made_stream(3, 700, classes=3), **OPTIONS, delay=5, out=tmp_path)
    assert sizes[699] == sizes[200]
    assert sum(map(math.prod, sizes[200].values())) < 3000


# ---- Other settings ------------------------------------------------------------------------------

OTHER: dict[str, tuple[dict[str, Any], str]] = {
    "tau": ({"tau": 0.41}, "tau was 0.4, is now 0.41"),
    "budget": ({"budget": 13}, "budget was 12, is now 13"),
    "short_ratio": ({"short_ratio": 0.6}, "short_ratio was 0.5, is now 0.6"),
    "policy": (
        {"policy": "dual_fifo"},
        "learner was knn + cure, is now knn + dual_fifo; policy was cure, is now dual_fifo",
    ),
    "k": ({"k": 3}, "k was not set, is now 3"),
    "ties": ({"ties": "newer"}, "ties was not set, is now newer"),
    "warmup": ({"warmup": 11}, "warmup was 10, is now 11"),
    "chunk": ({"chunk": 2}, "chunk was 1, is now 2"),
    "delay": ({"delay": 1}, "delay was 0, is now 1"),
    "missing": ({"missing": 0.1}, "missing was 0.0, is now 0.1"),
    "window": ({"window": 41}, "window was 40, is now 41"),
    "seed": ({"seed": 1}, "seed was 0, is now 1"),
    "limit": ({"limit": 80}, "limit was not set, is now 80"),
    "shuffle": ({"shuffle_within": 5}, "shuffle_within was not set, is now 5"),
    "many": (
        {"budget": 13, "tau": 0.41, "seed": 1, "delay": 1, "chunk": 2},
        "budget was 12, is now 13; tau was 0.4, is now 0.41; chunk was 1, is now 2; and 2 more",
    ),
    "lanes": ({"tau": [0.4, 0.5]}, "its number of lanes was 1, is now 2"),
}


@pytest.mark.parametrize("case", OTHER)
def test_other_settings_are_refused_and_named(tmp_path: Path, case: str) -> None:
    interrupted(tmp_path, 30)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    options, said = OTHER[case]
    with pytest.raises(CheckpointError, match=r"holds another run: .*\. Resume with") as error:
        resumed(tmp_path, **options)
    assert said in str(error.value)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    resumed(tmp_path)


def test_another_learner_is_refused(tmp_path: Path) -> None:
    interrupted(tmp_path, 30)
    with pytest.raises(CheckpointError, match=r"learner was knn \+ cure, is now nochange; "):
        prequential(STREAM, learner="nochange", warmup=10, window=40, out=tmp_path, resume=True)


def test_another_lane_is_named(tmp_path: Path) -> None:
    interrupted(tmp_path, 30, tau=[0.2, 0.4])
    with pytest.raises(CheckpointError, match=r": lane 1: tau was 0\.4, is now 0\.5\. Resume"):
        resumed(tmp_path, tau=[0.2, 0.5])


def test_another_stream_is_refused(tmp_path: Path, whole: tuple[Result, Path]) -> None:
    X = STREAM.X.copy()
    X[80, 0] += 1
    other = Stream("made", X, STREAM.y, STREAM.feature_names, STREAM.classes)
    interrupted(tmp_path, 30)
    with pytest.raises(CheckpointError, match="rows of the stream are others"):
        resumed(tmp_path, other)
    renamed = Stream("renamed", STREAM.X, STREAM.y, STREAM.feature_names, STREAM.classes)
    result, _ = resumed(tmp_path, renamed)
    assert result.predictions.tobytes() == whole[0].predictions.tobytes()


def test_numpy_numbers_are_the_same_settings(tmp_path: Path) -> None:
    interrupted(tmp_path, 30, limit=np.int64(60), seed=np.int32(3))
    result, said = resumed(tmp_path, limit=60, seed=3)
    assert said == ["resuming at row 30"]
    assert result.rows == 60


# ---- Damage --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two checkpoints, the second at row 51."""
    folder = tmp_path_factory.mktemp("stopped")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SECONDS, ALWAYS)
        assert interrupted(folder, 51) == 51
    return folder


def newest(folder: Path) -> str:
    found = Checkpoints(folder).load()
    assert found is not None
    (folder / NAMES[0]).rename(folder / "aside")
    other = Checkpoints(folder).load()
    (folder / "aside").rename(folder / NAMES[0])
    assert other is not None
    return NAMES[1] if other[0]["row"] == found[0]["row"] else NAMES[0]


def damage(path: Path, data: st.DataObject) -> None:
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans(), label="truncate"):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)


@settings(max_examples=20)
@given(data=st.data())
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_used(
    tmp_path_factory: pytest.TempPathFactory,
    stopped: Path,
    whole: tuple[Result, Path],
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("damaged") / "run"
    shutil.copytree(stopped, folder)
    name = newest(folder)
    damage(folder / name, data)
    result, said = resumed(folder)
    assert said[1:] == ["resuming at row 50"]
    assert name in said[0]
    assert "using the one before it" in said[0]
    same(result, whole[0])
    assert result.resumed_from == 50
    assert columns(folder) == columns(whole[1])


def test_a_damaged_older_checkpoint_does_no_harm(
    tmp_path: Path, stopped: Path, whole: tuple[Result, Path]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(stopped, folder)
    (older,) = set(NAMES) - {newest(folder)}
    (folder / older).write_bytes(b"")
    result, said = resumed(folder)
    assert said[-1] == "resuming at row 51"
    assert older in said[0]
    same(result, whole[0])


@settings(max_examples=20)
@given(data=st.data())
def test_two_damaged_checkpoints_are_an_error_that_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, stopped: Path, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged") / "run"
    shutil.copytree(stopped, folder)
    for name in NAMES:
        damage(folder / name, data)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(CheckpointError, match="start again without --resume") as error:
        resumed(folder)
    assert all(name in str(error.value) for name in NAMES)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_state_that_is_no_runs_is_named(tmp_path: Path, stopped: Path) -> None:
    """Found by fuzzing: a whole file of another kind, such as a saved classifier."""
    folder = tmp_path / "run"
    shutil.copytree(stopped, folder)
    StreamClassifier().save(folder / NAMES[0])
    write_atomically(folder / NAMES[1], pack({"row": "5"}, {}))
    with pytest.raises(CheckpointError, match="checkpoint-b is not a run's checkpoint") as error:
        resumed(folder)
    assert "checkpoint-a is not a run's checkpoint" in str(error.value)


@pytest.mark.parametrize(
    "gone", ["meta.elapsed", "meta.lanes", "learner.contexts.y", "pending.rows"]
)
def test_a_checkpoint_whose_parts_do_not_fit(gone: str, tmp_path: Path, stopped: Path) -> None:
    """Found by fuzzing; what an earlier version wrote may look like that."""
    folder = tmp_path / "run"
    shutil.copytree(stopped, folder)
    for name in NAMES:
        meta, arrays = unpack((folder / name).read_bytes(), folder / name)
        meta.pop(gone.removeprefix("meta."), None)
        assert gone in arrays or gone.startswith("meta.")
        arrays.pop(gone, None)
        write_atomically(folder / name, pack(meta, arrays))
    with pytest.raises(CheckpointError, match=r"cannot be taken up: .*start again without"):
        resumed(folder)


@settings(max_examples=20)
@given(data=st.data())
def test_a_damaged_log_is_an_error(
    tmp_path_factory: pytest.TempPathFactory, stopped: Path, data: st.DataObject
) -> None:
    """Predictions are read from it: none may come back changed."""
    folder = tmp_path_factory.mktemp("damaged") / "run"
    shutil.copytree(stopped, folder)
    damage(folder / "steps.log", data)
    with pytest.raises(CheckpointError, match=r"steps\.log is damaged.*without --resume"):
        resumed(folder)


def test_rows_behind_the_checkpoint_are_made_anew(
    tmp_path: Path, stopped: Path, whole: tuple[Result, Path]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(stopped, folder)
    with open(folder / "steps.log", "ab") as log:
        log.write(b"\x07" * 100)  # not even whole rows
    result, _ = resumed(folder)
    same(result, whole[0])
    assert columns(folder) == columns(whole[1])


@pytest.mark.parametrize("name", ["result.json", "steps.npz", "identity.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"PK\x03\x04nonsense"])
def test_a_damaged_finished_run_is_named(
    tmp_path: Path, whole: tuple[Result, Path], name: str, content: bytes
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole[1], folder)
    (folder / name).write_bytes(content)
    with pytest.raises(MillpondError, match=re.escape(name)):
        resumed(folder)


# ---- A full disk ---------------------------------------------------------------------------------


def _disk_full(*arguments: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class FullFrom:
    """An `os.fsync` that finds the disk full from one call on."""

    def __init__(self, call: int) -> None:
        self.calls, self.call = 0, call

    def __call__(self, file: int) -> None:
        self.calls += 1
        if self.calls > self.call:
            _disk_full()


def test_a_disk_full_at_any_write_loses_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = STREAM.head(40)
    monkeypatch.setattr(SECONDS, ALWAYS)
    counted = FullFrom(10**9)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", counted)
        whole = prequential(short, **OPTIONS, out=tmp_path / "whole")
    last = counted.calls
    rng = random.Random(0)
    for call in [0, 1, 2, *rng.sample(range(3, last - 4), 3), *range(last - 4, last)]:
        folder = tmp_path / str(call)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", FullFrom(call))
            with pytest.raises(CheckpointError, match=r"No space left on device.*--resume"):
                prequential(short, **OPTIONS, out=folder)
        assert not (folder / "result.json").exists()
        result, _ = resumed(folder, short)
        same(result, whole)
        assert columns(folder) == columns(tmp_path / "whole")
        # Every second call completes a checkpoint, the first of them at row 0.
        assert (result.resumed_from or 0) == min(max(0, call // 2 - 1), 39)


# ---- From outside: kill -9, Ctrl-C, a limit on file sizes ----------------------------------------

HERE = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stream as a file: 1,500 rows, three classes, missing values."""
    path = tmp_path_factory.mktemp("data") / "made.csv"
    stream = made_stream(5, 1500, features=4, classes=3, missing=0.02)
    with open(path, "w") as file:
        file.write(",".join((*stream.feature_names, "label")) + "\n")
        for x, y in stream:
            cells = ["" if np.isnan(v) else repr(float(v)) for v in x]
            file.write(",".join((*cells, stream.classes[y])) + "\n")
    return path


def start(words: list[str], seconds: float = 0.01, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HERE / "drive_cli.py"), *words],
        env={**os.environ, "CHECKPOINT_SECONDS": str(seconds), "COLUMNS": "80", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(words: list[str], code: int = 0, **environment: str) -> tuple[str, str]:
    process = start(words, **environment)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err
    assert process.returncode == code, err
    return out, err


def wait_for_rows(process: subprocess.Popen[str], folder: Path, rows: int) -> None:
    """Until the log has so many rows, which a checkpoint will know of in a moment."""
    for _ in range(60_000):
        log = folder / "steps.log"
        if process.poll() is not None or (log.exists() and log.stat().st_size >= 28 * rows):
            return
        time.sleep(0.001)
    raise AssertionError("the run does not get on")


def equal_folders(folder: Path, expected: Path) -> None:
    facts, wanted = (json.loads((each / "result.json").read_text()) for each in (folder, expected))
    for each in (facts, wanted):
        del each["seconds"], each["resumed_from"]
    assert facts == wanted
    assert columns(folder) == columns(expected)


@pytest.mark.parametrize(
    "options",
    [
        {"backbone": "knn", "budget": 100, "tau": 0.4, "limit": 1200},
        pytest.param(
            {"backbone": "rill", "budget": 60, "tau": 0.2, "limit": 1200}, marks=pytest.mark.long
        ),
        {"backbone": "cached", "policy": "dual_fifo", "delay": 4, "chunk": 3},
    ],
    ids=str,
)
def test_kill_9_at_any_moment(tmp_path: Path, csv: Path, options: dict[str, Any]) -> None:
    flags = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    run = ["run", str(csv), *flags, "--out"]
    backbone = Cached() if options["backbone"] == "cached" else options["backbone"]
    whole = options | {"backbone": backbone, "out": tmp_path / "whole"}
    prequential(load_stream(csv), **whole)
    rng, killed = random.Random(str(options)), 0
    folder = tmp_path / "killed"
    for rows in sorted(rng.sample(range(50, 1100), 3)):
        process = start([*run, str(folder), *(["--resume"] if killed else [])])
        wait_for_rows(process, folder, rows)
        time.sleep(rng.random() * 0.02)
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        for part in tmp_path.glob("killed/*.json"):
            json.loads(part.read_text())  # what is there is whole
    assert killed >= 2
    out, err = finish([*run, str(folder), "--resume", "--json"])
    facts = json.loads(out)
    assert facts["resumed_from"] > 50
    assert f"resuming at row {facts['resumed_from']:,}" in err
    equal_folders(folder, tmp_path / "whole")
    assert (folder / "report.html").exists()


def test_ctrl_c_says_how_to_resume(tmp_path: Path, csv: Path) -> None:
    folder = tmp_path / "a [red]run[/]"
    run = ["run", str(csv), "--backbone", "knn", "--budget", "60", "--json", "--out"]
    process = start([*run, str(folder)])
    wait_for_rows(process, folder, 200)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert "Traceback" not in err
    row = int(re.findall(r"stopped at row ([\d,]+) of 1,500", err)[0].replace(",", ""))
    assert 200 <= row < 1500
    (again,) = re.findall(r"go on with: millpond (.*)", err)
    assert shlex.split(again) == [*run, str(folder), "--resume"]
    out, _ = finish(shlex.split(again))
    assert json.loads(out)["resumed_from"] == row
    prequential(load_stream(csv), backbone="knn", budget=60, out=tmp_path / "whole")
    equal_folders(folder, tmp_path / "whole")


def test_a_disk_that_takes_no_more(tmp_path: Path, csv: Path) -> None:
    """A limit on file sizes fails the writes as a full disk does."""
    run = ["run", str(csv), "--backbone", "knn", "--budget", "20", "--window", "50", "--out"]
    prequential(load_stream(csv), backbone="knn", budget=20, window=50, out=tmp_path / "whole")
    folder = tmp_path / "full"
    out, err = finish([*run, str(folder)], 1, LARGEST_FILE=str(28 * 1000))
    assert out == ""
    assert re.search(r"millpond: cannot write .*File too large.*go on with --resume", err)
    out, _ = finish([*run, str(folder), "--resume", "--json"])
    assert 100 < json.loads(out)["resumed_from"] < 1500
    equal_folders(folder, tmp_path / "whole")
