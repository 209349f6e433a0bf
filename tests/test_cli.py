"""The command line: what it prints where, its exit codes, and every wrong use in one sentence."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import shlex
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import backbones_made
from millpond import __version__, load_stream, prequential
from millpond.backbones import BACKBONES
from millpond.cli import main
from slow_loop import made_stream

GOOD = "a,b,label\n" + "".join(f"{t % 7},{t % 3},{'xy'[t % 2]}\n" for t in range(160))


class Said(NamedTuple):
    code: int
    out: str
    err: str


class Millpond:
    """`millpond` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: object) -> Said:
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:  # argparse
            code = int(end.code or 0)
        said = Said(code, *self._capsys.readouterr())
        assert "Traceback" not in said.err
        return said

    def json(self, *words: object) -> Any:
        """What a command prints with --json: one document, and nothing else on stdout."""
        said = self(*words, "--json")
        assert said.code == 0, said.err
        return json.loads(said.out, parse_constant=pytest.fail)


@pytest.fixture
def millpond(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Millpond:
    monkeypatch.setenv("COLUMNS", "80")
    return Millpond(capsys)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    (tmp_path / "good.csv").write_text(GOOD)
    return tmp_path / "good.csv"


# ---- run -----------------------------------------------------------------------------------------


def test_a_summary_for_people(millpond: Millpond, good: Path) -> None:
    said = millpond("run", good)
    assert (said.code, said.err) == (0, "")
    assert "good / rill + cure" in said.out
    assert "accuracy" in said.out
    assert "60 rows scored; 100 not scored: 100 warm-up" in said.out


def test_one_json_document_for_machines(millpond: Millpond, good: Path) -> None:
    facts = millpond.json("run", good)
    expected = prequential(load_stream(good)).facts
    for each in (facts, expected):
        del each["seconds"]
    assert facts == expected


def test_the_folder(millpond: Millpond, good: Path, tmp_path: Path) -> None:
    out = tmp_path / "a [bold]folder[/] :+1: \\"
    facts = millpond.json("run", good, "--out", out)
    assert sorted(file.name for file in out.iterdir()) == [
        "identity.json",
        "report.html",
        "result.json",
        "steps.npz",
    ]
    assert json.loads((out / "result.json").read_text()) == facts
    assert "<html" in (out / "report.html").read_text()
    said = millpond("run", good, "--out", out)
    assert said.err == f"wrote {out}/: result.json, steps.npz, report.html\n"


def test_every_flag_reaches_the_run(millpond: Millpond, good: Path) -> None:
    flags = {
        "backbone": "knn",
        "policy": "cure_margin",
        "tau": 0.25,
        "budget": 20,
        "short-ratio": 0.6,
        "limit": 150,
        "warmup": 30,
        "chunk": 2,
        "delay": 3,
        "missing": 0.1,
        "shuffle-within": 10,
        "window": 50,
        "seed": 4,
    }
    words = [word for name, value in flags.items() for word in (f"--{name}", value)]
    facts = millpond.json(
        "run", good, *words, "--set", "k=3", "--set", "ties=newer", "--target", "b"
    )
    named = {name.replace("-", "_"): value for name, value in flags.items()}
    assert (
        facts["learner"].items()
        >= {
            **{k: named[k] for k in ("backbone", "policy", "tau", "budget", "short_ratio")},
            "k": 3,
            "ties": "newer",
        }.items()
    )
    for name in (
        "limit",
        "warmup",
        "chunk",
        "delay",
        "missing",
        "shuffle_within",
        "window",
        "seed",
    ):
        assert facts["protocol"][name] == named[name]
    assert facts["stream"]["classes"] == ["0", "1", "2"]


def test_the_label_rules(millpond: Millpond, good: Path) -> None:
    facts = millpond.json("run", good, "--learner", "successor")
    assert (facts["accuracy"], facts["learner"]) == (1.0, {"name": "successor"})


def test_a_generated_stream(millpond: Millpond) -> None:
    facts = millpond.json("run", "AGR-A", "--limit", 130, "--budget", 20)
    assert (facts["stream"]["name"], facts["stream"]["label"]) == ("agr_a", "AGR(A)")
    assert (facts["rows"], facts["scored"]) == (130, 30)


def test_noaa(millpond: Millpond, data_dir: Path) -> None:
    facts = millpond.json("run", "noaa", "--data-dir", data_dir, "--tau", 0.4, "--limit", 400)
    assert facts["stream"]["features"] == 8
    assert facts["scored"] == 300


def test_resuming(millpond: Millpond, good: Path, tmp_path: Path) -> None:
    run = ("run", good, "--out", tmp_path / "out")
    said = millpond(*run, "--resume")
    assert (said.code, said.err.splitlines()[0]) == (0, "nothing to resume: starting at row 0")
    report = (tmp_path / "out" / "report.html").read_bytes()
    (tmp_path / "out" / "report.html").unlink()
    facts = millpond.json(*run, "--resume")
    assert facts == json.loads((tmp_path / "out" / "result.json").read_text())
    assert (tmp_path / "out" / "report.html").read_bytes() == report
    said = millpond(*run, "--resume", "--tau", "0.5")
    assert said.code == 1
    assert "holds another run" in said.err
    assert millpond("run", good, "--resume").code == 2


# ---- Ctrl-C --------------------------------------------------------------------------------------


class Interrupting(backbones_made.Voting):
    """Ctrl-C is pressed while a row is predicted, as often as it says."""

    def __init__(self, *, number: int = signal.SIGINT, times: int = 1) -> None:
        super().__init__(self.answer)
        self.number, self.times, self.asked = number, times, 0

    def answer(self, X: Any, y: Any, query: Any) -> dict[int, float]:
        self.asked += 1
        if self.asked == 20:
            for _ in range(self.times):
                signal.raise_signal(self.number)
        return backbones_made.plain_vote(X, y, query)


@pytest.fixture
def interrupting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKBONES, "interrupting", "test_cli:Interrupting")


@pytest.mark.usefixtures("interrupting")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_at_the_next_row_and_says_how_to_resume(
    millpond: Millpond, good: Path, tmp_path: Path, number: int
) -> None:
    before = signal.getsignal(number)
    run = ["run", str(good), "--backbone", "interrupting", "--out", str(tmp_path / "an out")]
    run += ["--set", f"number={int(number)}", "--json"]
    said = millpond(*run)
    assert (said.code, said.out) == (1, "")
    assert said.err.splitlines() == [
        "stopping at the next row (again to stop at once)",
        f"stopped at row 120 of 160; go on with: millpond {shlex.join(run)} --resume",
    ]
    assert signal.getsignal(number) is before
    again = millpond(*run, "--resume")
    assert again.err.splitlines()[0] == "resuming at row 120"
    assert (
        f"stopped at row 140 of 160; go on with: millpond {shlex.join(run)} --resume" in again.err
    )


@pytest.mark.usefixtures("interrupting")
def test_a_second_ctrl_c_ends_at_once(millpond: Millpond, good: Path, tmp_path: Path) -> None:
    run = ["run", str(good), "--backbone", "interrupting", "--set", "times=2"]
    said = millpond(*run, "--out", tmp_path)
    assert (said.code, said.out) == (1, "")
    assert said.err.splitlines()[-1].startswith("stopped at once; go on with: millpond run")


@pytest.mark.usefixtures("interrupting")
@pytest.mark.parametrize("times", [1, 2])
def test_without_a_folder_nothing_was_kept(millpond: Millpond, good: Path, times: int) -> None:
    said = millpond("run", good, "--backbone", "interrupting", "--set", f"times={times}")
    assert said.code == 1
    assert said.err.splitlines()[-1].endswith("give --out DIR to make a run that can be resumed")


def test_ctrl_c_outside_of_a_run(millpond: Millpond, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: Any, **keywords: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("millpond.cli.load_stream", interrupt)
    assert millpond("run", "agr_a") == (1, "", "millpond: interrupted\n")


# ---- Bad input -----------------------------------------------------------------------------------


def _packed(content: str, pack: Any) -> bytes:
    packed: bytes = pack(content.encode())
    return packed[: len(packed) // 2]


def _zipped(path: Path) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.csv", GOOD)
    return path.read_bytes()


BAD_FILES: dict[str, tuple[str, bytes, str]] = {
    "empty": ("empty.csv", b"", "is empty"),
    "blank lines": ("blank.csv", b"\n\n  \n", "is empty"),
    "one column": ("one.csv", b"label\nx\ny\n", "column"),
    "infinity": ("inf.csv", GOOD.replace("6,2", "inf,2").encode(), "infinite"),
    "too large for float32": ("big.csv", GOOD.replace("6,2", "1e39,2").encode(), "float32"),
    "truncated xz": ("cut.csv.xz", _packed(GOOD, lzma.compress), "damaged"),
    "truncated gz": ("cut.csv.gz", _packed(GOOD, gzip.compress), "damaged"),
    "not a zip": ("no.csv.zip", b"PK\x03\x04 this is no archive", "damaged"),
}


@pytest.mark.parametrize("why", BAD_FILES)
def test_a_file_that_is_no_stream_is_one_sentence(
    millpond: Millpond, tmp_path: Path, why: str
) -> None:
    name, content, sentence = BAD_FILES[why]
    (tmp_path / name).write_bytes(content)
    said = millpond("run", tmp_path / name, "--out", tmp_path / "out", "--json")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("millpond: ")
    assert said.err.count("\n") == 1
    assert name in said.err
    assert sentence in said.err
    assert not (tmp_path / "out").exists()


def test_a_truncated_zip(millpond: Millpond, tmp_path: Path) -> None:
    content = _zipped(tmp_path / "cut.zip")
    (tmp_path / "cut.zip").write_bytes(content[: len(content) // 2])
    said = millpond("run", tmp_path / "cut.zip")
    assert said.code == 1
    assert "damaged" in said.err


def test_a_file_that_is_not_there(millpond: Millpond, tmp_path: Path) -> None:
    said = millpond("run", tmp_path / "nowhere.csv")
    assert said.code == 1
    assert "nowhere.csv" in said.err


def test_a_registered_stream_that_is_not_there(millpond: Millpond, tmp_path: Path) -> None:
    said = millpond("run", "noaa", "--data-dir", tmp_path)
    assert said.code == 1
    assert "millpond streams get noaa" in said.err


def test_missing_values_are_taken(millpond: Millpond, tmp_path: Path) -> None:
    (tmp_path / "holes.csv").write_text(GOOD.replace("3,", ",").replace("4,", "NaN,"))
    assert millpond.json("run", tmp_path / "holes.csv")["scored"] == 60


def test_ragged_rows_are_dropped_counted_and_said(millpond: Millpond, tmp_path: Path) -> None:
    lines = GOOD.splitlines()
    lines[5] += ",9"
    lines[50] = "1"
    (tmp_path / "ragged [x].csv").write_text("\n".join(lines))
    said = millpond("run", tmp_path / "ragged [x].csv", "--json")
    facts = json.loads(said.out)
    assert (said.code, facts["rows"], facts["stream"]["dropped"]) == (0, 158, 2)
    assert said.err.startswith("ragged [x]: ")
    assert "2" in said.err


def test_one_class_runs_and_says_that_nothing_was_scored(
    millpond: Millpond, tmp_path: Path
) -> None:
    (tmp_path / "one.csv").write_text(GOOD.replace(",y", ",x"))
    said = millpond("run", tmp_path / "one.csv", "--out", tmp_path / "out")
    assert said.code == 0
    assert "nothing can be scored" in said.err
    assert "No row was scored" in said.out
    facts = millpond.json("run", tmp_path / "one.csv")
    assert (facts["accuracy"], facts["scored"], facts["unscored"]) == (None, 0, 160)
    assert facts["unscored_why"] == {"warmup": 100, "one_class": 60}


def test_a_label_column_that_does_not_exist(millpond: Millpond, good: Path) -> None:
    said = millpond("run", good, "--target", "lable")
    assert said.code in (1, 2)
    assert "lable" in said.err
    assert "label" in said.err.replace("lable", "")


# ---- Wrong use -----------------------------------------------------------------------------------

WRONG_OPTIONS = [
    "--budget 1",
    "--budget -5",
    "--short-ratio 0",
    "--short-ratio 1",
    "--short-ratio nan",
    "--tau -0.1",
    "--tau 1.01",
    "--tau nan",
    "--limit 0",
    "--chunk 0",
    "--delay -1",
    "--warmup -1",
    "--window 0",
    "--seed -1",
    "--missing 1",
    "--shuffle-within 0",
    "--set k=0",
    "--set k=many",
    "--set neighbours=3",
    "--set lanes=2",
    "--set seed=3",
    "--set stream=x",
    "--set policy=[1]",
    "--set k",
    "--set =3",
    "--set ties=sometimes",
    "--resume",
    "--learner nochange --tau 0.3",
    "--learner nochange --set k=3",
    "--learner nochange --set name=x",
    # what argparse refuses
    "--budget many",
    "--tau high",
    "--limit 1.5",
    "--no-such-flag",
    "extra",
]


@pytest.mark.parametrize("words", WRONG_OPTIONS)
def test_wrong_options_exit_with_2(millpond: Millpond, good: Path, words: str) -> None:
    said = millpond("run", good, *shlex.split(words), "--json")
    assert (said.code, said.out) == (2, "")
    assert said.err


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ("run noa", "did you mean noaa"),
        ("run poster_no8", "posture_no8"),
        ("run agr_a --policy cuer", "did you mean cure"),
        ("run agr_a --backbone knnn", "did you mean knn"),
        ("run agr_a --learner nochnge", "did you mean nochange"),
        ("run agr_a --learner xyz", "nochange, "),
        ("streams get riato", "did you mean rialto"),
        ("backbones get kmn", "did you mean knn"),
    ],
)
def test_unknown_names_list_the_near_ones(millpond: Millpond, words: str, near: str) -> None:
    said = millpond(*words.split(), "--json")
    assert (said.code, said.out) == (2, "")
    assert near in said.err


@pytest.mark.parametrize(
    "words", ["", "rum", "streams fetch", "streams get", "backbones get", "run", "streams list a b"]
)
def test_commands_that_do_not_exist(millpond: Millpond, words: str) -> None:
    said = millpond(*words.split())
    assert (said.code, said.out) == (2, "")
    assert said.err


# ---- streams and backbones -----------------------------------------------------------------------


def test_the_list_of_streams(millpond: Millpond, tmp_path: Path) -> None:
    (tmp_path / "NOAA.csv").write_text("")
    said = millpond("streams", "list", "--data-dir", tmp_path)
    assert (said.code, said.err) == (0, "")
    assert max(map(len, said.out.splitlines())) <= 80
    found = millpond.json("streams", "--data-dir", tmp_path)
    assert millpond.json("streams", "list", "--data-dir", tmp_path) == found
    assert {each["name"]: each["state"] for each in found} == {
        "noaa": "present",
        "meter": "absent",
        "rialto": "absent",
        "posture_no8": "absent",
        "poker": "absent",
        "nomao": "absent",
        "agr_a": "generated",
    }
    assert found[0] == {
        "name": "noaa",
        "rows": 18_159,
        "features": 8,
        "classes": 2,
        "balance": "imbalanced",
        "state": "present",
        "path": str(tmp_path / "NOAA.csv"),
    }
    for each in found:
        assert each["name"] in said.out
        assert f"{each['rows']:,}" in said.out


def test_getting_what_needs_no_getting(millpond: Millpond) -> None:
    assert millpond("streams", "get", "AGR-A").out == (
        "agr_a: generated when it is used: nothing to fetch\n"
    )
    assert millpond.json("streams", "get", "agr_a") == {"name": "agr_a", "path": None}


def test_getting_a_stream_that_is_here(millpond: Millpond, data_dir: Path) -> None:
    path = str(data_dir / "NOAA.csv.xz")
    found = millpond.json("streams", "get", "noaa", "--data-dir", data_dir)
    assert found == {"name": "noaa", "path": path}
    assert millpond("streams", "get", "noaa", "--data-dir", data_dir).out == f"noaa: {path}\n"


def test_getting_a_stream_that_is_damaged(millpond: Millpond, tmp_path: Path) -> None:
    (tmp_path / "NOAA.csv").write_text(GOOD)
    said = millpond("streams", "get", "noaa", "--data-dir", tmp_path, "--json")
    assert (said.code, said.out) == (1, "")
    assert "SHA-256" in said.err


def test_the_list_of_backbones(millpond: Millpond) -> None:
    assert "knn" in millpond("backbones").out
    assert {"name": "knn", "state": "ready"} in millpond.json("backbones", "list")
    assert millpond.json("backbones", "get", "knn") == {"name": "knn", "state": "ready"}
    assert "built in" in millpond("backbones", "get", "knn").out


# ---- The program itself --------------------------------------------------------------------------


def program(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "millpond", *words],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_as_a_program(good: Path) -> None:
    done = program("run", str(good), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rows"] == 160
    done = program("run", str(good), "--tau", "7", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "tau" in done.stderr


def test_a_terminal_that_knows_ascii_only(tmp_path: Path) -> None:
    stream = made_stream(1, 150)
    path = tmp_path / "grün→.csv"
    lines = [f"{x[0]},{'äß'[y]}" for x, y in stream]
    path.write_text("\n".join(lines), encoding="utf-8")
    for more in ([], ["--json"]):
        done = program("run", str(path), *more, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.isascii()
    assert json.loads(done.stdout)["stream"]["classes"] == ["ß", "ä"]


@pytest.mark.parametrize("words", [["streams", "--json"], ["streams"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_gone(words: list[str], unbuffered: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "millpond", *words],
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, b"")


def test_help_and_version(millpond: Millpond) -> None:
    assert millpond("--version").out == f"millpond {__version__}\n"
    said = millpond("run", "--help")
    assert said.code == 0
    for flag in ("--target", "--learner", "--backbone", "--policy", "--tau", "--budget", "--limit"):
        assert flag in said.out
    assert "None" not in said.out
    assert np.all(
        [command in millpond("--help").out for command in ("run", "streams", "backbones")]
    )
