"""Running units: the loop's own results, kept at once, gone on with, and honest about what failed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from millpond import load_stream, prequential
from millpond.evaluate import prequential as loop
from millpond.evaluate.prequential import Interrupted
from millpond.paper import runner
from millpond.paper.runner import Outcome, Place, Step, device_options, lacking, run_all
from millpond.paper.store import Store
from millpond.paper.units import Group, Unit, context, together

LIMIT = 260
PAIR = [context("agr_a", "knn", p, 0.4, budget=40, limit=LIMIT) for p in ("cure", "fifo")]
LATE = context("agr_a", "knn", "cure", 0.4, budget=40, limit=LIMIT, delay=7)
MIXED = context("agr_a", "knn", "cure", 0.4, budget=40, limit=LIMIT, shuffle=50, seed=3)


def rows(unit: Unit) -> int:
    return unit.limit or 1000


def never() -> bool:
    return False


def silent(step: Step) -> None:
    pass


@pytest.mark.parametrize("workers", [1, 2])
def test_units_have_the_loops_results(tmp_path: Path, workers: int) -> None:
    told: list[Step] = []
    groups = together([*PAIR, LATE, MIXED])
    assert len(groups) == 3
    run_all(groups, rows, Place(tmp_path), workers, told.append, never)
    found = Store(tmp_path).read()
    stream = load_stream("agr_a")
    for unit in (*PAIR, LATE, MIXED):
        alone = prequential(
            stream,
            backbone="knn",
            policy=unit.policy,
            tau=unit.tau or 0.0,
            budget=40,
            delay=unit.delay,
            shuffle_within=unit.shuffle,
            seed=unit.seed,
            limit=LIMIT,
        )
        facts = found[unit].facts
        assert facts["predictions_sha256"] == alone.facts["predictions_sha256"]
        assert facts["accuracy"] == alone.accuracy
        assert found[unit].right()[1].sum() == round(alone.accuracy * alone.scored)
    assert told[-1].done == told[-1].total == 4 * LIMIT
    assert not any((tmp_path / "work").iterdir()), "a finished run leaves no folder"


def test_a_stream_that_is_not_here_is_a_reason_and_not_an_error(tmp_path: Path) -> None:
    units = [context("meter", "knn", "cure", 0.1), *PAIR]
    outcomes = run_all(
        together(units), rows, Place(tmp_path / "out", str(tmp_path)), 1, silent, never
    )
    failures = [o for o in outcomes if o.failure]
    assert [o.group.units for o in failures] == [(units[0],)]
    assert "millpond streams get meter" in failures[0].failure
    assert {*Store(tmp_path / "out").read()} == {*PAIR}


def test_a_stopped_run_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
    asked = iter([False] * 150)
    with pytest.raises(Interrupted):
        run_all(together(PAIR), rows, Place(tmp_path), 1, silent, lambda: next(asked, True))
    assert Store(tmp_path).read() == {}
    (work,) = (tmp_path / "work").iterdir()
    assert work.name == together(PAIR)[0].key
    run_all(together(PAIR[::-1]), rows, Place(tmp_path), 1, silent, never)
    found = Store(tmp_path).read()
    whole = prequential(
        load_stream("agr_a"), backbone="knn", policy="cure", tau=0.4, budget=40, limit=LIMIT
    )
    facts = found[PAIR[0]].facts
    assert 0 < facts["resumed_from"] < LIMIT
    assert facts["predictions_sha256"] == whole.facts["predictions_sha256"]


def _killed_once(group: Group, place: Place, progress: object, stop: object) -> Outcome:
    """Stands for a run whose process is killed the first time."""
    mark = place.folder / group.key
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(group, [], "came back")


def _killed(group: Group, place: Place, progress: object, stop: object) -> Outcome:
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def _begin_killed_once(stopping: object, at: object) -> None:
    runner._begin(stopping, at)
    runner.run_group = _killed_once  # type: ignore[assignment]


def _begin_killed(stopping: object, at: object) -> None:
    runner._begin(stopping, at)
    runner.run_group = _killed  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        (_begin_killed_once, "came back"),
        (_begin_killed, "its process died, and died again when it was run anew"),
    ],
)
def test_what_a_dead_process_left_is_run_again_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: object, said: str
) -> None:
    monkeypatch.setattr(runner, "_initialise", begin)
    outcomes = run_all(together(PAIR), rows, Place(tmp_path), 2, silent, never)
    assert [o.failure for o in outcomes] == [said]


def test_a_device_goes_to_backbones_that_have_one() -> None:
    assert device_options("rill", "cuda") == {"engine": "torch", "device": "cuda"}
    assert device_options("rill", None) == {}
    assert device_options("knn", "cuda") == {}


def test_a_backbone_that_is_ready_lacks_nothing() -> None:
    assert lacking("knn", None) == ""
    assert lacking("rill", None) == ""


def test_a_run_that_failed_keeps_what_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, say: make room, and it goes on where it was."""
    from millpond.errors import CheckpointError

    work = Store(tmp_path).work(together(PAIR)[0].key)

    def full(*_: object, **__: object) -> None:
        work.mkdir(parents=True)
        (work / "checkpoint-a").touch()
        raise CheckpointError("no space left")

    monkeypatch.setattr(runner, "prequential", full)
    (outcome,) = run_all(together(PAIR), rows, Place(tmp_path), 1, silent, never)
    assert outcome.failure == "no space left"
    assert (work / "checkpoint-a").exists()


def test_thresholds_that_move_can_run_apart() -> None:
    """A whole stream that stays on a device takes fixed thresholds only."""
    taus = [context("agr_a", "knn", "cure", tau, limit=LIMIT) for tau in (0.1, 0.2, "auto")]
    assert [len(group.units) for group in together(taus)] == [3]
    assert sorted(len(group.units) for group in together(taus, auto_apart=True)) == [1, 2]
