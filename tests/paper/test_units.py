"""Units of work: what they are called, which of them step together, what is kept of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond import load_stream, prequential
from millpond.errors import CheckpointError
from millpond.paper.record import POINTS, Record, record
from millpond.paper.store import Store
from millpond.paper.units import Unit, context, together
from millpond.policies import POLICIES

UNITS = st.builds(
    context,
    st.sampled_from(["noaa", "agr_a"]),
    st.sampled_from(["knn", "rill"]),
    st.sampled_from([*POLICIES]),
    st.sampled_from([0.0, 0.3, "auto"]),
    budget=st.sampled_from([100, 1000, 4000]),
    short_ratio=st.sampled_from([0.5, 0.75]),
    chunk=st.sampled_from([1, 10]),
    delay=st.sampled_from([0, 5]),
    shuffle=st.sampled_from([None, 100]),
    limit=st.sampled_from([None, 500]),
    alone=st.booleans(),
)


@given(UNITS)
def test_a_unit_is_read_back_from_its_document(unit: Unit) -> None:
    assert Unit.read(json.loads(json.dumps(unit.document()))) == unit


def test_options_of_a_baseline_come_back_in_any_order() -> None:
    unit = Unit(
        "noaa", "moa:arf", options=(("ensemble_size", 90.0), ("grace_period", 400.0)), seed=3
    )
    document = unit.document()
    document["options"] = dict(reversed(document["options"].items()))
    assert Unit.read(document) == unit


@given(st.lists(UNITS, max_size=30))
def test_lanes_of_one_run_differ_in_their_contexts_only(units: list[Unit]) -> None:
    groups = together(units)
    assert sorted(map(str, {u for g in groups for u in g.units})) == sorted(map(str, set(units)))
    protocol = ("stream", "learner", "backbone", "chunk", "delay", "shuffle", "limit", "seed")
    for group in groups:
        assert len({tuple(getattr(u, name) for name in protocol) for u in group.units}) == 1
        assert len(group.units) == 1 or not any(u.alone for u in group.units)
    again = {g.key for g in together(units[::-1])}
    assert again == {g.key for g in groups}, "an unfinished run is found again by its key"


def test_settings_that_a_policy_does_not_look_at_are_left_out() -> None:
    assert context("noaa", "knn", "dual_fifo", 0.1) == context("noaa", "knn", "dual_fifo", 0.4)
    plain = [context("noaa", "knn", "fifo", 0.1, short_ratio=r) for r in (0.5, 0.75)]
    assert plain[0] == plain[1]
    assert context("noaa", "knn", "cure", 0.1) != context("noaa", "knn", "cure", 0.4)


def made(limit: int = 300, policy: str = "cure") -> Record:
    stream = load_stream("agr_a")
    result = prequential(stream, backbone="knn", policy=policy, budget=50, limit=limit)
    unit = context("agr_a", "knn", policy, 0.3, budget=50, limit=limit)
    return record(unit, result, stream.y[:limit], len(stream), {"device": "cpu"})


def test_a_record_knows_which_rows_were_right() -> None:
    found = Record.read(json.loads(json.dumps(made().document())))
    stream = load_stream("agr_a").head(300)
    result = prequential(stream, backbone="knn", policy="cure", budget=50)
    scored, right = found.right()
    np.testing.assert_array_equal(scored, np.arange(300) >= 100)
    np.testing.assert_array_equal(right, result.predictions == stream.y)
    assert found.accuracy == result.accuracy == right.sum() / scored.sum()
    assert found.prefix


def test_a_trajectory_is_thinned_and_ends_with_the_result() -> None:
    found = made()
    along = found.facts["trajectory"]
    assert len(along["row"]) <= POINTS
    assert along["row"][-1] == 300
    assert along["accuracy"][-1] == pytest.approx(found.accuracy, abs=1e-6)


def test_the_store_gives_back_what_was_added(tmp_path: Path) -> None:
    store, records = Store(tmp_path), [made(), made(policy="fifo")]
    store.add(records[:1])
    store.add(records[1:])
    found = Store(tmp_path).read()
    assert found == {
        r.unit: r for r in (Record.read(json.loads(json.dumps(r.document()))) for r in records)
    }


def test_a_line_that_a_crash_cut_short_is_left_out(tmp_path: Path) -> None:
    store, one = Store(tmp_path), made()
    store.add([one])
    path = tmp_path / "units" / "agr_a.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"unit": {"stream": "agr_a", "ba')
    assert [*store.read()] == [one.unit]
    path.write_bytes(whole[:-1])  # all of it but the end of the line
    assert store.read() == {}


def test_what_is_added_behind_a_cut_line_is_not_lost(tmp_path: Path) -> None:
    store, one, two = Store(tmp_path), made(), made(policy="fifo")
    store.add([one])
    path = tmp_path / "units" / "agr_a.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    store.add([two])
    assert {*store.read()} == {one.unit, two.unit}


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add([made()])
    path = tmp_path / "units" / "agr_a.jsonl"
    path.write_bytes(b"nonsense\n" + path.read_bytes())
    with pytest.raises(CheckpointError, match=r"line 1 of .*agr_a\.jsonl"):
        store.read()
