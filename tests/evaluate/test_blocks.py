"""Learners that take blocks, against the same learner row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millpond import Stream, prequential
from millpond.backbones import Prediction
from millpond.errors import BadOption
from millpond.evaluate import prequential as loop
from millpond.evaluate.prequential import Interrupted, Progress
from millpond.state import State, named, under
from slow_loop import made_stream

NAME = "counts"


class Counts:
    """Row by row: the class frequencies so far, with one more for every class."""

    why_not_saved: str | None = None

    def __init__(self, streams: list[Stream]) -> None:
        self._counts = [np.ones(len(stream.classes)) for stream in streams]
        self.seconds = {"fit": 0.0, "predict": 0.0, "evict": 0.0}

    def predict(self, rows: range, X: Any, lanes: Any) -> list[Prediction]:
        return [self._now(lane, len(rows)) for lane in lanes.tolist()]

    def _now(self, lane: int, rows: int) -> Prediction:
        share = self._counts[lane] / self._counts[lane].sum()
        return Prediction(np.arange(len(share)), np.tile(share, (rows, 1)))

    def score(self, predictions: list[Prediction], lanes: Any) -> Any:
        return np.zeros((len(predictions), len(predictions[0].proba)))

    def learn(self, row: int, X: Any, y: Any, scores: Any, lanes: Any) -> None:
        for lane, label in zip(lanes.tolist(), y.tolist(), strict=True):
            self._counts[lane][label] += 1

    def banks(self, lane: int, n_classes: int) -> dict[str, Any]:
        return {}

    def describe(self, lane: int) -> dict[str, Any]:
        return {"name": NAME}

    def versions(self) -> dict[str, str]:
        return {"counts": "1.0"}

    def state(self) -> State:
        return {str(i): counts.copy() for i, counts in enumerate(self._counts)}

    def restore(self, state: State) -> None:
        self._counts = [state[str(i)].copy() for i in range(len(self._counts))]


class CountsInBlocks:
    """The same in blocks: it has neither `predict` nor `learn`."""

    block = 37

    def __init__(self, streams: list[Stream]) -> None:
        self._rows = Counts(streams)
        self.seconds, self.why_not_saved = self._rows.seconds, self._rows.why_not_saved
        self.banks, self.describe = self._rows.banks, self._rows.describe
        self.versions = self._rows.versions

    def test_then_train(self, X: Any, y: Any, lane: int) -> Prediction:
        found = []
        for label in y:
            found.append(self._rows._now(lane, 1))
            self._rows.learn(0, None, np.array([label]), None, np.array([lane]))
        return Prediction(found[0].classes, np.concatenate([each.proba for each in found]))

    def state(self) -> State:
        return named("rows.", self._rows.state())

    def restore(self, state: State) -> None:
        self._rows.restore(under("rows.", state))


@pytest.fixture
def made(monkeypatch: Any) -> Any:
    """Runs one of the two under one name, so that what they say of themselves is alike."""

    def run(kind: type, stream: Any, **options: Any) -> Any:
        monkeypatch.setattr(loop, "get_learner", lambda name, streams, seed: kind(streams))
        return prequential(stream, learner=NAME, **options)

    return run


def alike(facts: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in facts.items() if k not in ("seconds", "resumed_from")}


def close(one: Any, two: Any) -> bool:
    """Equal, up to the last bits of sums: many rows are added up at once."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(close(one[k], two[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(two) and all(map(close, one, two))
    return one == (pytest.approx(two, rel=1e-12) if isinstance(two, float) else two)


@pytest.mark.parametrize("warmup", [0, 30, 37, 1000])
@pytest.mark.parametrize("classes", [1, 3])
def test_gives_what_the_same_learner_gives_row_by_row(
    made: Any, tmp_path: Path, warmup: int, classes: int
) -> None:
    stream = made_stream(0, 900, classes=classes)
    rows = made(Counts, stream, warmup=warmup, window=50, out=tmp_path / "rows")
    blocks = made(CountsInBlocks, stream, warmup=warmup, window=50, out=tmp_path / "blocks")
    assert blocks.predictions.tolist() == rows.predictions.tolist()
    assert close(alike(blocks.facts), alike(rows.facts))
    assert blocks.facts["versions"]["counts"] == "1.0"
    ours, theirs = (np.load(tmp_path / each / "steps.npz") for each in ("blocks", "rows"))
    for column in theirs.files:
        assert np.array_equal(ours[column], theirs[column], equal_nan=True), column


def test_lanes_of_other_lengths_and_widths(made: Any) -> None:
    streams = [made_stream(seed, 100 * seed, features=seed, classes=seed) for seed in (2, 3)]
    alone = [made(CountsInBlocks, stream) for stream in streams]
    together = made(CountsInBlocks, streams)
    for one, two in zip(alone, together, strict=True):
        assert one.predictions.tolist() == two.predictions.tolist()
        assert one.facts["trajectory"] == two.facts["trajectory"]


def test_an_interrupted_run_goes_on_at_the_end_of_a_block(made: Any, tmp_path: Path) -> None:
    stream = made_stream(0, 400)
    whole = made(CountsInBlocks, stream)
    asked = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) == 5

    with pytest.raises(Interrupted) as stopped:
        made(CountsInBlocks, stream, out=tmp_path, stop=stop)
    assert (stopped.value.row - 100) % CountsInBlocks.block == 0
    resumed = made(CountsInBlocks, stream, out=tmp_path, resume=True)
    assert resumed.resumed_from == stopped.value.row
    assert alike(resumed.facts) == alike(whole.facts)


def test_one_that_cannot_be_saved_starts_over_and_says_so(
    made: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    stream, notes = made_stream(0, 400), []
    monkeypatch.setattr(Counts, "why_not_saved", "counts cannot be saved")
    asked = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) == 5

    with pytest.raises(Interrupted):
        made(CountsInBlocks, stream, out=tmp_path, stop=stop)

    def progress(now: Progress) -> None:
        notes.append(now.note)

    resumed = made(CountsInBlocks, stream, out=tmp_path, resume=True, progress=progress)
    assert "counts cannot be saved: starting at row 0" in notes
    assert resumed.resumed_from is None
    assert alike(resumed.facts) == alike(made(CountsInBlocks, stream).facts)


@pytest.mark.parametrize("option", [{"chunk": 2}, {"delay": 1}, {"missing": 0.5}])
def test_late_labels_are_refused(made: Any, option: dict[str, Any]) -> None:
    with pytest.raises(BadOption, match=next(iter(option))):
        made(CountsInBlocks, made_stream(0, 200), **option)
