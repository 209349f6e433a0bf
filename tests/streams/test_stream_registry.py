from __future__ import annotations

import dataclasses
import gzip
import hashlib
import lzma
from pathlib import Path

import pytest

from millpond.errors import DataMissing, StreamError, UnknownName
from millpond.streams import registry

CONTENT = b"1,2,a\n3,4,b\n" * 50


@pytest.fixture
def noaa(monkeypatch, site):
    """NOAA's entry, as if it were published on the test's own server."""
    site.content = CONTENT
    entry = dataclasses.replace(
        registry.entry("noaa"),
        url=site.url,
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
    )
    monkeypatch.setattr(registry, "_ENTRIES", (entry,))
    return entry


def test_holds_the_dataset_table_of_the_paper():
    table = {
        "NOAA": (18_159, 8, 2, "imbalanced"),
        "METER": (22_948, 96, 10, "balanced"),
        "RIALTO": (82_250, 27, 10, "balanced"),
        "POSTURE-No8": (163_477, 3, 10, "highly imbalanced"),
        "POKER": (829_201, 10, 10, "extremely imbalanced"),
        "NOMAO": (34_465, 118, 2, "imbalanced"),
        "AGR(A)": (30_000, 9, 2, "synthetic abrupt drift"),
    }
    found = {e.label: (e.rows, e.features, e.classes, e.balance) for e in registry.entries()}
    assert found == table
    assert {e.name for e in registry.entries()} == {
        *("noaa", "meter", "rialto", "posture_no8", "poker", "nomao", "agr_a")
    }


def test_every_file_has_a_pinned_source_and_all_but_meter_a_checksum():
    for entry in registry.entries():
        if entry.kind == "generated":
            assert (entry.file, entry.url, entry.sha256, entry.files) == ("", "", None, ())
            continue
        assert entry.url.endswith("/" + entry.file)
        assert len(entry.url.split("/")[5]) == 40  # a commit, not a branch
        assert entry.page.startswith("https://")
        assert entry.size
        assert (entry.sha256 is None) == (entry.name == "meter")
        assert entry.terms


def test_file_names():
    assert registry.entry("posture_no8").files == (
        "POSTURE.csv",
        "POSTURE.csv.xz",
        "POSTURE.csv.gz",
    )
    assert registry.entry("nomao").files == ("nomao.arff.zip",)


@pytest.mark.parametrize("name", ["posture_no8", "POSTURE-No8", " Posture_No8 "])
def test_names_in_any_case(name):
    assert registry.entry(name).label == "POSTURE-No8"


def test_an_unknown_name_lists_near_ones():
    with pytest.raises(UnknownName, match="did you mean rialto"):
        registry.entry("rialta")


def test_status(tmp_path):
    entry = registry.entry("noaa")
    assert entry.status(tmp_path) == registry.Status("absent", tmp_path / "NOAA.csv")
    (tmp_path / "NOAA.csv.gz").touch()
    assert entry.status(tmp_path) == registry.Status("present", tmp_path / "NOAA.csv.gz")
    (tmp_path / "NOAA.csv.xz").touch()
    assert entry.status(tmp_path).path == tmp_path / "NOAA.csv.xz"
    (tmp_path / "NOAA.csv").touch()
    assert entry.status(tmp_path).path == tmp_path / "NOAA.csv"
    assert registry.entry("agr_a").status(tmp_path) == registry.Status("generated", None)


def test_status_goes_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("MILLPOND_DATA", str(tmp_path))
    assert registry.entry("noaa").status().path == tmp_path / "NOAA.csv"


def test_what_is_absent_says_how_to_get_it(tmp_path):
    with pytest.raises(DataMissing) as caught:
        registry.locate(registry.entry("posture_no8"), tmp_path)
    message = str(caught.value)
    assert "millpond streams get posture_no8" in message
    assert "POSTURE.csv or POSTURE.csv.xz or POSTURE.csv.gz" in message
    assert str(tmp_path) in message


@pytest.mark.parametrize("pack", [("", bytes), (".xz", lzma.compress), (".gz", gzip.compress)])
def test_checksums_are_of_the_unpacked_file(tmp_path, noaa, pack):
    suffix, packing = pack
    path = tmp_path / f"NOAA.csv{suffix}"
    path.write_bytes(packing(CONTENT))
    assert noaa.content(path) == CONTENT
    path.write_bytes(packing(CONTENT + b"5,6,a\n"))
    with pytest.raises(StreamError, match="is not the NOAA of the paper") as caught:
        noaa.content(path)
    assert noaa.sha256 in str(caught.value)
    assert hashlib.sha256(CONTENT + b"5,6,a\n").hexdigest() in str(caught.value)


def test_get(tmp_path, noaa, site):
    seen = []
    path = registry.get("noaa", tmp_path, lambda *at: seen.append(at))
    assert path == tmp_path / "NOAA.csv"
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert registry.get("NOAA", tmp_path) == path  # not fetched again
    assert len(site.ranges) == 1


def test_get_checks_what_is_there_and_leaves_it(tmp_path, noaa, site):
    (tmp_path / "NOAA.csv").write_bytes(b"mine")
    with pytest.raises(StreamError, match="move it away"):
        registry.get("noaa", tmp_path)
    assert (tmp_path / "NOAA.csv").read_bytes() == b"mine"
    assert site.ranges == []


def test_get_of_a_wrong_file(tmp_path, noaa, site):
    site.content = b"<html>sign in</html>"
    with pytest.raises(StreamError, match="not the expected file"):
        registry.get("noaa", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_get_without_network_says_in_one_line_what_to_do(tmp_path, noaa, site):
    site.habit = "404"
    with pytest.raises(DataMissing) as caught:
        registry.get("noaa", tmp_path)
    message = str(caught.value)
    assert "\n" not in message
    assert "404" in message
    assert f"download NOAA.csv from {noaa.page}" in message
    assert str(tmp_path) in message


def test_get_of_a_generated_stream(tmp_path):
    assert registry.get("agr_a", tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_present_have_their_checksums(data_dir: Path):
    present = 0
    for entry in registry.entries():
        status = entry.status(data_dir)
        if status.state == "present" and status.path is not None:
            content = entry.content(status.path)
            assert entry.file.endswith(".zip") or len(content) == entry.size
            present += 1
    assert present
