"""What reads files, as functions of the file's bytes that may raise the library's own errors."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path

from archives import OPTIONS, STREAM, interrupted, sealed
from millpond import StreamClassifier, load_stream, prequential
from millpond.evaluate.checkpoint import NAMES
from millpond.evaluate.prequential import Interrupted

_FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
FOLDER = Path(_FOLDER.name)
interrupted(FOLDER, 6)
STEPS = (FOLDER / "steps.log").read_bytes()


def read_csv(content: bytes) -> None:
    (FOLDER / "it.csv").write_bytes(content)
    load_stream(str(FOLDER / "it.csv"))


def read_arff(content: bytes) -> None:
    (FOLDER / "it.arff").write_bytes(content)
    load_stream(str(FOLDER / "it.arff"))


def read_checkpoint(content: bytes) -> None:
    (FOLDER / NAMES[1]).unlink(missing_ok=True)
    (FOLDER / NAMES[0]).write_bytes(sealed(content))
    (FOLDER / "steps.log").write_bytes(STEPS)
    with contextlib.suppress(Interrupted):
        prequential(STREAM, **OPTIONS, out=FOLDER, resume=True, stop=lambda: True)


def read_saved(content: bytes) -> None:
    (FOLDER / "it").write_bytes(sealed(content))
    classifier = StreamClassifier.load(FOLDER / "it")
    classifier.fingerprint()
    classifier.save(FOLDER / "again")


READERS: dict[str, Callable[[bytes], None]] = {
    "csv": read_csv,
    "arff": read_arff,
    "checkpoint": read_checkpoint,
    "saved": read_saved,
}
