"""The loop against a slow one, its many lanes against single runs, and what a result says."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import backbones_made
from backbones_made import Cached, Voting
from millpond import Result, Stream, load_stream, prequential
from millpond.errors import BadInput, BadOption, CheckpointError, UnknownName
from millpond.evaluate.floors import LabelFloors
from millpond.evaluate.metrics import PrequentialMetrics
from millpond.evaluate.prequential import Interrupted, Progress
from millpond.evaluate.result import finite, predictions_digest
from millpond.evaluate.schedule import Protocol
from oracle import POLICIES
from slow_loop import Run, exact_vote, made_stream, plain_vote, slow_prequential

# No score can equal one of these but by rounding, which is not what is tested.
TAUS = [0.0, 0.27182, 0.57721, 0.91597]

SMALL: dict[str, Any] = {"budget": 12, "short_ratio": 0.5, "tau": 0.57721, "warmup": 10}

contexts = st.fixed_dictionaries(
    {
        "policy": st.sampled_from(POLICIES),
        "budget": st.integers(2, 14),
        "short_ratio": st.sampled_from([0.05, 0.5, 0.75]),
        "tau": st.sampled_from(TAUS),
    }
)
protocols = st.fixed_dictionaries(
    {
        "warmup": st.integers(0, 25),
        "chunk": st.integers(1, 9),
        "delay": st.sampled_from([0, 0, 1, 2, 7, 40]),
        "limit": st.none() | st.integers(1, 90),
    }
)
streams = st.builds(
    made_stream,
    st.integers(0, 10**6),
    st.integers(1, 80),
    features=st.integers(1, 3),
    classes=st.integers(1, 4),
    levels=st.sampled_from([0, 3]),
    missing=st.sampled_from([0.0, 0.2]),
    late=st.booleans(),
)


def lost_rows(stream: Stream, missing: float, seed: int) -> set[int]:
    return set(np.flatnonzero(~Protocol(missing=missing, seed=seed).arrives(len(stream))).tolist())


def facts_of(result: Result) -> dict[str, Any]:
    """What must be equal between two runs: all but times."""
    return {k: v for k, v in result.facts.items() if k not in ("seconds", "resumed_from")}


# ---- Against the slow loop -----------------------------------------------------------------------


def compare(result: Result, slow: Run, stream: Stream) -> None:
    labels = stream.y[: result.rows].tolist()
    assert result.predictions.tolist() == slow.predictions
    assert (result.rows, len(result.predictions)) == (len(slow.predictions),) * 2
    assert result.facts["accuracy"] == slow.accuracy(labels)
    assert result.scored == slow.why.count("scored")
    assert result.unscored == result.rows - result.scored
    for why in ("warmup", "one_class"):
        assert result.facts["unscored_why"].get(why, 0) == slow.why.count(why)


@settings(max_examples=60)
@given(streams, contexts, protocols, st.sampled_from([0.0, 0.0, 0.3, 0.9]), st.integers(0, 99))
def test_predictions_are_those_of_the_protocol_written_down(
    stream: Stream,
    context: dict[str, Any],
    protocol: dict[str, Any],
    missing: float,
    seed: int,
) -> None:
    lost = lost_rows(stream, missing, seed)
    slow = slow_prequential(stream, plain_vote, **context, **protocol, lost=lost)
    backbone = Voting()
    result = prequential(
        stream, backbone=backbone, **context, **protocol, missing=missing, seed=seed
    )
    compare(result, slow, stream)


@settings(max_examples=20)
@given(streams, contexts, protocols)
def test_knn_predicts_as_in_exact_arithmetic(
    stream: Stream, context: dict[str, Any], protocol: dict[str, Any]
) -> None:
    slow = slow_prequential(stream, exact_vote, **context, **protocol)
    compare(prequential(stream, backbone="knn", **context, **protocol), slow, stream)


class Watched(Voting):
    """Keeps the session that the loop opened."""

    def open(self, contexts: Any) -> Any:
        self.session = super().open(contexts)
        return self.session


@pytest.mark.parametrize("policy", ["cure", "cure_margin"])
@pytest.mark.parametrize(("chunk", "delay"), [(1, 0), (4, 0), (1, 5), (7, 3)])
def test_a_row_enters_with_the_uncertainty_of_its_own_prediction(
    policy: str, chunk: int, delay: int
) -> None:
    stream = made_stream(1, 80, classes=3)
    options = {**SMALL, "policy": policy, "chunk": chunk, "delay": delay}
    slow = slow_prequential(stream, plain_vote, **options)
    backbone = Watched()
    prequential(stream, backbone=backbone, **options)
    arrived = len(stream) - delay
    assert [arrival for _, arrival, _ in backbone.session.stored] == list(range(arrived))
    stored = [score for _, _, score in backbone.session.stored]
    assert stored == pytest.approx(slow.scores[:arrived], abs=1e-12)
    assert stored[:10] == [0.0] * 10  # the warm-up
    assert len(set(stored)) > 50


def test_chunks_start_anew_after_the_warm_up() -> None:
    """Rows of a chunk are asked against one context, and no chunk reaches from the warm-up out."""
    stream = made_stream(2, 31)
    backbone = Watched()
    prequential(stream, backbone=backbone, **(SMALL | {"warmup": 10, "chunk": 8}))
    assert backbone.session.calls == [(1, 8, 3), (1, 8, 3), (1, 5, 3)]


def test_limit_counts_the_warm_up() -> None:
    stream = made_stream(3, 200)
    whole, part = (prequential(stream, **SMALL, limit=limit) for limit in (None, 60))
    assert (part.rows, part.scored, part.unscored) == (60, 50, 10)
    assert part.predictions.tolist() == whole.predictions[:60].tolist()
    for limit in (200, 1000):
        assert facts_of(prequential(stream, **SMALL, limit=limit)) == {
            **facts_of(whole),
            "protocol": {**whole.facts["protocol"], "limit": limit},
        }


def test_a_stream_no_longer_than_the_warm_up_is_not_scored() -> None:
    result = prequential(made_stream(4, 50), **(SMALL | {"warmup": 50}))
    assert (result.scored, result.facts["accuracy"]) == (0, None)
    assert math.isnan(result.accuracy)
    assert result.facts["unscored_why"] == {"warmup": 50}
    assert set(result.predictions.tolist()) == {-1}


def test_one_class_is_not_scored() -> None:
    result = prequential(made_stream(5, 60, classes=1), **SMALL)
    assert result.facts["unscored_why"] == {"warmup": 10, "one_class": 50}
    assert result.facts["accuracy"] is None
    assert set(result.floors.values()) == {None}


def test_missing_values_are_taken() -> None:
    stream = made_stream(6, 150, missing=0.5)
    assert np.isnan(stream.X).any(axis=1).mean() > 0.5
    assert prequential(stream, **SMALL).scored == 140


def test_the_seed_draws_the_missing_labels_and_the_shuffling() -> None:
    stream = made_stream(7, 300)
    runs = {
        (name, seed): prequential(stream, **SMALL, **{name: value}, seed=seed)
        for name, value in (("missing", 0.5), ("shuffle_within", 20), ("delay", 1))
        for seed in (0, 1)
    }
    digest = {key: run.facts["predictions_sha256"] for key, run in runs.items()}
    assert digest["missing", 0] != digest["missing", 1]
    assert digest["shuffle_within", 0] != digest["shuffle_within", 1]
    assert digest["delay", 0] == digest["delay", 1]
    again = prequential(stream, **SMALL, missing=0.5, seed=1)
    assert again.facts["predictions_sha256"] == digest["missing", 1]


def test_shuffling_permutes_within_blocks_before_the_limit() -> None:
    stream = made_stream(8, 200)
    result = prequential(stream, **SMALL, shuffle_within=30, seed=3, limit=100)
    by_hand = prequential(stream.shuffled_within(30, 3).head(100), **SMALL)
    assert result.predictions.tolist() == by_hand.predictions.tolist()
    fingerprint = stream.shuffled_within(30, 3).head(100).fingerprint()
    assert result.facts["stream"]["fingerprint"] == fingerprint


# ---- Many lanes ----------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    st.lists(st.tuples(streams, contexts), min_size=1, max_size=4),
    protocols,
    st.sampled_from([0.0, 0.4]),
    st.booleans(),
)
def test_lanes_are_single_runs(
    lanes: list[tuple[Stream, dict[str, Any]]],
    protocol: dict[str, Any],
    missing: float,
    stateful: bool,
) -> None:
    """Whatever their lengths, widths, classes, policies, budgets and thresholds."""
    backbone = Cached() if stateful else "knn"
    options = {name: [context[name] for _, context in lanes] for name in lanes[0][1]}
    together = prequential(
        [stream for stream, _ in lanes], backbone=backbone, **options, **protocol, missing=missing
    )
    assert len(together) == len(lanes)
    for (stream, context), result in zip(lanes, together, strict=True):
        alone = prequential(stream, backbone=backbone, **context, **protocol, missing=missing)
        assert facts_of(result) == {**facts_of(alone), "lanes": len(lanes)}
        assert result.predictions.tolist() == alone.predictions.tolist()


def test_lanes_of_one_stream_by_a_sequence_of_options() -> None:
    stream, small = made_stream(9, 150), SMALL | {"backbone": "knn"}
    results = prequential(stream, **(small | {"tau": np.array([0.1, 0.5, 0.9])}))
    assert [r.facts["learner"]["tau"] for r in results] == [0.1, 0.5, 0.9]
    for result in results:
        alone = prequential(stream, **(small | {"tau": result.facts["learner"]["tau"]}))
        assert facts_of(result) == {**facts_of(alone), "lanes": 3}
    assert isinstance(prequential([stream], **SMALL), list)
    assert isinstance(prequential(stream, **(SMALL | {"policy": ["fifo"]})), list)


def test_each_lane_has_a_folder(tmp_path: Path) -> None:
    streams = [made_stream(10, 60), made_stream(11, 90, features=5)]
    results = prequential(streams, **SMALL, out=tmp_path)
    for k, result in enumerate(results):
        folder = tmp_path / f"lane-{k:03d}"
        with np.load(folder / "steps.npz") as columns:
            assert columns["prediction"].tolist() == result.predictions.tolist()
    again = prequential(streams, **SMALL, out=tmp_path, resume=True)
    assert [r.facts for r in again] == [r.facts for r in results]


# ---- What a result says --------------------------------------------------------------------------


def recorded(stream: Stream, tmp_path: Path, **options: Any) -> tuple[Result, dict[str, Any]]:
    result = prequential(stream, **(SMALL | options), out=tmp_path)
    with np.load(tmp_path / "steps.npz") as columns:
        return result, dict(columns)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"chunk": 7, "delay": 3},
    {"missing": 0.5, "window": 13},
    {"policy": "fifo", "warmup": 0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_metrics_are_those_of_the_predictions(tmp_path: Path, options: dict[str, Any]) -> None:
    stream = made_stream(12, 200, classes=3, late=True)
    backbone = Watched()
    result, columns = recorded(stream, tmp_path, backbone=backbone, **options)
    asked = dict(enumerate(backbone.session.asked, start=result.rows - len(backbone.session.asked)))
    metrics = PrequentialMetrics(3, options.get("window", 1000))
    for t in np.flatnonzero(columns["prediction"] >= 0).tolist():
        dense = np.zeros(3)
        for code, p in asked[t][2].items():
            dense[code] = p
        previous = int(stream.y[t - 1]) if t else -1
        metrics.update(int(stream.y[t]), int(columns["prediction"][t]), dense, previous)
        assert columns["p_label"][t] == np.float32(dense[stream.y[t]])
        assert columns["confidence"][t] == np.float32(dense.max())
    assert result.scored == metrics.n > 100
    assert result.metrics == finite(metrics.cumulative())
    assert result.facts["metrics"]["windowed"] == finite(metrics.windowed())
    assert result.facts["confusion"] == metrics.confusion.tolist()
    assert result.facts["reliability"] == finite(metrics.reliability())
    assert result.accuracy == result.metrics["accuracy"]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_log_has_a_row_for_each_row(tmp_path: Path, options: dict[str, Any]) -> None:
    stream = made_stream(13, 200, classes=3)
    context = {k: v for k, v in (SMALL | options).items() if k not in ("missing", "window")}
    slow = slow_prequential(
        stream, exact_vote, **context, lost=lost_rows(stream, options.get("missing", 0.0), 0)
    )
    result, columns = recorded(stream, tmp_path, backbone="knn", **options)
    assert columns["prediction"].tolist() == slow.predictions == result.predictions.tolist()
    assert columns["label"].tolist() == stream.y.tolist()
    asked = slice(context["warmup"], None)  # the warm-up asks nothing: it goes in chunks as well
    assert (
        list(zip(columns["short"][asked], columns["long"][asked], strict=True)) == slow.sizes[asked]
    )
    assert columns["score"].tolist() == pytest.approx(slow.scores, abs=1e-6)
    unscored = columns["prediction"] == -1
    for name in ("p_label", "confidence"):
        assert np.isnan(columns[name]).tolist() == unscored.tolist()
    assert {str(column.dtype) for column in columns.values()} == {"int32", "float32"}
    assert result.facts["predictions_sha256"] == predictions_digest(columns["prediction"])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_floors_are_asked_for_the_scored_rows(options: dict[str, Any]) -> None:
    stream = made_stream(14, 300, classes=3)
    protocol = SMALL | options
    lost = lost_rows(stream, options.get("missing", 0.0), 0)
    result = prequential(stream, **protocol)
    floors, learned, t = LabelFloors(3), 0, 0
    while t < len(stream):
        end = t + 1 if t < protocol["warmup"] else min(t + protocol.get("chunk", 1), len(stream))
        for row in range(t, end):
            floors.predict(row)
            scored = result.predictions[row] >= 0
            floors.score(row, int(stream.y[row]) if scored else None)
        while learned + protocol.get("delay", 0) < end:
            if learned not in lost:
                floors.learn(learned, int(stream.y[learned]))
            learned += 1
        t = end
    assert floors.n == result.scored
    assert result.floors == floors.accuracies()


@pytest.mark.parametrize(
    ("rows", "chunk"),
    [(1, 1), (30, 1), (399, 1), (400, 1), (401, 1), (1999, 1), (2000, 1), (1234, 50)],
)
def test_the_trajectory_ends_at_the_last_row_in_few_points(rows: int, chunk: int) -> None:
    result = prequential(made_stream(15, rows), learner="nochange", warmup=10, chunk=chunk)
    trajectory = result.facts["trajectory"]
    at = trajectory["row"]
    assert at[-1] == rows
    assert at == sorted(set(at))
    assert len(at) <= 401
    assert len(at) >= min(rows / chunk, 300) * 0.6
    assert {len(values) for values in trajectory.values()} == {len(at)}
    assert trajectory["accuracy"][-1] == result.facts["accuracy"]
    window = result.facts["metrics"]["windowed"]["accuracy"]
    assert trajectory["window_accuracy"][-1] == window


def test_the_trajectory_follows_the_accuracy_and_the_banks() -> None:
    stream = made_stream(16, 1000, classes=3, late=True)
    backbone = Watched()
    result = prequential(stream, **(SMALL | {"backbone": backbone, "window": 50}))
    trajectory = result.facts["trajectory"]
    right = result.predictions == stream.y
    arrivals = backbone.session.contexts
    for k, stop in enumerate(trajectory["row"]):
        scored = np.flatnonzero(result.predictions[:stop] >= 0)
        expected = float(right[scored].mean()) if len(scored) else None
        assert trajectory["accuracy"][k] == pytest.approx(expected)
        newest = float(right[scored[-50:]].mean()) if len(scored) else None
        assert trajectory["window_accuracy"][k] == pytest.approx(newest)
        assert sum(trajectory["long_by_class"][k]) == trajectory["long"][k]
        left = stop - trajectory["short"][k] - trajectory["long"][k]
        assert trajectory["evicted"][k] == left
        assert trajectory["long"][k] <= trajectory["admitted"][k] <= stop
    assert trajectory["short"][-1] == trajectory["long"][-1] == 6
    held = arrivals.y[0, arrivals.slots_of(0, "long")]
    assert trajectory["long_by_class"][-1] == np.bincount(held, minlength=3).tolist()


def test_seconds_are_taken_apart() -> None:
    seconds = prequential(made_stream(17, 300), **SMALL).seconds
    parts = [seconds[part] for part in ("fit", "predict", "evict")]
    assert all(part > 0 for part in parts)
    assert seconds["total"] == sum(parts) <= seconds["wall"]


def test_the_facts_of_a_run() -> None:
    stream = replace(made_stream(18, 120), name="mine", dropped=2, notes=("a note",))
    facts = prequential(
        stream, **SMALL, backbone="knn", k=3, entropy_over="seen", seed=np.int64(4)
    ).facts
    assert {k: facts["stream"][k] for k in ("name", "rows", "features", "classes", "dropped")} == {
        "name": "mine",
        "rows": 120,
        "features": 3,
        "classes": ["a", "b"],
        "dropped": 2,
    }
    assert facts["stream"]["notes"] == ["a note"]
    assert facts["learner"] == {
        "name": "knn + cure",
        "backbone": "knn",
        "policy": "cure",
        "budget": 12,
        "short_ratio": 0.5,
        "tau": 0.57721,
        "k": 3,
        "entropy_over": "seen",
    }
    assert facts["protocol"]["seed"] == 4
    assert facts["resumed_from"] is None


def test_progress_is_told_and_ends_at_the_last_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millpond.evaluate.prequential.PROGRESS_SECONDS", 0.0)
    told: list[Progress] = []
    result = prequential(made_stream(19, 80), **SMALL, chunk=3, progress=told.append)
    assert [now.row for now in told] == sorted({now.row for now in told})
    assert {now.rows for now in told} == {80}
    assert (told[-1].row, told[-1].accuracy) == (80, result.accuracy)
    assert math.isnan(told[0].accuracy)


def test_a_run_without_a_folder_stops_when_it_is_asked_to() -> None:
    stops = iter([False] * 30 + [True])
    with pytest.raises(Interrupted, match="row 30 of 80"):
        prequential(made_stream(20, 80), **SMALL, stop=lambda: next(stops))


# ---- Wrong use -----------------------------------------------------------------------------------

STREAM = made_stream(21, 40)


@pytest.mark.parametrize(
    "options",
    [
        {"warmup": -1},
        {"warmup": 1.5},
        {"chunk": 0},
        {"chunk": True},
        {"delay": -1},
        {"limit": 0},
        {"limit": -5},
        {"limit": "10"},
        {"window": 0},
        {"shuffle_within": 0},
        {"seed": -1},
        {"missing": 1.0},
        {"missing": -0.1},
        {"missing": math.nan},
        {"missing": "0.5"},
        {"budget": 1},
        {"short_ratio": 0.0},
        {"short_ratio": 1.0},
        {"tau": -0.1},
        {"tau": 1.1},
        {"tau": [0.1, 2.0]},
        {"k": 0},
        {"neighbours": 3},
        {"lanes": 3},
        {"ties": "random"},
        {"learner": "nochange", "budget": 10},
        {"learner": "majority", "tau": [0.1, 0.2]},
        {"tau": [0.1, 0.2], "policy": ["cure"]},
        {"tau": []},
        {"resume": True},
    ],
    ids=str,
)
def test_options_outside_their_range(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        prequential(STREAM, **options)


@pytest.mark.parametrize(
    ("options", "near"),
    [
        ({"policy": "cuer"}, "did you mean cure"),
        ({"policy": ["cure", "dualfifo"]}, "dual_fifo"),
        ({"backbone": "knnn"}, "did you mean knn"),
        ({"learner": "nochnage"}, "did you mean nochange"),
        ({"learner": "xyzzy"}, "known: .*nochange, "),
    ],
    ids=str,
)
def test_unknown_names_list_the_near_ones(options: dict[str, Any], near: str) -> None:
    with pytest.raises(UnknownName, match=near):
        prequential(STREAM, **options)


@pytest.mark.parametrize("stream", ["noaa", Path("noaa.csv")])
def test_a_name_is_not_a_stream(stream: Any) -> None:
    with pytest.raises(BadInput, match=r"load_stream\('noaa"):
        prequential(stream)


@pytest.mark.parametrize(
    "stream", [[], [STREAM, "noaa"], [np.zeros((3, 2))]], ids=["none", "a", "b"]
)
def test_every_lane_needs_a_stream(stream: Any) -> None:
    with pytest.raises((BadInput, BadOption)):
        prequential(stream)


def test_a_stream_without_rows() -> None:
    with pytest.raises(BadOption, match="no rows"):
        prequential(STREAM.head(0))


def test_a_backbone_that_answers_nonsense_is_named(tmp_path: Path) -> None:
    def nonsense(X: Any, y: Any, query: Any) -> dict[int, float]:
        return dict.fromkeys(sorted(set(y)), math.nan)

    with pytest.raises(BadInput, match="check the backbone"):
        prequential(STREAM, **SMALL, backbone=backbones_made.Voting(nonsense), out=tmp_path)


def test_an_output_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(CheckpointError, match="taken"):
        prequential(STREAM, **SMALL, out=tmp_path / "taken")


# ---- The real streams ----------------------------------------------------------------------------


def test_the_floor_of_rialto_is_its_label_order(data_dir: Path) -> None:
    """RIALTO's labels are the row index modulo 10; shuffling within blocks takes that away."""
    stream = load_stream("rialto", data_dir=data_dir)
    ordered = prequential(stream, learner="nochange", limit=3000)
    assert ordered.floors["period"] > 0.99
    assert ordered.accuracy == 0.0
    shuffled = prequential(stream, learner="nochange", limit=3000, shuffle_within=100)
    assert shuffled.floors["period"] < 0.2
