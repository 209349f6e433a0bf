"""The weights file: what is written is read, and whatever does not fit is refused by name."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rill_random import TINY, random_arrays, write_weights

from millpond.backbones.rill.weights import Shape, load
from millpond.errors import BadOption, DataMissing


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    weights = load(write_weights(tmp_path / "weights.npz", seed=3))
    assert weights.shape == TINY
    assert weights.provenance == {"made": "for tests, from random numbers"}
    for name, array in random_arrays(TINY, seed=3).items():
        assert (weights.arrays[name] == array).all()


def test_the_checksum_is_that_of_the_format(tmp_path: Path) -> None:
    arrays, text = random_arrays(TINY), b""
    for name in sorted(arrays):
        size = "x".join(str(n) for n in arrays[name].shape)
        text += name.encode() + b"\0" + size.encode() + b"\0" + arrays[name].tobytes()
    weights = load(write_weights(tmp_path / "weights.npz"))
    assert weights.sha256 == hashlib.sha256(text).hexdigest()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match=r"no Rill weights at .*none\.npz"):
        load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"format": "other"}, "not a Rill weights file"),
        ({"version": 2}, "of version 2, this millpond reads version 1"),
        ({"sha256": "0" * 64}, "damaged, its checksum does not match"),
        ({"features": {"WINDOW": 1}}, "trained on other column features"),
        ({"shape": {"width": 24}}, "no shape that this millpond knows"),
        ({"shape": None}, "no shape that this millpond knows"),
        ({"shape": asdict(TINY) | {"depth": 3}}, "no shape that this millpond knows"),
        ({"shape": asdict(TINY) | {"layers": 3}}, r"layers\.2\S* is None"),
        ({"shape": asdict(TINY) | {"layers": 1}}, r"layers\.1\S* is \(.*\), not None"),
        ({"shape": asdict(TINY) | {"width": 25}}, "not hold the network"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(
    tmp_path: Path, header: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadOption, match=message):
        load(write_weights(tmp_path / "weights.npz", **header))


def rewritten(path: Path, **entries: Any) -> Path:
    """The same archive with some entries replaced (None: left out)."""
    with np.load(path) as archive:
        arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
    arrays |= entries
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


@pytest.mark.parametrize(
    "entries",
    [
        {"header": None},
        {"header": np.frombuffer(b"{not json", np.uint8)},
        {"header": np.frombuffer(b"\xff\xfe", np.uint8)},
        {"header": np.frombuffer(json.dumps([1]).encode(), np.uint8)},
        {"ask": None},
        {"ask": np.zeros(24, np.float32)},
        {"ask": np.zeros(24, np.float16)},
        {"ask": np.array([{}] * 24, dtype=object)},
        {"other": np.zeros(3, np.float16)},
    ],
)
def test_contents_that_do_not_fit_are_refused(tmp_path: Path, entries: dict[str, Any]) -> None:
    path = rewritten(write_weights(tmp_path / "weights.npz"), **entries)
    with pytest.raises(BadOption, match=r"weights\.npz (is|cannot be read)"):
        load(path)


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"no archive", b"\x93NUMPY\x01\x00", b"PK\x03\x04"]
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.npz"
    path.write_bytes(content)
    with pytest.raises(BadOption, match="cannot be read as a Rill weights file"):
        load(path)


def test_a_lone_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.npy"
    np.save(path, np.zeros(3))
    with pytest.raises(BadOption, match="cannot be read as a Rill weights file"):
        load(path)


def test_no_cut_and_no_changed_byte_goes_unnoticed(tmp_path: Path) -> None:
    path = write_weights(tmp_path / "weights.npz")
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for cut in rng.integers(0, len(content), 15):
        path.write_bytes(content[:cut])
        with pytest.raises(BadOption):
            load(path)
    with zipfile.ZipFile(write_weights(path)) as archive:
        # Data of an entry, behind its local header, name and extra field.
        entry = archive.getinfo("columns.npy")
    begin = entry.header_offset + 30 + len(entry.filename) + 40
    for place in rng.integers(begin, entry.header_offset + entry.compress_size, 15):
        altered = bytearray(content)
        altered[place] ^= 0x10
        path.write_bytes(bytes(altered))
        with pytest.raises(BadOption):
            load(path)


def test_every_array_of_a_shape_is_listed_once_with_its_size() -> None:
    """The number of parameters of the architecture, counted by its parts."""
    s = Shape(**(asdict(TINY) | {"kv_heads": 1}))
    d, heads, key = s.width, s.heads * s.head_dim, s.head_dim
    gated = lambda hidden: d + 3 * d * hidden  # noqa: E731
    keys = d * (heads + key) + 3 * s.head_dim + (s.head_dim - s.rotary)
    layer = d + keys + d * key + d * heads + s.head_dim + gated(s.hidden)
    head = 2 * s.matches * s.match_dim * d + s.head_hidden * (2 * s.heads + s.matches + 4 + 2)
    whole = s.slots * 13 * d + s.codes * d + 2 * d + s.row_layers * gated(s.row_hidden)
    whole += s.layers * layer + keys + head
    assert sum(int(np.prod(size)) for size in s.arrays().values()) == whole
