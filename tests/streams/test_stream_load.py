"""`load_stream`: the paper's streams against an independent reading, files good and bad, fuzz."""

from __future__ import annotations

import csv
import functools
import gzip
import io
import lzma
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from millpond.errors import BadOption, DataMissing, MillpondError, StreamError, UnknownName
from millpond.streams import Stream, entries, load_stream
from millpond.streams.archives import unpack

GOOD = "1.5,2,cat\n2.5,3,dog\n3.5,4,cat\n"

# --- the paper's streams ---------------------------------------------------------------------


loaded = functools.cache(load_stream)


def present(name, data_dir):
    try:
        return loaded(name, data_dir=data_dir)
    except DataMissing as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_shapes_are_those_of_the_paper(entry, data_dir):
    stream = present(entry.name, data_dir)
    assert stream.X.shape == (entry.rows, entry.features)
    assert len(stream.classes) == entry.classes
    assert sorted(set(stream.y.tolist())) == list(range(entry.classes))
    assert stream.name == entry.name
    assert not np.isnan(stream.X).any()
    assert stream.dropped == {"posture_no8": 1, "meter": 1}.get(entry.name, 0)


@pytest.mark.parametrize("name", ["noaa", "rialto", "posture_no8", "poker"])
def test_rows_and_labels_equal_a_plain_reading(name, data_dir):
    """The published loader's steps, one row at a time in plain Python."""
    stream = present(name, data_dir)
    (entry,) = (entry for entry in entries() if entry.name == name)
    lines = unpack(entry.status(data_dir).path).content.decode().split("\n")
    rows = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]
    width = Counter(map(len, rows)).most_common(1)[0][0]
    rows = [row for row in rows if len(row) == width]
    classes = sorted({row[-1] for row in rows})
    if name == "posture_no8":
        assert classes[8] == "standing up from sitting"
        rows = [row for row in rows if row[-1] != classes[8]]
        del classes[8]
    assert stream.classes == tuple(classes)
    assert stream.labels.tolist() == [row[-1] for row in rows]
    step = 1 if name != "poker" else 20
    X = np.array([[float(cell) for cell in row[:-1]] for row in rows[::step]], np.float32)
    assert np.array_equal(stream.X[::step], X)


def test_nomao_equals_a_plain_reading(data_dir):
    stream = present("nomao", data_dir)
    with zipfile.ZipFile(data_dir / "nomao.arff.zip") as archive:
        text = archive.read("nomao.arff.txt").decode()
    head, _, body = text.partition("@data\n")
    nominal = ["{" in line for line in head.split("\n") if line.startswith("@attribute")]
    rows = list(csv.reader(io.StringIO(body)))
    codes: list[dict[str, int]] = [{} for _ in nominal]
    X = np.empty((len(rows), len(nominal)), np.float32)
    for t, row in enumerate(rows):
        for k, cell in enumerate(row):
            X[t, k] = codes[k].setdefault(cell, len(codes[k])) if nominal[k] else float(cell)
    assert sum(nominal[:-1]) == 29
    assert codes[54] == {"3": 0, "1": 1, "2": 2}
    assert np.array_equal(stream.X, X[:, :-1])
    assert np.array_equal(stream.y, X[:, -1])
    assert stream.classes == ("2", "1")
    assert stream.feature_names[54] == "V55"


def test_known_facts(data_dir):
    rialto = present("rialto", data_dir)
    assert np.array_equal(rialto.y, np.arange(len(rialto)) % 10)
    poker = present("poker", data_dir)
    counts = [415526, 350426, 39432, 17541, 3225, 1657, 1186, 195, 11, 2]
    assert np.bincount(poker.y).tolist() == counts
    posture = present("posture_no8", data_dir)
    assert "line 2000: 7 fields, not 4" in posture.notes[0]
    assert "1381 rows of class 'standing up from sitting'" in posture.notes[1]


FIRST = "0.384,0.3732,0.3996,0.381"
LAST = "0.423,0.4248,0.4302,8"


def meter_twin(folder: Path, last: str = LAST) -> list[list[str]]:
    """A file of METER's shape: 22,948 rows of 96 + 1, and two records run together."""
    rng = np.random.default_rng(0)
    pool = [[f"{v:g}" for v in row] for row in rng.integers(0, 20_000, (50, 96)) / 10_000]
    rows = [[*pool[t * 7 % 50], str(1 + t % 10)] for t in range(22_948)]
    rows[-1] = [*FIRST.split(","), *rows[-1][4:93], *last.split(",")]
    lines = [",".join(row) for row in rows]
    lines.insert(5_000, lines[17] + lines[18])
    (folder / "METER.csv").write_text("\n".join(lines) + "\n")
    return rows


def test_meter(tmp_path):
    rows = meter_twin(tmp_path)
    stream = load_stream("meter", data_dir=tmp_path)
    assert stream.X.shape == (22_948, 96)
    assert stream.classes == ("1", "10", "2", "3", "4", "5", "6", "7", "8", "9")
    assert stream.dropped == 1
    assert np.array_equal(stream.X, np.array([row[:-1] for row in rows], np.float64).astype("f4"))
    assert stream.labels.tolist() == [row[-1] for row in rows]
    dropped, characters = stream.notes  # another file than the paper's: told, not refused
    assert "line 5001: 193 fields, not 97" in dropped
    assert "the paper's METER has 15,050,194" in characters


def test_meter_with_another_last_row(tmp_path):
    meter_twin(tmp_path, last="0.423,0.4248,0.4302,9")
    assert "last row" in load_stream("meter", data_dir=tmp_path).notes[-1]


def test_agr_a_reads_nothing(tmp_path):
    stream = load_stream("AGR-A", data_dir=tmp_path / "nowhere")
    assert stream.X.shape == (30_000, 9)


# --- names and paths -------------------------------------------------------------------------


def test_an_absent_stream(tmp_path, monkeypatch):
    with pytest.raises(DataMissing, match="millpond streams get poker"):
        load_stream("poker", data_dir=tmp_path)
    monkeypatch.setenv("MILLPOND_DATA", str(tmp_path))
    with pytest.raises(DataMissing, match=str(tmp_path)):
        load_stream("poker")


def test_a_changed_file_of_the_registry(tmp_path):
    (tmp_path / "NOAA.csv").write_text(GOOD)
    with pytest.raises(StreamError, match="31e0c1497dc8a34c"):
        load_stream("noaa", data_dir=tmp_path)


def test_unknown_names():
    with pytest.raises(UnknownName, match="did you mean noaa"):
        load_stream("noa")
    with pytest.raises(UnknownName, match="did you mean agr_a"):
        load_stream("AGR(A)")


def test_a_target_is_for_files():
    with pytest.raises(BadOption, match="target is for files"):
        load_stream("agr_a", target=0)


@pytest.mark.parametrize("path", ["absent.csv", "./absent", "absent.arff.ZIP", "a/noaa"])
def test_what_looks_like_a_path_is_one(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataMissing, match="no file"):
        load_stream(path)


def test_a_file_without_suffix_is_a_path_when_it_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text(GOOD)
    assert len(load_stream("mine")) == 3
    assert len(load_stream(Path("mine"))) == 3


# --- files -----------------------------------------------------------------------------------


def packed(path: Path, text: str) -> Path:
    content = text.encode()
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(path.stem, content)
            archive.writestr("readme.md", "about")
    else:
        pack = {".xz": lzma.compress, ".gz": gzip.compress}.get(path.suffix, bytes)
        path.write_bytes(pack(content))
    return path


ARFF = "@relation r\n@attribute f0 numeric\n@attribute f1 numeric\n@attribute y {cat,dog}\n@data\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mine.csv", GOOD),
        ("mine.tsv", GOOD.replace(",", "\t")),
        ("mine.data", GOOD.replace(",", " ")),
        ("mine.v2.txt", GOOD.replace(",", ";")),
        ("mine.csv.xz", GOOD),
        ("mine.csv.gz", GOOD),
        ("mine.csv.zip", GOOD),
        ("mine.arff", ARFF + GOOD),
        ("mine.arff.txt", ARFF + GOOD),
        ("mine.arff.gz", ARFF + GOOD),
        ("mine.arff.zip", ARFF + GOOD),
    ],
)
def test_every_format_gives_the_same_stream(tmp_path, name, text):
    stream = load_stream(packed(tmp_path / name, text))
    assert stream.X.tolist() == [[1.5, 2], [2.5, 3], [3.5, 4]]
    assert stream.labels.tolist() == ["cat", "dog", "cat"]
    assert stream.classes == ("cat", "dog")
    assert stream.name == "mine"
    assert stream.feature_names == ("f0", "f1")
    assert any("left alone" in note for note in stream.notes) == name.endswith(".zip")


def test_parquet_gives_the_same_stream(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"f0": [1.5, 2.5, 3.5], "f1": [2, 3, 4], "y": ["cat", "dog", "cat"]})
    pq.write_table(table, tmp_path / "mine.parquet")
    (tmp_path / "mine.csv").write_text(GOOD)
    stream = load_stream(tmp_path / "mine.parquet")
    assert stream.fingerprint() == load_stream(tmp_path / "mine.csv").fingerprint()
    (tmp_path / "unnamed").write_bytes((tmp_path / "mine.parquet").read_bytes())
    assert load_stream(tmp_path / "unnamed").fingerprint() == stream.fingerprint()


def test_a_csv_may_begin_like_parquet(tmp_path):
    (tmp_path / "a.csv").write_text("PAR1,PAR2,kind\n" + GOOD)
    assert load_stream(tmp_path / "a.csv").feature_names == ("PAR1", "PAR2")


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.csv", b"", StreamError, "empty"),
        ("a.csv", b"\n \n", StreamError, "empty"),
        ("a.csv.gz", gzip.compress(b"", mtime=0), StreamError, "empty"),
        ("a.csv", b"1\n2\n3\n", StreamError, "one column only"),
        ("a.csv", b"1,2,a\n" * 20 + b"1,2\n" * 11, StreamError, "malformed"),
        ("a.csv", b"1,2,a\n3,inf,b\n", StreamError, r"row 1 \(line 2\), column 'f1': infinite"),
        ("a.csv", b"\x00\x01\x02", StreamError, "binary"),
        ("a.csv", b"1,2,\xff\n", StreamError, "UTF-8"),
        ("a.csv.xz", lzma.compress(GOOD.encode())[:-9], StreamError, "damaged, incomplete"),
        ("a.arff", b"@relation r\n", StreamError, "without an @data line"),
        ("a.csv", b"".join(b"1,%d.5\n" % k for k in range(1500)), StreamError, "regression"),
    ],
)
def test_bad_files(tmp_path, name, content, error, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(error, match=message) as caught:
        load_stream(path)
    assert str(path) in str(caught.value)


def test_a_label_column_that_does_not_exist(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,kind\n" + GOOD)
    with pytest.raises(BadOption, match="did you mean 'kind'"):
        load_stream(tmp_path / "a.csv", target="knd")


def test_a_single_class(tmp_path):
    (tmp_path / "a.csv").write_text("1,2,a\n3,4,a\n")
    stream = load_stream(tmp_path / "a.csv")
    assert stream.classes == ("a",)
    assert "nothing can be scored" in stream.notes[-1]


# --- fuzz: a stream or a named error, never anything else --------------------------------------

SCRAPS = (
    *("1", "-2.5", "a", "?", "NaN", "inf", "1e999", "9" * 20, "é", "_", "%", "\\", "{", "}"),
    *(",", ",", ";", " ", "\t", "\n", "\n", "\r", "\x1c", '"', "'", "{0 1}\n", "1,2,a\n"),
    *("@relation r\n", "@attribute x numeric\n", "@attribute y {a,b}\n", "@data\n"),
)
pieces = st.sampled_from(SCRAPS)


def attempt(path: Path, target: str | int | None = None) -> Stream | None:
    try:
        return load_stream(path, target=target)
    except MillpondError:
        return None


@settings(max_examples=400)
@given(
    text=st.lists(pieces, max_size=40).map("".join) | st.text(max_size=60),
    suffix=st.sampled_from([".csv", ".arff", ".txt"]),
    target=st.none() | st.integers(-3, 3) | st.sampled_from(["a", "y", "0"]),
)
@example(text="@relation r\n@attribute x numeric\n@data\n{0 1", suffix=".arff", target=None)
@example(text='"', suffix=".csv", target=None)
def test_any_text_is_a_stream_or_an_error(tmp_path_factory, text, suffix, target):
    path = tmp_path_factory.getbasetemp() / f"fuzz{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    stream = attempt(path, target)
    if stream is None:
        return
    assert len(stream) >= 1
    assert stream.X.shape == (len(stream), len(stream.feature_names))
    assert stream.X.shape[1] >= 1
    assert not np.isinf(stream.X).any()
    assert tuple(sorted(stream.classes)) == stream.classes
    assert set(stream.y.tolist()) == set(range(len(stream.classes)))


@settings(max_examples=150)
@given(
    content=st.binary(max_size=80),
    suffix=st.sampled_from([".csv", ".xz", ".gz", ".bz2", ".zip", ".parquet"]),
    magic=st.sampled_from([b"", b"\x1f\x8b\x08\x00", b"PK\x03\x04", b"\xfd7zXZ\x00", b"PAR1"]),
)
def test_any_bytes_are_a_stream_or_an_error(tmp_path_factory, content, suffix, magic):
    path = tmp_path_factory.getbasetemp() / f"fuzz{suffix}"
    path.write_bytes(magic + content + (magic if magic == b"PAR1" else b""))
    attempt(path)
