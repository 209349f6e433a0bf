"""Where a fleet's keys lie on disk: SQLite, with snapshots of keys and the log of changes since.

SQLite and not files of our own: group commits, torn pages, an index by key, and a snapshot that
replaces a stretch of log in the same transaction are solved there, and tested far beyond what we could.
It is in the standard library. What it lacks, we add: a checksum for every record (pages have none), the
number of every key's last change, and a small file beside the database that counts the commits that were
acknowledged, as SQLite takes a write-ahead log that is cut or damaged for one that ended there.

fsync policy. With ``sync`` a commit is on the disk before anyone is answered (WAL, synchronous=FULL: one
fsync for a batch): what was acknowledged outlives the machine. Without, it outlives the process, and
the operating system writes it when it likes. The database is never inconsistent.

A key's last two snapshots are kept, with the log behind the older, so that a damaged one costs nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from millpond.errors import BadOption, StoreError

FORMAT = 1
APPLICATION = 0x6D696C6C  # "mill"
KEPT = 2
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE heads (key TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE log (key TEXT, n INTEGER, record TEXT NOT NULL, sum BLOB NOT NULL, PRIMARY KEY (key, n))
    WITHOUT ROWID;
CREATE TABLE snapshots (place INTEGER PRIMARY KEY, key TEXT NOT NULL, n INTEGER NOT NULL,
    state BLOB NOT NULL);
CREATE UNIQUE INDEX newest ON snapshots (key, n);
"""
_HEAD = "INSERT INTO heads VALUES (?, ?) ON CONFLICT DO UPDATE SET n = excluded.n"


class Store:
    """The keys of one fleet. Without a folder they are spilled to a temporary one; nothing is logged."""

    def __init__(self, folder: Path | None, options: dict[str, Any], sync: bool = True) -> None:
        self.durable = folder is not None
        self.records = 0
        """logged by this process"""
        self.bytes_logged = 0
        self._remove: Callable[[], Any] = lambda: None
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="millpond-"))
            self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.folder = folder
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot use {self.folder}: {error.strerror or error}") from None
        self._commits = self._operations = 0
        self._acknowledged: int | None = None
        with self._named_errors():
            self._base = sqlite3.connect(
                self.folder / "fleet.sqlite", isolation_level=None, check_same_thread=False
            )
        try:
            with self._named_errors():
                self._open(options, sync)
        except BaseException:
            self.close()
            raise

    def _open(self, options: dict[str, Any], sync: bool) -> None:
        ask = self._base.execute
        ask("PRAGMA locking_mode = EXCLUSIVE")
        if self.durable:
            ask("PRAGMA journal_mode = WAL")
            ask(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
            ask("BEGIN IMMEDIATE")
        else:
            ask("PRAGMA journal_mode = OFF")
            ask("PRAGMA synchronous = OFF")
        if not ask("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            if (self.folder / "acknowledged").exists():
                raise StoreError(f"{self.folder} has lost its database: restore it from a copy")
            for statement in _SCHEMA.split(";"):
                ask(statement)
            ask(f"PRAGMA application_id = {APPLICATION}")
            ask(f"PRAGMA user_version = {FORMAT}")
            made = {
                "options": json.dumps(options, sort_keys=True),
                "commits": "0",
                "operations": "0",
            }
            self._base.executemany("INSERT INTO facts VALUES (?, ?)", made.items())
            if self.durable:
                ask("COMMIT")
                ask("BEGIN IMMEDIATE")
        if ask("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise StoreError(f"{self.folder}/fleet.sqlite is not a fleet's, or is damaged")
        version = ask("PRAGMA user_version").fetchone()[0]
        if version != FORMAT:
            raise StoreError(
                f"{self.folder} is of format {version}, this millpond reads {FORMAT}: "
                "pip install --upgrade millpond"
            )
        facts = dict(ask("SELECT name, value FROM facts"))
        before = json.loads(facts["options"])
        for name in before.keys() | options.keys():
            if before.get(name) != options.get(name):
                raise BadOption(
                    f"{self.folder} was made with {name}={before.get(name)!r}, "
                    f"not {options.get(name)!r}"
                )
        self._commits, self._operations = int(facts["commits"]), int(facts["operations"])
        if self.durable:
            self._check_acknowledged()

    def _check_acknowledged(self) -> None:
        """Everything that was acknowledged is there, as far as counting tells."""
        path = self.folder / "acknowledged"
        self._acknowledged = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        content = os.pread(self._acknowledged, 64, 0)
        count = content[:16]
        if len(content) == 32 and content[16:] == _sum(count):
            missing = int(count) - self._commits
            if missing > 0:
                raise StoreError(
                    f"{self.folder} is damaged: {missing:,} acknowledged commits are missing at its "
                    "end. Restore the folder from a copy"
                )
        (found,) = self._base.execute("SELECT total(n) FROM heads").fetchone()
        if int(found) != self._operations:
            raise StoreError(
                f"{self.folder} is damaged: its keys have {int(found):,} changes, "
                f"{self._operations:,} were made. Restore the folder from a copy"
            )

    # -- reading ---------------------------------------------------------------------------------

    def names(self) -> list[str]:
        with self._named_errors():
            return [name for (name,) in self._base.execute("SELECT key FROM heads")]

    def head(self, name: str) -> int:
        """The number of a key's last change; 0 for a key that is not here."""
        with self._named_errors():
            found = self._base.execute("SELECT n FROM heads WHERE key = ?", (name,)).fetchone()
        return int(found[0]) if found else 0

    def snapshots(self, name: str) -> list[tuple[int, bytes]]:
        """(number of the last change in it, content), the newest first."""
        ask = "SELECT n, state FROM snapshots WHERE key = ? ORDER BY n DESC"
        with self._named_errors():
            return self._base.execute(ask, (name,)).fetchall()

    def changes(self, name: str, after: int) -> Iterator[str]:
        """The records behind a change, each checked to be whole and the next."""
        ask = "SELECT n, record, sum FROM log WHERE key = ? AND n > ? ORDER BY n"
        with self._named_errors():
            for n, record, total in self._base.execute(ask, (name, after)):
                if n != after + 1:
                    raise StoreError(f"change {after + 1} of the key {name} is missing")
                if total != _sum(f"{name} {n} {record}".encode()):
                    raise StoreError(f"change {n} of the key {name} is damaged")
                after = n
                yield record

    # -- writing ---------------------------------------------------------------------------------

    def append(self, name: str, n: int, record: str) -> None:
        """A key's next change."""
        total = _sum(f"{name} {n} {record}".encode())
        with self._named_errors():
            self._base.execute("INSERT INTO log VALUES (?, ?, ?, ?)", (name, n, record, total))
            self._base.execute(_HEAD, (name, n))
        self.records += 1
        self.bytes_logged += len(record)
        self._operations += 1

    def save(self, name: str, n: int, state: bytes) -> None:
        """A snapshot; older ones than the last two go, and the log that they needed."""
        kept = KEPT if self.durable else 1
        with self._named_errors():
            ask = self._base.execute
            if not self.durable:
                ask(_HEAD, (name, n))
            ask(
                "INSERT OR REPLACE INTO snapshots (key, n, state) VALUES (?, ?, ?)",
                (name, n, state),
            )
            numbers = [
                each
                for (each,) in ask("SELECT n FROM snapshots WHERE key = ? ORDER BY n DESC", (name,))
            ]
            for old in numbers[kept:]:
                ask("DELETE FROM snapshots WHERE key = ? AND n = ?", (name, old))
            if len(numbers) >= kept:
                ask("DELETE FROM log WHERE key = ? AND n <= ?", (name, numbers[kept - 1]))

    def forget(self, name: str) -> None:
        """A key and all that is here of it."""
        self._operations -= self.head(name) if self.durable else 0
        with self._named_errors():
            for table in ("heads", "log", "snapshots"):
                self._base.execute(f"DELETE FROM {table} WHERE key = ?", (name,))

    def commit(self) -> None:
        """All since the last commit, for good."""
        if not self.durable:
            return
        with self._named_errors():
            ask = self._base.execute
            counts = [(self._commits + 1, "commits"), (self._operations, "operations")]
            self._base.executemany("UPDATE facts SET value = ? WHERE name = ?", counts)
            ask("COMMIT")
            self._commits += 1
            if self._acknowledged is not None:
                count = b"%016d" % self._commits
                with suppress(OSError):  # an older count finds less damage, and is true
                    os.pwrite(self._acknowledged, count + _sum(count), 0)
            ask("BEGIN IMMEDIATE")

    def rollback(self) -> None:
        """Back to the last commit."""
        with self._named_errors():
            if self._base.in_transaction:  # a full disk may have rolled back by itself
                self._base.execute("ROLLBACK")
            self._base.execute("BEGIN IMMEDIATE")
            (found,) = self._base.execute(
                "SELECT value FROM facts WHERE name = 'operations'"
            ).fetchone()
        self._operations = int(found)

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._base.close()
        if self._acknowledged is not None:
            os.close(self._acknowledged)
            self._acknowledged = None
        self._remove()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "locked" in text:
                text = "another process uses it"
            raise StoreError(f"{self.folder}: {text}") from error
        except OSError as error:
            raise StoreError(f"{self.folder}: {error.strerror or error}") from error


def _sum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
