from __future__ import annotations

import hashlib
import socket
import time

import pytest

from millpond.errors import StreamError
from millpond.streams.download import NoConnection, download, file_sha256

CONTENT = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def content(site):
    site.content = CONTENT


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "folder" / "file.csv"


def part_of(path):
    return path.with_name("file.csv.part")


def left_over(path, content):
    path.parent.mkdir(parents=True)
    part_of(path).write_bytes(content)


def only(path):
    return [file.name for file in path.parent.iterdir()]


def test_fetches_with_progress(site, path):
    seen = []
    download(site.url, path, sha256=SHA256, size=len(CONTENT), progress=lambda *at: seen.append(at))
    assert path.read_bytes() == CONTENT
    assert only(path) == ["file.csv"]
    assert site.ranges == [None]
    done = [bytes_ for bytes_, _ in seen]
    assert done == sorted(done)
    assert done[-1] == len(CONTENT)
    assert {total for _, total in seen} == {len(CONTENT)}


def test_continues_where_it_broke_off(site, path):
    site.habit, site.breaks_after = "breaks off", 100_000
    with pytest.raises(NoConnection, match=r"broken off after 100,000 of 256,000 bytes"):
        download(site.url, path, sha256=SHA256)
    assert part_of(path).read_bytes() == CONTENT[:100_000]
    assert not path.exists()
    site.habit = "ranges"
    seen = []
    download(site.url, path, sha256=SHA256, progress=lambda *at: seen.append(at))
    assert site.ranges == [None, "bytes=100000-"]
    assert path.read_bytes() == CONTENT
    assert only(path) == ["file.csv"]
    assert seen[0][0] > 100_000
    assert seen[-1] == (len(CONTENT), len(CONTENT))


def test_a_server_without_ranges_sends_all_again(site, path):
    left_over(path, CONTENT[:1000])
    site.habit = "no ranges"
    download(site.url, path, sha256=SHA256)
    assert site.ranges == ["bytes=1000-"]
    assert path.read_bytes() == CONTENT


def test_a_server_that_resumes_elsewhere(site, path):
    left_over(path, CONTENT[:1000])
    site.habit = "wrong place"
    with pytest.raises(NoConnection, match="resumes at another place"):
        download(site.url, path, sha256=SHA256)


def test_a_part_that_is_whole_or_too_long_is_fetched_anew(site, path):
    left_over(path, CONTENT + b"more")
    download(site.url, path, sha256=SHA256)
    assert site.ranges == [f"bytes={len(CONTENT) + 4}-", None]
    assert path.read_bytes() == CONTENT


def test_no_length(site, path):
    site.habit = "no length"
    seen = []
    download(site.url, path, sha256=SHA256, progress=lambda *at: seen.append(at))
    assert path.read_bytes() == CONTENT
    assert {total for _, total in seen} == {None}


@pytest.mark.parametrize("expected", [{"sha256": "0" * 64}, {"size": 5}])
def test_the_wrong_file_is_removed(site, path, expected):
    with pytest.raises(StreamError, match="not the expected file") as caught:
        download(site.url, path, **expected)
    assert only(path) == []
    if "sha256" in expected:
        assert SHA256 in str(caught.value)
        assert "0" * 64 in str(caught.value)


def test_a_part_of_another_file_ends_in_a_wrong_checksum(site, path):
    left_over(path, b"x" * 1000)
    with pytest.raises(StreamError, match=f"not {SHA256}"):
        download(site.url, path, sha256=SHA256)
    assert only(path) == []


def test_a_wrong_file_leaves_the_old_one(site, path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"old")
    with pytest.raises(StreamError):
        download(site.url, path, sha256="0" * 64)
    assert path.read_bytes() == b"old"


def test_not_found(site, path):
    site.habit = "404"
    with pytest.raises(NoConnection, match="404"):
        download(site.url, path)
    assert only(path) == []


def test_nobody_there(path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(NoConnection, match="refused"):
        download(f"http://127.0.0.1:{port}/file", path)


def test_no_web_server(site, path):
    site.habit = "not http"
    with pytest.raises(NoConnection):
        download(site.url, path)


def test_a_server_that_stalls_is_left(site, path):
    site.habit, site.breaks_after = "stalls", 1000
    begin = time.monotonic()
    with pytest.raises(NoConnection, match=r"broken off after .* \(timed out\)"):
        download(site.url, path, timeout=0.2)
    assert time.monotonic() - begin < 5


def test_a_folder_that_cannot_be_written(site, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StreamError, match="cannot write"):
        download(site.url, tmp_path / "file" / "x.csv")


def test_file_sha256(tmp_path):
    (tmp_path / "x").write_bytes(CONTENT)
    assert file_sha256(tmp_path / "x") == SHA256
