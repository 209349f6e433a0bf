from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zipfile

import pytest

from millpond.errors import DataMissing, StreamError
from millpond.streams.archives import unpack

TEXT = b"1,2,a\n3,4,b\n" * 200
PACK = {".xz": lzma.compress, ".gz": gzip.compress, ".bz2": bz2.compress}


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_plain(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT)
    unpacked = unpack(path)
    assert (unpacked.name, unpacked.content, unpacked.packed) == ("a.csv", TEXT, TEXT)


@pytest.mark.parametrize("suffix", PACK)
def test_packed(tmp_path, suffix):
    path = tmp_path / f"a.csv{suffix}"
    path.write_bytes(PACK[suffix](TEXT))
    unpacked = unpack(path)
    assert (unpacked.name, unpacked.content) == ("a.csv", TEXT)
    assert unpacked.packed == path.read_bytes()


@pytest.mark.parametrize("suffix", PACK)
def test_suffixes_are_of_any_case(tmp_path, suffix):
    path = tmp_path / f"a.csv{suffix.upper()}"
    path.write_bytes(PACK[suffix](TEXT))
    assert unpack(path).content == TEXT


def test_zip_gives_its_first_data_member(tmp_path):
    path = zipped(
        tmp_path / "a.zip",
        {"folder/": b"", "__MACOSX/._a.csv": b"junk", "folder/a.csv": TEXT, "b.csv": b"other"},
    )
    unpacked = unpack(path)
    assert (unpacked.name, unpacked.content) == ("a.csv", TEXT)
    assert "folder/a.csv" in unpacked.notes[0]


def test_zip_without_a_file(tmp_path):
    with pytest.raises(StreamError, match="holds no file"):
        unpack(zipped(tmp_path / "a.zip", {"folder/": b""}))


@pytest.mark.parametrize("suffix", [*PACK, ".zip"])
@pytest.mark.parametrize("damage", ["truncated", "another format", "flipped"])
def test_damaged(tmp_path, suffix, damage):
    path = tmp_path / f"a.csv{suffix}"
    if suffix == ".zip":
        zipped(path, {"a.csv": os.urandom(5000)})
    else:
        path.write_bytes(PACK[suffix](os.urandom(5000)))
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        del content[len(content) // 2 :]
    elif damage == "flipped":
        content[2000] ^= 0xFF
    else:
        content = bytearray(TEXT)
    path.write_bytes(content)
    with pytest.raises(StreamError, match="damaged, incomplete"):
        unpack(path)


def test_zip_with_a_password(tmp_path):
    path = zipped(tmp_path / "a.zip", {"a.csv": TEXT})
    content = bytearray(path.read_bytes())
    for header in (content.find(b"PK\x03\x04") + 6, content.find(b"PK\x01\x02") + 8):
        content[header] |= 1  # the flag "encrypted"
    path.write_bytes(content)
    with pytest.raises(StreamError, match="password"):
        unpack(path)


def test_absent(tmp_path):
    with pytest.raises(DataMissing, match="no file"):
        unpack(tmp_path / "absent.csv")
    with pytest.raises(DataMissing):
        unpack(tmp_path / ("x" * 5000))


def test_directory(tmp_path):
    with pytest.raises(StreamError, match="directory"):
        unpack(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StreamError, match="regular file"):
        unpack(tmp_path / "pipe")


def test_no_permission(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT)

    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "read_bytes", denied)  # root may read everything
    with pytest.raises(StreamError, match="cannot be read: Permission denied"):
        unpack(path)
