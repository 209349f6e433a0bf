"""The grid's processes: what runs, what each failure is said to be, and how it is stopped and resumed.

A script stands for `python -m millpond run`; it notes its words and does what its configuration is told.
"""

from __future__ import annotations

import json
import stat
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from millpond.baselines import grid as module
from millpond.baselines.grid import Configuration, Done, Grid
from millpond.errors import BadOption

SCRIPT = """#!{python}
import json, os, signal, sys, time
from pathlib import Path
words = sys.argv[1:]
folder = Path(words[words.index("--out") + 1])
(folder / "words.json").write_text(json.dumps(words))
told = json.loads(Path({told!r}).read_text()).get(folder.name)
if told == "fail":
    print("some progress", file=sys.stderr)
    sys.exit("millpond: MOA failed with a reason")
if told == "silent":
    sys.exit(3)
if told == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
if told == "crash":
    print("# A fatal error has been detected by the Java Runtime Environment:", file=sys.stderr)
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGABRT)
if told == "wait":
    def stop(number, frame):
        (folder / "saved").touch()
        sys.exit(1)
    signal.signal(signal.SIGTERM, stop)
    (folder / "waiting").touch()
    time.sleep(60)
(folder / "result.json").write_text("{{}}")
"""


@pytest.fixture
def told(tmp_path: Path, monkeypatch: Any) -> Path:
    """A file that says what becomes of which configuration."""
    orders = tmp_path / "told.json"
    orders.write_text("{}")
    script = tmp_path / "millpond-stub"
    script.write_text(SCRIPT.format(python=sys.executable, told=str(orders)))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(module.sys, "executable", str(script))
    return orders


def run(grid: Grid) -> tuple[list[Done], list[Done]]:
    """In the order of the configurations, and in that in which they ended."""
    heard: list[Done] = []
    return grid.run(heard.append), heard


def test_the_papers_grid_has_nine_pairs_and_trees_no_seeds() -> None:
    trees = Grid("moa:efdt", ["noaa"], Path(), seeds=5).configurations()
    assert len(trees) == 9
    assert {(c.grace_period, c.tie_threshold) for c in trees} == {
        (g, t) for g in (100, 400, 1000) for t in (0.01, 0.05, 0.1)
    }
    ensembles = Grid("river:srp", ["noaa"], Path()).configurations()
    assert [c.seed for c in ensembles] == [seed for seed in range(1, 6) for _ in range(9)]
    assert len({c.name for c in ensembles}) == 45


@pytest.mark.parametrize("learner", ["majority", "moa:cure", "capymoa:arf", "arf"])
def test_other_learners_have_no_grid(learner: str) -> None:
    with pytest.raises(BadOption, match="the grid is for"):
        Grid(learner, ["noaa"], Path()).configurations()


@pytest.mark.parametrize("wrong", [{"seeds": 0}, {"workers": 0}])
def test_at_least_one_of_each(wrong: dict[str, int]) -> None:
    with pytest.raises(BadOption, match="at least one"):
        Grid("moa:arf", ["noaa"], Path(), **wrong).configurations()


def test_each_configuration_is_a_run_in_its_own_folder(told: Path, tmp_path: Path) -> None:
    grid = Grid("moa:vfdt", ["noaa", "--limit", "500"], tmp_path / "out", workers=3)
    done, heard = run(grid)
    assert [each.configuration for each in done] == grid.configurations()
    assert sorted(each.configuration.name for each in heard) == sorted(
        each.configuration.name for each in done
    )
    assert all(each.failure is None for each in done)
    words = json.loads((tmp_path / "out" / "g400-t0.1-seed1" / "words.json").read_text())
    assert words[:6] == ["-m", "millpond", "run", "noaa", "--limit", "500"]
    assert {"--learner", "moa:vfdt", "--set=grace_period=400", "--set=tie_threshold=0.1"} <= set(
        words
    )
    assert words[words.index("--seed") + 1] == "1"
    assert "--resume" not in words


def test_resume_is_passed_on(told: Path, tmp_path: Path) -> None:
    done, _ = run(Grid("moa:vfdt", ["noaa"], tmp_path / "out", resume=True, workers=3))
    for each in done:
        assert "--resume" in json.loads((each.folder / "words.json").read_text())


def test_one_that_fails_is_reported_and_the_others_go_on(told: Path, tmp_path: Path) -> None:
    names = [f"g100-t{t}-seed1" for t in (0.01, 0.05, 0.1)] + ["g400-t0.01-seed1"]
    told.write_text(json.dumps(dict(zip(names, ["fail", "silent", "kill", "crash"], strict=True))))
    done, _ = run(Grid("moa:vfdt", ["noaa"], tmp_path / "out", workers=3))
    reasons = {each.configuration.name: each.failure for each in done if each.failure}
    assert reasons == {
        names[0]: "MOA failed with a reason",
        names[1]: "ended with exit code 3",
        names[2]: "killed by SIGKILL: the machine may have run out of memory",
        names[3]: "killed by SIGABRT "
        "(A fatal error has been detected by the Java Runtime Environment:)",
    }
    assert sum(each.failure is None for each in done) == 5


def test_stopping_lets_the_running_ones_save_and_starts_no_other(
    told: Path, tmp_path: Path
) -> None:
    first = "g100-t0.01-seed1"
    told.write_text(json.dumps({first: "wait", "g100-t0.05-seed1": "fail"}))
    out = tmp_path / "out"

    def interrupted(done: Done) -> None:
        deadline = time.monotonic() + 20
        while not (out / first / "waiting").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Grid("moa:vfdt", ["noaa"], out, workers=2).run(interrupted)
    assert time.monotonic() - begin < 30
    assert (out / first / "saved").exists()
    assert not (out / first / "result.json").exists()
    assert len(list(out.glob("*/words.json"))) < 9
    assert threading.active_count() < 5


def test_a_folder_is_named_after_its_configuration() -> None:
    assert Configuration(400, 0.05, 3).name == "g400-t0.05-seed3"
