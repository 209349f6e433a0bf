"""State files: nothing that was written comes back changed, and no damage goes unseen."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from millpond.errors import CheckpointError
from millpond.state import named, pack, under, unpack, write_atomically

HERE = Path("state")

arrays = st.dictionaries(
    st.text("abc.0_", min_size=1, max_size=6).filter(lambda name: name.strip(".")),
    hnp.arrays(
        st.sampled_from(["<f4", "<f8", "<i8", "<i4", "|b1", "|u1"]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    ),
    max_size=4,
)
metas = st.dictionaries(
    st.text(max_size=5),
    st.none() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
)


@given(metas, arrays)
def test_what_is_packed_comes_back(meta: dict[str, Any], state: dict[str, Any]) -> None:
    found, again = unpack(pack(meta, state), HERE)
    assert found == meta
    assert again.keys() == state.keys()
    for name, array in state.items():
        assert again[name].dtype == array.dtype
        assert again[name].shape == array.shape
        assert again[name].tobytes() == array.tobytes()


CONTENT = pack({"row": 7}, {"a": np.arange(40.0), "b": np.zeros((3, 0), np.int64)})


@settings(max_examples=300)
@given(st.integers(0, len(CONTENT) - 1), st.integers(1, 255))
def test_no_flipped_bit_goes_unseen(at: int, flip: int) -> None:
    damaged = bytearray(CONTENT)
    damaged[at] ^= flip
    with pytest.raises(CheckpointError, match="state"):
        unpack(bytes(damaged), HERE)


def test_no_cut_goes_unseen() -> None:
    for length in range(len(CONTENT)):
        with pytest.raises(CheckpointError, match="state"):
            unpack(CONTENT[:length], HERE)
    with pytest.raises(CheckpointError, match="damaged"):
        unpack(CONTENT + b"\0", HERE)


def test_nothing_is_unpickled() -> None:
    with pytest.raises(CheckpointError):
        unpack(pack({}, {"a": np.array([object], dtype=object)}), HERE)


def test_prefixes() -> None:
    one, other = {"x": np.zeros(1)}, {"x": np.ones(2), "y.z": np.ones(3)}
    both = named("lane1.", one) | named("lane10.", other)
    assert list(both) == ["lane1.x", "lane10.x", "lane10.y.z"]
    assert under("lane1.", both).keys() == one.keys()
    assert under("lane10.", both)["x"] is other["x"]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "state"
    for content in (b"a" * 100, b"b"):
        write_atomically(path, content)
        assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "state"
    write_atomically(path, b"old")

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if step == "open":
        monkeypatch.setattr("millpond.state.open", full, raising=False)
    else:
        monkeypatch.setattr(os, step, full)
    with pytest.raises(CheckpointError, match=r"No space left on device.*--resume"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["state"]
