"""States as parts that a fuzzer can change, and the seeds of its corpus.

    python tests/fuzz/archives.py      # writes the seeds of tests/fuzz/corpus/checkpoint and .../saved

A state is an archive with checksums inside one with a checksum: a changed byte would be all that is ever
noticed. So the fuzzer's inputs are the archive's entries one after the other, each behind a line
"#part NAME", and are put together and sealed before they are read. Other inputs are read as they are.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from millpond import Stream, StreamClassifier, prequential
from millpond.evaluate.checkpoint import NAMES
from millpond.evaluate.prequential import Interrupted
from millpond.state import MAGIC, seal

CORPUS = Path(__file__).parent / "corpus"
PART = b"\n#part "

_rng = np.random.default_rng(1)
STREAM = Stream(
    "seed",
    _rng.normal(size=(8, 1)).round(1).astype(np.float32),
    np.array([0, 1, 0, 1, 1, 0, 1, 0]),
    ("x",),
    ("a", "b"),
)
OPTIONS: dict[str, Any] = {
    "warmup": 0,
    "window": 4,
    "budget": 3,
    "short_ratio": 0.4,
    "tau": "auto",
    "delay": 1,
}


def sealed(content: bytes) -> bytes:
    """The file that a fuzzer's input stands for."""
    if not content.startswith(PART):
        return content
    entries = {}
    for part in content.split(PART)[1:]:
        name, _, entry = part.partition(b"\n")
        entries[name[:60].decode("latin-1").replace("\0", "")] = entry
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for text, entry in entries.items():
            file.writestr(zipfile.ZipInfo(f"{text}.npy"), entry)
    return seal(archive.getvalue())


def parts(content: bytes) -> bytes:
    """A state's file as a fuzzer's input."""
    with zipfile.ZipFile(io.BytesIO(content[len(MAGIC) + 65 :])) as file:
        named = [(name.removesuffix(".npy").encode(), file.read(name)) for name in file.namelist()]
    return b"".join(PART + name + b"\n" + entry for name, entry in named)


def interrupted(folder: Path, row: int) -> None:
    """Leave a run behind that has stopped at a row."""
    left = iter(range(row, -1, -1))
    try:
        prequential(STREAM, **OPTIONS, out=folder, stop=lambda: not next(left))
    except Interrupted:
        return


def checkpoint(folder: Path) -> bytes:
    interrupted(folder, 6)
    return (folder / NAMES[0]).read_bytes()


def numbers(folder: Path) -> bytes:
    classifier = StreamClassifier(budget=3, short_ratio=0.4, tau="auto", k=2)
    classifier.partial_fit(STREAM.X, STREAM.labels)
    classifier.predict_one([0.5])
    classifier.save(folder / "it")
    return (folder / "it").read_bytes()


def names(folder: Path) -> bytes:
    classifier = StreamClassifier(policy="redundancy_only", budget=3, waiting=2, ties="newer")
    labels = ["b", 2.5, ("a", frozenset({b"f"})), 2**70, True]
    for t, label in enumerate(labels):
        classifier.learn_one(
            {"u": t, "kind": "ab"[t % 2]} | ({"late": 1.0} if t > 3 else {}), label
        )
    for key in (1, 2, 3):
        classifier.predict_one({"u": 1.0, "kind": "a"}, key=key)
    classifier.predict_one({"kind": None})
    classifier.save(folder / "it")
    return (folder / "it").read_bytes()


SEEDS: dict[str, Callable[[Path], bytes]] = {
    "checkpoint/run": checkpoint,
    "saved/numbers": numbers,
    "saved/names": names,
}


def main() -> None:
    for name, make in SEEDS.items():
        path = CORPUS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            content = make(Path(folder))
        path.write_bytes(parts(content))
        path.with_name(f"{path.name}-whole").write_bytes(content)


if __name__ == "__main__":
    main()
