"""A fleet's keys are classifiers, each with rows of its own, whatever the others do."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backbones_made import Cached, Voting
from millpond import Fleet, StreamClassifier
from millpond.errors import BadInput, BadOption, MillpondError, StoreError, TooMany
from millpond.fleet import Answer, Operation

OPTIONS: dict[str, Any] = {"budget": 12, "short_ratio": 0.5, "tau": 0.3}


def rows_of(key: int, rows: int = 40) -> list[tuple[Any, Any]]:
    """Rows of a kind of its own for each key: other widths, names, categories, columns that come late."""
    rng = np.random.default_rng(key)
    made: list[tuple[Any, Any]] = []
    for t in range(rows):
        x: Any = rng.normal(size=2 + key % 3).round(1).tolist()
        if key % 4 == 3:
            x = {"u": x[0], "kind": str(rng.choice(["a", "b", "c"]))}
            if t > rows // 2:
                x["late"] = float(t % 5)
        made.append((x, ["no", "yes", 3][int(rng.integers(0, 2 + (t > 20)))]))
    return made


@pytest.mark.parametrize("backbone", ["knn", Voting()], ids=["knn", "voting"])
@pytest.mark.parametrize("resident", [100, 3])
@pytest.mark.parametrize("tau", [0.3, "auto"])
def test_every_key_is_a_classifier_of_its_own(backbone: Any, resident: int, tau: Any) -> None:
    """One by one and in any mixture, in memory or spilled in between: the same answers, bit by bit."""
    options = {**OPTIONS, "tau": tau}
    keys = [f"key {k}" for k in range(8)]
    alone = {key: StreamClassifier(backbone, **options, waiting=1000) for key in keys}
    left = {key: rows_of(k) for k, key in enumerate(keys)}
    rng = np.random.default_rng(5)
    with Fleet(backbone, **options, resident=resident) as fleet:
        while any(left.values()):
            key = str(rng.choice([key for key in keys if left[key]]))
            t, (x, y) = len(left[key]), left[key].pop(0)
            id = None if t % 3 == 0 else t
            proba = fleet.predict_proba_one(x, key=key, id=id)
            assert proba == alone[key].predict_proba_one(x, key=id)
            if t % 5:
                given = None if id is not None and t % 2 else x
                fleet.learn_one(given, y, key=key, id=id)
                alone[key].learn_one(given, y, key=id)
        for key in keys:
            keyed = fleet._key(key)
            assert keyed.intake.state() == alone[key]._intake.state()
            facts, expected = fleet._pools.facts(keyed.place), alone[key]._learner.contexts.facts()  # type: ignore[arg-type]
            assert facts.keys() == expected.keys()
            for name, array in facts.items():
                np.testing.assert_array_equal(array, expected[name])
        assert (fleet.memory()["spilled"] > 20) == (resident == 3)
        assert fleet.memory()["resident"] <= resident


def play(fleet: Fleet, batches: list[list[Operation]]) -> list[Any]:
    return [[_plain(a) for a in fleet.answer(batch)] for batch in batches]


def _plain(answer: Answer | MillpondError) -> Any:
    return answer if isinstance(answer, Answer) else (type(answer), str(answer))


def batches_of(seed: int, keys: int = 6, rows: int = 60) -> list[list[Operation]]:
    """Operations of several keys, several of one key in a batch, some wrong, some repeated."""
    rng = np.random.default_rng(seed)
    batches: list[list[Operation]] = []
    for t in range(rows):
        batch = []
        for _ in range(int(rng.integers(1, 9))):
            key, id = int(rng.integers(keys)), int(rng.integers(40))
            x = np.random.default_rng((key, id)).normal(size=2).tolist()
            match int(rng.integers(8)):
                case 0 | 1 | 2:
                    batch.append(Operation("predict", key, x, id=id))
                case 3 | 4 | 5:
                    batch.append(Operation("learn", key, x, id % 3, id))
                case 6:
                    batch.append(Operation("learn", key, None, t % 3, id))
                case 7:
                    batch.append(Operation("predict", key, [1.0, 2.0, float("inf")], id=id))
        batches.append(batch)
    return batches


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_batch_is_its_operations_one_by_one(seed: int) -> None:
    batches = batches_of(seed)
    with Fleet("knn", **OPTIONS) as together, Fleet("knn", **OPTIONS, resident=2) as single:
        answers = play(together, batches)
        one_by_one = [[play(single, [[each]])[0][0] for each in batch] for batch in batches]
        assert answers == one_by_one
        assert together.fingerprint() == single.fingerprint()
        assert any(isinstance(a, Answer) and a.repeated for batch in answers for a in batch)
        assert any(not isinstance(a, Answer) for batch in answers for a in batch)


def test_rows_of_a_batch_go_through_the_backbone_together() -> None:
    with Fleet(Voting(), **OPTIONS) as fleet:
        for key in range(5):
            fleet.learn_one([1.0, key], "a", key=key)
        session: Any = next(iter(fleet._pools._pools.values())).learner.session
        session.calls.clear()
        fleet.answer([Operation("predict", key, [0.0, 0.0]) for key in (3, 1, 4, 0)])
        assert session.calls == [(4, 1, 2)]


def test_an_operation_with_an_id_is_done_once() -> None:
    with Fleet("knn", **OPTIONS) as fleet:
        fleet.learn_one([0.0], "a", key="k", id=0)
        fleet.learn_one([1.0], "b", key="k", id=1)
        first = fleet.predict_proba_one([0.2], key="k", id=2)
        before = fleet.fingerprint()
        fleet.learn_one([1.0], "b", key="k", id=1)
        (again,) = fleet.answer([Operation("predict", "k", [0.2], id=2)])
        assert again == Answer(first, repeated=True)
        for operation in (
            Operation("predict", "k", [0.3], id=2),
            Operation("learn", "k", [1.0], "c", 1),
            Operation("learn", "k", [1.5], "b", 1),
        ):
            (refused,) = fleet.answer([operation])
            assert isinstance(refused, BadInput)
            assert "came before with another" in str(refused)
        assert fleet.fingerprint() == before
        fleet.learn_one(y="a", key="k", id=2)
        after = fleet.fingerprint()
        fleet.learn_one(y="a", key="k", id=2)
        assert fleet.fingerprint() == after != before


def test_the_last_ids_are_remembered() -> None:
    with Fleet("knn", **OPTIONS, remember=2) as fleet:
        for id in range(3):
            fleet.learn_one([float(id)], "a", key="k", id=id)
        before = fleet.describe("k")["operations"]
        fleet.learn_one([2.0], "a", key="k", id=2)
        assert fleet.describe("k")["operations"] == before
        fleet.learn_one([0.0], "a", key="k", id=0)  # too long ago
        assert fleet.describe("k")["operations"] == before + 1


BAD: dict[str, tuple[Operation, str]] = {
    "no key": (Operation("predict", None, [1.0]), "needs a key"),
    "a key that is a list": (Operation("predict", ["k"], [1.0]), "cannot be saved"),  # type: ignore[arg-type]
    "no row": (Operation("predict", "k"), "give x"),
    "an id that is a dict": (Operation("predict", "k", [1.0, 2.0], id={}), "cannot be saved"),  # type: ignore[arg-type]
    "a category that cannot be saved": (Operation("predict", "k", [1.0, 2j]), "complex"),
    "an odd category": (Operation("predict", "k", [1.0, object]), "cannot be saved"),
    "another length": (Operation("predict", "k", [1.0]), "1 features"),
    "a label that is missing": (Operation("learn", "k", [1.0, 2.0], float("nan")), "missing"),
    "a label that cannot be saved": (Operation("learn", "k", [1.0, 2.0], object), "cannot be sav"),
    "nothing waits": (Operation("learn", "k", None, "a", 99), "nothing was predicted under it"),
    "nothing to learn": (Operation("learn", "k", None, "a"), "nothing to learn"),
    "too many labels": (Operation("learn", "k", [1.0, 2.0], "third"), "2 labels already"),
}


@pytest.mark.parametrize(("operation", "says"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("durable", [False, True])
def test_what_is_refused_changes_nothing(
    operation: Operation, says: str, durable: bool, tmp_path: Path
) -> None:
    with Fleet("knn", **OPTIONS, labels=2, data=tmp_path if durable else None) as fleet:
        fleet.learn_one([1.0, 2.0], "a", key="k")
        fleet.learn_one([1.0, 3.0], "b", key="k")
        before = fleet.fingerprint()
        good = Operation("predict", "other", [1.0])
        refused, answered = fleet.answer([operation, good])
        assert isinstance(refused, BadInput)
        assert says in str(refused)
        assert isinstance(answered, Answer)
        fleet.forget("other")
        assert fleet.fingerprint() == before
        assert fleet.keys() == ["k"]


def test_a_key_that_was_only_asked_wrongly_is_none() -> None:
    with Fleet("knn", **OPTIONS, keys=1) as fleet:
        with pytest.raises(BadInput):
            fleet.predict_one([float("inf")], key="a")
        assert len(fleet) == 0
        fleet.learn_one([1.0], 1, key="b")
        assert "b" in fleet
        with pytest.raises(TooMany, match="1 keys already"):
            fleet.predict_one([1.0], key="a")
        with pytest.raises(BadInput, match="no key 'a'"):
            fleet.describe("a")
        fleet.forget("a")  # nothing to forget


def test_keys_come_back_by_type() -> None:
    keys: list[Any] = ["1", 1, 1.5, True, ("a", 1), b"x"]
    with Fleet("knn", **OPTIONS, resident=2) as fleet:
        for k, key in enumerate(keys):
            fleet.learn_one([float(k)], k, key=key)
        assert {(type(key), key) for key in list(fleet.keys())} == {
            (type(key), key) for key in keys
        }
        for k, key in enumerate(keys):
            assert fleet.predict_one([0.0], key=key) == k


def test_what_a_key_holds() -> None:
    with Fleet("knn", **OPTIONS) as fleet:
        fleet.predict_one({"u": 1.0}, key="k", id=1)
        assert fleet.describe("k") == {
            "operations": 1, "labels": [], "features": 0, "waiting": 1, "forgotten": 0, "banks": None,
        }  # fmt: skip
        for t in range(20):
            fleet.learn_one({"u": float(t), "v": 1.0}, "ab"[t % 2], key="k")
        told = fleet.describe("k")
        assert told["labels"] == ["a", "b"]
        assert told["features"] == 2
        assert told["banks"]["short"] == 6
        assert told["banks"]["short"] + told["banks"]["long"] + told["banks"]["evicted"] == 20
        memory = fleet.memory()
        assert memory["lane_bytes"] > 0
        assert memory["keys"] == memory["resident"] == 1


def test_lanes_are_given_back_and_pools_grow() -> None:
    with Fleet("knn", **OPTIONS, resident=40) as fleet:
        for key in range(30):
            fleet.learn_one([float(key)], key % 2, key=key)
        before = {key: fleet.fingerprint(key) for key in range(20, 30)}
        assert fleet._pools._pools[1].lanes == 40  # 16, then as many as may be in memory
        for key in range(20):
            fleet.forget(key)
        assert len(fleet._pools._pools[1].free) == 30
        assert {key: fleet.fingerprint(key) for key in range(20, 30)} == before
        for key in range(20, 30):
            fleet.forget(key)
        assert not fleet._pools._pools


def test_threads_that_come_together() -> None:
    """Each thread's keys are as if it had been alone."""
    with Fleet("knn", **OPTIONS, resident=5) as fleet, Fleet("knn", **OPTIONS) as alone:

        def feed(into: Fleet, key: int) -> None:
            for t, (x, y) in enumerate(rows_of(key, 30)):
                into.predict_one(x, key=key, id=t)
                into.learn_one(y=y, key=key, id=t)

        threads = [threading.Thread(target=feed, args=(fleet, key)) for key in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for key in range(8):
            feed(alone, key)
        assert fleet.fingerprint() == alone.fingerprint()


@pytest.mark.parametrize("option", ["resident", "keys", "labels", "waiting", "remember"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "many"])
def test_options_out_of_range(option: str, value: Any) -> None:
    with pytest.raises(BadOption, match=f"{option} must be a whole number"):
        Fleet("knn", **{option: value})


def test_a_backbone_whose_lanes_cannot_move() -> None:
    with pytest.raises(BadOption, match="cannot be taken out one by one"):
        Fleet(Cached(), **OPTIONS)


def test_a_fleet_that_is_closed_or_broken_takes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = Fleet("knn", **OPTIONS)
    fleet.learn_one([1.0], 1, key=1)
    monkeypatch.setattr(fleet._pools, "predict", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fleet.predict_one([1.0], key=1)
    with pytest.raises(StoreError, match="takes no more: it broke: ZeroDivisionError"):
        fleet.predict_one([1.0], key=2)
    fleet.close()
    fleet.close()
    assert not fleet._store.folder.exists()
