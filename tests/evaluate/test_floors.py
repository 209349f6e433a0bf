"""The label-only rules against brute force on whole label lists, with late and missing labels."""

from __future__ import annotations

import io
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond import load_stream
from millpond.errors import BadInput, BadOption, CheckpointError
from millpond.evaluate.floors import LabelFloors, Majority, NoChange, Period, Rule, Successor

NEVER = 10**6
Arrivals = list[tuple[int, int]]  # (row, label) in the order of arrival


@st.composite
def schedules(draw: st.DrawFn, most: int = 60, latest: int = 12) -> tuple[list[int], list[int]]:
    """Labels, and for each the number of rows after which it arrives (0: before the next row)."""
    # A short motif in a loop with some noise, so that periods and successors mean something.
    codes = st.integers(0, draw(st.integers(0, 4)))
    motif = draw(st.lists(codes, min_size=1, max_size=8))
    noise = draw(st.lists(st.one_of(st.none(), st.none(), codes), max_size=most))
    labels = [motif[t % len(motif)] if n is None else n for t, n in enumerate(noise)]
    delay = st.one_of(st.just(draw(st.integers(0, 9))), st.integers(0, latest), st.just(NEVER))
    delays = draw(st.lists(delay, min_size=len(labels), max_size=len(labels)))
    return labels, delays


def arriving(labels: list[int], delays: list[int]) -> Iterator[tuple[int, Arrivals]]:
    """Each row, and the labels that arrive between its prediction and the next row's."""
    for now in range(len(labels)):
        yield now, [(r, labels[r]) for r in range(now + 1) if r + delays[r] == now]


def brute_no_change(row: int, arrived: Arrivals) -> int:
    return arrived[-1][1] if arrived else -1


def most_frequent(labels: list[int]) -> int:
    counts = Counter(labels)
    return max(counts, key=lambda y: (counts[y], y), default=-1)


def brute_majority(row: int, arrived: Arrivals) -> int:
    return most_frequent([y for _, y in arrived])


def brute_successor(row: int, arrived: Arrivals) -> int:
    labels = [y for _, y in arrived]
    after = [b for a, b in itertools.pairwise(labels) if a == labels[-1]]
    return most_frequent(after) if after else most_frequent(labels)


def brute_period(row: int, arrived: Arrivals, longest: int = 100) -> int:
    """With every label remembered: true to `Period` while nothing is too old for it."""
    known = dict(arrived)
    if not known:
        return -1
    right = {p: sum(known.get(r - p) == y for r, y in known.items()) for p in range(1, longest + 1)}
    p = min(right, key=lambda p: (-right[p], p))
    same_phase = [r for r in known if r < row and (row - r) % p == 0]
    return known[max(same_phase, default=max(known))]


@pytest.mark.parametrize(
    ("rule", "brute"),
    [
        (NoChange, brute_no_change),
        (Majority, brute_majority),
        (Successor, brute_successor),
        (Period, brute_period),
    ],
)
@given(schedule=schedules())
def test_each_rule_equals_brute_force_on_the_full_lists(
    rule: type[Rule],
    brute: Callable[[int, Arrivals], int],
    schedule: tuple[list[int], list[int]],
) -> None:
    learner, arrived = rule(), []
    for row, new in arriving(*schedule):
        assert learner.predict(row) == brute(row, arrived)
        for r, y in new:
            learner.learn(r, y)
            arrived.append((r, y))


class ForgetfulPeriod:
    """`Period` as its docstring says it, with dictionaries and loops."""

    def __init__(self, longest: int) -> None:
        self.longest, self.newest = longest, -1
        self.known: dict[int, int] = {}
        self.right = Counter(dict.fromkeys(range(1, longest + 1), 0))

    def learn(self, row: int, y: int) -> None:
        if row <= self.newest - 10 * self.longest:
            return
        self.newest = max(self.newest, row)
        self.known = {r: v for r, v in self.known.items() if r > self.newest - 10 * self.longest}
        for p in self.right:
            self.right[p] += (self.known.get(row - p) == y) + (self.known.get(row + p) == y)
        self.known[row] = y

    def predict(self, row: int) -> int:
        if not self.known:
            return -1
        p = min(self.right, key=lambda p: (-self.right[p], p))
        same_phase = [r for r in self.known if r < row and (row - r) % p == 0]
        return self.known[max(same_phase, default=self.newest)]


@given(
    seed=st.integers(0, 10**6),
    longest=st.integers(1, 4),
    classes=st.integers(2, 4),
    latest=st.sampled_from([0, 3, 15, 60]),
    missing=st.sampled_from([0.0, 0.3, 0.9]),
    gap=st.sampled_from([0, 3, 45]),
)
def test_period_forgets_what_is_too_old_and_only_that(
    seed: int, longest: int, classes: int, latest: int, missing: float, gap: int
) -> None:
    rng = np.random.default_rng(seed)
    n = 150  # some spans of 10 to 40 rows
    labels = rng.integers(0, classes, n).tolist()
    delays = np.where(rng.random(n) < missing, NEVER, rng.integers(0, latest + 1, n)).tolist()
    # A stretch without labels, shorter or longer than what is remembered.
    start = int(rng.integers(0, n))
    delays[start : start + gap] = [NEVER] * len(delays[start : start + gap])
    rule, brute = Period(longest), ForgetfulPeriod(longest)
    for row, new in arriving(labels, delays):
        ahead = row + int(rng.integers(0, 20))
        assert rule.predict(row) == brute.predict(row)
        assert rule.predict(ahead) == brute.predict(ahead)
        for r, y in new:
            rule.learn(r, y)
            brute.learn(r, y)


@pytest.mark.parametrize("delay", [0, 7, 5000])
def test_period_finds_the_period_at_any_constant_delay(delay: int) -> None:
    motif = [0, 1, 1, 2, 0, 2, 2, 1, 0, 0, 1, 2, 2]
    rule, hits = Period(), 0
    for t in range(delay + 300):
        if t >= delay + 100:
            hits += rule.predict(t) == motif[t % 13]
        if t >= delay:
            rule.learn(t - delay, motif[(t - delay) % 13])
    assert rule.period == 13
    assert hits == 200


def test_period_prefers_the_smaller_of_equally_good_periods() -> None:
    rule = Period(longest=6)
    for row, y in enumerate([0, 1, 0, 0]):
        rule.learn(row, y)
    assert rule.period == 1  # 1, 2 and 3 were right once each
    rule.learn(4, 1)
    assert rule.period == 3  # right twice
    assert rule.predict(5) == 0


@given(schedules(), st.integers(0, 60), st.integers(0, 3))
def test_a_restored_state_continues_exactly(
    schedule: tuple[list[int], list[int]], cut: int, ahead: int
) -> None:
    labels, delays = schedule
    whole, second = LabelFloors(5), LabelFloors(1)
    running = [whole]
    for row in range(min(ahead, len(labels))):  # rows predicted ahead wait for their score
        whole.predict(row)
    for row, new in arriving(labels, delays):
        if row == cut:
            file = io.BytesIO()
            np.savez(file, **whole.state())
            file.seek(0)
            second.restore(dict(np.load(file, allow_pickle=False)))
            running.append(second)
        for floors in running:
            if row + ahead < len(labels):
                floors.predict(row + ahead)
            floors.score(row, None if labels[row] == 4 else labels[row])
            for r, y in new:
                floors.learn(r, y)
    if cut < len(labels):
        assert second.accuracies() == pytest.approx(whole.accuracies(), rel=0, nan_ok=True)
        assert second.n_classes == 5
        assert whole.state().keys() == second.state().keys()
        for name, array in whole.state().items():
            assert array.dtype == second.state()[name].dtype
            np.testing.assert_array_equal(array, second.state()[name])


@given(schedules(), st.integers(1, 9))
def test_floors_count_what_the_rules_answer(
    schedule: tuple[list[int], list[int]], chunk: int
) -> None:
    labels, delays = schedule
    floors = LabelFloors(5)
    brutes = (brute_no_change, brute_majority, brute_successor, brute_period)
    hits, arrived, scored = [0, 0, 0, 0], [], 0
    steps = list(arriving(labels, delays))
    for start in range(0, len(steps), chunk):
        rows = range(start, min(start + chunk, len(steps)))
        for row in rows:
            floors.predict(row)
        for row in rows:
            if row % 5 == 3:
                floors.score(row, None)
                continue
            floors.score(row, labels[row])
            scored += 1
            for i, brute in enumerate(brutes):
                hits[i] += brute(row, arrived) == labels[row]
        for row in rows:
            for r, y in steps[row][1]:
                floors.learn(r, y)
                arrived.append((r, y))
    assert list(floors.accuracies()) == ["nochange", "majority", "successor", "period"]
    assert floors.n == scored
    assert floors.state()["pending"].shape == (0, 5)
    if scored:
        assert list(floors.accuracies().values()) == [h / scored for h in hits]
        assert floors.best()[1] == max(hits) / scored
    else:
        assert all(math.isnan(a) for a in floors.accuracies().values())


def test_the_simpler_of_equally_good_floors_is_the_best() -> None:
    floors = LabelFloors(2)
    for row in range(10):
        floors.predict(row)
        floors.score(row, 1)
        floors.learn(row, 1)
    assert floors.best() == ("nochange", 0.9)


def test_codes_outside_the_classes_are_refused_until_they_are_known() -> None:
    floors = LabelFloors(2)
    floors.predict(0)
    before = floors.state()
    for bad in (2, -1):
        with pytest.raises(BadInput, match="grow"):
            floors.score(0, bad)
        with pytest.raises(BadInput, match="grow"):
            floors.learn(0, bad)
    assert all(np.array_equal(array, before[name]) for name, array in floors.state().items())
    floors.grow(3)
    floors.grow(2)  # never fewer
    floors.score(0, 2)
    floors.learn(0, 2)
    floors.predict(1)
    floors.score(1, 2)
    assert floors.accuracies()["nochange"] == 0.5


def test_a_row_is_scored_once_and_after_its_prediction() -> None:
    floors = LabelFloors(2)
    with pytest.raises(BadInput, match="call predict"):
        floors.score(4, 1)
    floors.predict(4)
    floors.score(4, None)
    with pytest.raises(BadInput, match="call predict"):
        floors.score(4, 1)
    assert floors.n == 0


def test_options_outside_their_range() -> None:
    with pytest.raises(BadOption, match="n_classes"):
        LabelFloors(0)
    with pytest.raises(BadOption, match="longest"):
        Period(longest=0)


def test_a_state_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    floors = LabelFloors(2)
    for row in range(5):
        floors.predict(row)
        floors.score(row, row % 2)
        floors.learn(row, row % 2)
    before = floors.state()
    for name in before:
        missing = {key: array for key, array in before.items() if key != name}
        with pytest.raises(CheckpointError):
            floors.restore(missing)
    for name in before:
        with pytest.raises(CheckpointError):
            floors.restore({**before, name: np.zeros((3, 1), np.int64)})
    after = floors.state()
    assert all(np.array_equal(array, after[name]) for name, array in before.items())


@pytest.mark.parametrize(
    ("name", "percent"),
    [
        ("nomao", 94.8),
        ("poker", 74.5),
        ("noaa", 68.0),
        ("agr_a", 64.5),
        ("posture_no8", 20.3),
        ("rialto", 0.0),
    ],
)
def test_no_change_on_the_real_streams(data_dir: Path, name: str, percent: float) -> None:
    y = load_stream(name, data_dir=data_dir).y.tolist()
    rule, hits = NoChange(), 0
    for row, label in enumerate(y):
        hits += row >= 100 and rule.predict(row) == label
        rule.learn(row, label)
    assert round(100 * hits / (len(y) - 100), 1) == percent


def test_labels_alone_solve_rialto(data_dir: Path) -> None:
    floors = LabelFloors(10)
    for row, y in enumerate(load_stream("rialto", data_dir=data_dir).y.tolist()):
        if row >= 100:
            floors.predict(row)
            floors.score(row, y)
        floors.learn(row, y)
    assert floors.accuracies()["period"] == 1.0
    assert isinstance(floors.rules["period"], Period)
    assert floors.rules["period"].period == 10


# ---- Many rows at once ---------------------------------------------------------------------------


@given(
    st.lists(st.lists(st.integers(0, 4), max_size=40), max_size=6),
    st.integers(1, 7),
    st.integers(0, 3),
)
def test_many_rows_at_once_are_the_same_as_one_by_one(
    blocks: list[list[int]], longest: int, warmup: int
) -> None:
    """`longest` so short that the ring of labels wraps round and blocks are longer than it."""
    one, many = LabelFloors(5), LabelFloors(5)
    one.rules["period"], many.rules["period"] = Period(longest), Period(longest)
    row = 0
    for block, labels in enumerate(blocks):
        scored = block >= warmup
        many.follow(np.array(labels, np.int64), scored)
        for y in labels:
            if scored:
                one.predict(row)
                one.score(row, y)
            one.learn(row, y)
            row += 1
        ours, theirs = many.state(), one.state()
        assert ours.keys() == theirs.keys()
        for name in theirs:
            assert np.array_equal(ours[name], theirs[name]), name


def test_many_rows_at_once_go_on_where_single_rows_stopped() -> None:
    labels = np.random.default_rng(0).integers(0, 3, 500)
    one, both = LabelFloors(3), LabelFloors(3)
    for floors, alone in ((one, 500), (both, 123)):
        for row in range(alone):
            floors.predict(row)
            floors.score(row, int(labels[row]))
            floors.learn(row, int(labels[row]))
    both.follow(labels[123:], scored=True)
    assert both.accuracies() == one.accuracies()
    with pytest.raises(BadInput, match="class code 3"):
        both.follow(np.array([0, 3]), scored=True)
