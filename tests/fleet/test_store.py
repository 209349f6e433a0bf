"""The store: what was acknowledged is there, what is damaged is said to be, and never taken for good."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millpond import Fleet
from millpond.errors import BadInput, BadOption, MillpondError, StoreError

DAMAGED = int(os.environ.get("DAMAGED_FILES", "60"))
"""Files damaged in a test"""
OPTIONS: dict[str, Any] = {"budget": 10, "tau": 0.3, "snapshot_every": 7}


def feed(fleet: Fleet, rows: range, keys: int = 3) -> None:
    for t in rows:
        for key in range(keys):
            rng = np.random.default_rng((t, key))
            fleet.predict_one(rng.normal(size=2).tolist(), key=f"k{key}", id=t)
            if t >= 2:
                fleet.learn_one(y=int(rng.integers(3)), key=f"k{key}", id=t - 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The data of a fleet that was closed."""
    with Fleet("knn", **OPTIONS, data=tmp_path / "data") as fleet:
        feed(fleet, range(20))
    return tmp_path / "data"


@pytest.fixture
def whole(folder: Path) -> str:
    with Fleet("knn", **OPTIONS, data=folder) as fleet:
        return fleet.fingerprint()


def test_a_fleet_is_taken_up_where_it_ended(tmp_path: Path) -> None:
    with Fleet("knn", **OPTIONS) as memory:
        feed(memory, range(20))
        for part in (range(7), range(7, 8), range(8, 20)):
            with Fleet("knn", **OPTIONS, data=tmp_path, sync=part.start > 0) as fleet:
                feed(fleet, part)
        with Fleet("knn", **OPTIONS, data=tmp_path) as fleet:
            assert fleet.fingerprint() == memory.fingerprint()
            assert fleet.keys() == ["k0", "k1", "k2"]
            feed(fleet, range(20))  # all of it once more
            assert fleet.fingerprint() == memory.fingerprint()


def test_recovery_replays_what_is_behind_the_snapshot(folder: Path, whole: str) -> None:
    """The same from the newest snapshot, from the one before, and from the beginning."""
    with Fleet("knn", **OPTIONS, data=folder) as fleet:
        (newest, _), (older, _) = fleet._store.snapshots('"k0"')
        assert newest - older == 7
        assert fleet.describe("k0")["operations"] == 38
        assert len(list(fleet._store.changes('"k0"', older))) == 38 - older
        assert fleet.fingerprint() == whole
    with Fleet("knn", **{**OPTIONS, "snapshot_every": 1000}, data=folder.parent / "other") as fleet:
        feed(fleet, range(20))
        assert not fleet._store.snapshots('"k0"')
    with Fleet("knn", **OPTIONS, data=folder.parent / "other") as fleet:
        assert fleet.fingerprint() == whole
        fleet.snapshot()
        fleet.snapshot("k1")
        assert fleet._store.snapshots('"k1"')[0][0] == 38
    with Fleet("knn", **OPTIONS, data=folder.parent / "other") as fleet:
        assert fleet.fingerprint() == whole


def change(folder: Path, statement: str, *values: Any) -> None:
    base = sqlite3.connect(folder / "fleet.sqlite")
    assert base.execute(statement, values).rowcount > 0
    base.commit()
    base.close()


def test_a_damaged_snapshot_costs_nothing(folder: Path, whole: str) -> None:
    base = sqlite3.connect(folder / "fleet.sqlite")
    newest = base.execute(
        "SELECT n, state FROM snapshots WHERE key='\"k1\"' ORDER BY n DESC"
    ).fetchone()
    base.close()
    content = bytearray(newest[1])
    content[len(content) // 2] ^= 1
    change(
        folder, "UPDATE snapshots SET state=? WHERE key='\"k1\"' AND n=?", bytes(content), newest[0]
    )
    with Fleet("knn", **OPTIONS, data=folder) as fleet:
        assert fleet.fingerprint() == whole


LOST: dict[str, tuple[str, str]] = {
    "both snapshots": ("UPDATE snapshots SET state=x'00' WHERE key='\"k1\"'", "snapshot"),
    "another key's": (
        "UPDATE snapshots SET state=(SELECT state FROM snapshots WHERE key='\"k0\"') "
        "WHERE key='\"k1\"'",
        'of "k0"',
    ),
    "a record": (
        "UPDATE log SET record=replace(record, '2', '3') WHERE key='\"k1\"' AND n=38",
        "change 38 of the key",
    ),
    "a record that is gone": (
        "DELETE FROM log WHERE key='\"k1\"' AND n=37",
        "change 37 of the key",
    ),
    "the last record": ("DELETE FROM log WHERE key='\"k1\"' AND n=38", "behind number 37 are miss"),
    "a swap": (
        "UPDATE log SET record=(SELECT record FROM log WHERE key='\"k0\"' AND n=38) "
        "WHERE key='\"k1\"' AND n=38",
        "damaged",
    ),
}


@pytest.mark.parametrize(("statement", "says"), LOST.values(), ids=LOST)
def test_a_key_that_is_lost_is_said_to_be(folder: Path, statement: str, says: str) -> None:
    """Alone: other keys go on, and it can be begun anew."""
    with Fleet("knn", **OPTIONS, data=folder) as fleet:
        others = [fleet.fingerprint(key) for key in ("k0", "k2")]
    change(folder, statement)
    with Fleet("knn", **OPTIONS, data=folder) as fleet:
        for _ in range(2):
            with pytest.raises(StoreError, match="cannot be recovered") as found:
                fleet.learn_one([1.0, 2.0], 1, key="k1")
            assert says in str(found.value)
        with pytest.raises(StoreError, match="cannot be recovered"):
            fleet.fingerprint()
        assert [fleet.fingerprint(key) for key in ("k0", "k2")] == others
        fleet.forget("k1")
        fleet.learn_one([1.0], 1, key="k1")
        assert fleet.describe("k1")["operations"] == 1


WHOLE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no database": (lambda f: f.joinpath("fleet.sqlite").unlink(), "lost its database"),
    "an empty database": (lambda f: f.joinpath("fleet.sqlite").write_bytes(b""), "lost its data"),
    "not a database": (
        lambda f: f.joinpath("fleet.sqlite").write_bytes(b"x" * 9999),
        "not a datab",
    ),
    "cut": (
        lambda f: f.joinpath("fleet.sqlite").write_bytes(
            f.joinpath("fleet.sqlite").read_bytes()[:8192]
        ),
        "malformed",
    ),
    "an older copy": (
        lambda f: change(f, "UPDATE facts SET value='3' WHERE name='commits'"),
        "acknowledged commits are missing",
    ),
    "a key that is gone": (
        lambda f: change(f, "DELETE FROM heads WHERE key='\"k1\"'"),
        "its keys have 76 changes, 114 were made",
    ),
    "a later format": (lambda f: change_pragma(f, "user_version = 9"), "is of format 9"),
    "another database": (lambda f: change_pragma(f, "application_id = 9"), "is not a fleet's"),
}


def change_pragma(folder: Path, statement: str) -> None:
    base = sqlite3.connect(folder / "fleet.sqlite")
    base.execute(f"PRAGMA {statement}")
    base.close()


@pytest.mark.parametrize(("damage", "says"), WHOLE.values(), ids=WHOLE)
def test_a_folder_that_is_damaged_as_a_whole(
    folder: Path, damage: Callable[[Path], Any], says: str
) -> None:
    damage(folder)
    with pytest.raises(StoreError) as found:
        Fleet("knn", **OPTIONS, data=folder)
    assert says in str(found.value)


def test_a_count_that_is_damaged_or_gone_is_made_anew(folder: Path, whole: str) -> None:
    for content in (b"garbage", b"%016d" % 10**9 + bytes(16), None):
        if content is None:
            (folder / "acknowledged").unlink()
        else:
            (folder / "acknowledged").write_bytes(content)
        with Fleet("knn", **OPTIONS, data=folder) as fleet:
            assert fleet.fingerprint() == whole
            fleet.predict_one([1.0, 1.0], key="k0", id="again")  # the same each time
            whole = fleet.fingerprint()


def test_a_folder_belongs_to_one_fleet_and_one_process(folder: Path, tmp_path: Path) -> None:
    with Fleet("knn", **OPTIONS, data=folder), pytest.raises(StoreError, match="another process"):
        Fleet("knn", **OPTIONS, data=folder)
    for other in ({"budget": 11}, {"tau": "auto"}, {"k": 3}, {"remember": 5}, {"policy": "fifo"}):
        with pytest.raises(BadOption, match="was made with"):
            Fleet("knn", **{**OPTIONS, **other}, data=folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot use"):
        Fleet("knn", **OPTIONS, data=tmp_path / "file")


def test_a_store_that_fails_acknowledges_nothing(
    folder: Path, whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk: the batch is undone as a whole, and the fleet goes on when there is room."""
    with Fleet("knn", **OPTIONS, data=folder) as fleet:
        assert fleet.fingerprint() == whole
        for method in ("append", "commit"):
            with monkeypatch.context() as patched:

                def full(*_: Any) -> None:
                    raise StoreError("disk is full")

                patched.setattr(fleet._store, method, full)
                with pytest.raises(StoreError, match="disk is full"):
                    feed(fleet, range(30, 31))
            assert fleet.fingerprint() == whole
        monkeypatch.setattr(fleet._pools, "learn", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            fleet.learn_one([1.0, 2.0], 1, key="k0")
        monkeypatch.undo()
        assert fleet.fingerprint() == whole
        with pytest.raises(BadInput):
            fleet.learn_one(y=1, key="new", id=4)
        fleet.learn_one([1.0, 2.0], 1, key="new")
        assert len(fleet) == 4


# ---- Files cut and bits flipped at random --------------------------------------------------------


@pytest.fixture
def left(folder: Path, request: pytest.FixtureRequest) -> tuple[Path, str]:
    """The files of a fleet that was closed, or as they lie there while it is at work; its fingerprint."""
    with Fleet("knn", **OPTIONS, data=folder) as fleet:
        feed(fleet, range(20, 24))
        if request.param == "at work":
            shutil.copytree(folder, folder.parent / "killed")
        whole = fleet.fingerprint()
    return folder if request.param == "closed" else folder.parent / "killed", whole


@pytest.mark.parametrize(
    ("left", "name"),
    [("closed", "fleet.sqlite"), ("at work", "fleet.sqlite-wal"), ("at work", "acknowledged")],
    indirect=["left"],
)
@pytest.mark.parametrize("how", ["flip", "cut"])
def test_damage_is_found_or_harmless(left: tuple[Path, str], name: str, how: str) -> None:
    """Whatever bit is flipped, wherever a file ends: all is there, or an error says that it is not."""
    folder, whole = left
    rng = np.random.default_rng(sum(map(ord, name + how)))
    content = (folder / name).read_bytes()
    found = {"whole": 0, "error": 0}
    for _ in range(DAMAGED):
        damaged = bytearray(content)
        place = int(rng.integers(len(content)))
        if how == "flip":
            damaged[place] ^= 1 << int(rng.integers(8))
        else:
            del damaged[place:]
        copy = folder.parent / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        (copy / name).write_bytes(damaged)
        try:
            with Fleet("knn", **OPTIONS, data=copy) as fleet:
                assert fleet.fingerprint() == whole
                found["whole"] += 1
        except MillpondError:
            found["error"] += 1
    assert sum(found.values()) == DAMAGED
    if name == "acknowledged":
        assert not found["error"]
    elif how == "cut" or name == "fleet.sqlite-wal":
        assert found["error"] > DAMAGED / 10
    # A flipped bit of the database mostly hits a snapshot, and there is another one.
