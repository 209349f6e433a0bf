"""Coverage-guided fuzzing of everything that reads a file: delimited text, ARFF, states, saved models.

    make fuzz                                          # ten minutes each, needs atheris
    python tests/fuzz/fuzz_readers.py csv CORPUS -max_total_time=600

A reader may refuse a file with one of the library's own errors; anything else that it raises is a
finding. The corpus folders hold small seeds; what the fuzzer adds goes to the first folder named.
Checksums would keep the fuzzer from whatever lies behind them, so states are sealed anew each time.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["millpond"]):
    from millpond import StreamClassifier, load_stream, state
    from millpond.errors import MillpondError
    from millpond.evaluate.checkpoint import NAMES, Checkpoints

FOLDER = Path(tempfile.mkdtemp())


def read_csv(content: bytes) -> None:
    (FOLDER / "it.csv").write_bytes(content)
    load_stream(str(FOLDER / "it.csv"))


def read_arff(content: bytes) -> None:
    (FOLDER / "it.arff").write_bytes(content)
    load_stream(str(FOLDER / "it.arff"))


def read_checkpoint(content: bytes) -> None:
    for part, name in zip((content, state.seal(content)), NAMES, strict=True):
        (FOLDER / name).write_bytes(part)
    Checkpoints(FOLDER).load()


def read_saved(content: bytes) -> None:
    (FOLDER / "it").write_bytes(state.seal(content))
    classifier = StreamClassifier.load(FOLDER / "it")
    classifier.fingerprint()


READERS: dict[str, Callable[[bytes], None]] = {
    "csv": read_csv,
    "arff": read_arff,
    "checkpoint": read_checkpoint,
    "saved": read_saved,
}


def main() -> None:
    reader = READERS[sys.argv.pop(1)]
    warnings.simplefilter("error")

    def one(content: bytes) -> None:
        with contextlib.suppress(MillpondError):
            reader(content)

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
