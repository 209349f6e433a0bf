"""The per-step log: appended, cut, checked and turned into columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from millpond.errors import CheckpointError
from millpond.evaluate.steps import STEP, StepLog, read_predictions, write_columns


def records(n: int, seed: int = 0) -> NDArray[np.void]:
    rng = np.random.default_rng(seed)
    made = np.zeros(n, dtype=STEP)
    for name in STEP.names or ():
        made[name] = rng.integers(-1, 1000, n)
    made["p_label"][::3] = np.nan
    return made


def written(path: Path, rows: NDArray[np.void]) -> str:
    """Write a log; its digest."""
    with StepLog(path) as log:
        log.append(rows)
        log.flush()
        return log.digest()


def test_records_come_back_as_they_went_in(tmp_path: Path) -> None:
    rows = records(50)
    with StepLog(tmp_path / "steps.log") as log:
        for part in np.split(rows, [1, 2, 30]):
            log.append(part)
        assert log.records().tobytes() == rows.tobytes()
        log.append(rows[:1])
        assert len(log.records()) == 51


def test_a_log_on_disk_goes_on_behind_the_rows_that_are_kept(tmp_path: Path) -> None:
    path, rows = tmp_path / "steps.log", records(50)
    written(path, rows)
    with StepLog(path, 20, written(tmp_path / "other", rows[:20])) as log:
        assert log.records().tobytes() == rows[:20].tobytes()
        log.append(rows[40:])
        assert log.records().tobytes() == rows[:20].tobytes() + rows[40:].tobytes()
        assert log.digest() == written(tmp_path / "other", log.records())
    with StepLog(path) as log:
        assert len(log.records()) == 0


def test_flushed_records_are_on_disk(tmp_path: Path) -> None:
    with StepLog(tmp_path / "steps.log") as log:
        log.append(records(3))
        log.flush()
        assert (tmp_path / "steps.log").stat().st_size == 3 * STEP.itemsize


@settings(max_examples=50)
@given(data=st.data(), rows=st.integers(1, 20))
def test_any_damage_to_the_kept_rows_is_found_and_leaves_the_file(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, rows: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "steps.log"
    digest = written(path, records(rows))
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"steps\.log is damaged"):
        StepLog(path, rows, digest)
    assert path.read_bytes() == content


def test_a_log_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is damaged"):
        StepLog(tmp_path / "steps.log", 5)


def test_a_log_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="cannot write"):
        StepLog(tmp_path / "no folder" / "steps.log")


def test_columns(tmp_path: Path) -> None:
    rows, path = records(30), tmp_path / "steps.npz"
    write_columns(path, rows)
    with np.load(path, allow_pickle=False) as columns:
        assert list(columns) == list(STEP.names or ())
        for name, column in columns.items():
            np.testing.assert_array_equal(column, rows[name], strict=True)
    np.testing.assert_array_equal(read_predictions(path), rows["prediction"], strict=True)
    before = path.read_bytes()
    write_columns(path, rows)
    assert path.read_bytes() == before  # the same rows are the same file


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"nonsense", None])
def test_columns_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "steps.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"steps\.npz cannot be read"):
        read_predictions(path)


def test_damaged_columns(tmp_path: Path) -> None:
    path = tmp_path / "steps.npz"
    write_columns(path, records(300))
    content = bytearray(path.read_bytes())
    for at in range(100, 600, 100):
        content[at] ^= 255
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="cannot be read"):
        read_predictions(path)
    np.savez(path, other=np.zeros(3))
    with pytest.raises(CheckpointError, match="cannot be read"):
        read_predictions(path)
