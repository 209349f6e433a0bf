"""A session taken up by other weights, against the definition."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rill_random import TINY, random_arrays, write_weights
from rill_slowly import SlowRill
from test_rill_session import AGREED, Pair, rows_of

from millpond import StreamClassifier
from millpond.backbones.rill import Rill
from millpond.context import Contexts

ENGINES = ["numpy", "torch"]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Rill]:
    folder = tmp_path_factory.mktemp("weights")

    def made(seed: int = 0, engine: str = "numpy") -> Rill:
        if engine == "torch":
            pytest.importorskip("torch")
        path = folder / f"{seed}.npz"
        weights = path if path.exists() else write_weights(path, seed=seed)
        return Rill(weights=weights, engine=engine)

    return made


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("policy", ["fifo", "cure"])
def test_other_weights_encode_the_rows_that_are_there(make, engine: str, policy: str) -> None:
    """The definition is told the context's rows with statistics that stand still; then both go on."""
    pair = Pair(make(engine=engine), 5, policy=policy, budget=16, short_ratio=0.6, tau=0.5)
    X, y = rows_of(1, 400)
    for x, label in zip(X[:300], y[:300], strict=True):
        pair.step(x, int(label))
    statistics = pair.slow.features
    state, contexts = pair.session.state(), pair.contexts

    pair.slow = slow = SlowRill(random_arrays(TINY, seed=1), TINY, 5)
    slow.features = statistics
    learn, statistics.learn = statistics.learn, lambda row: None
    slots, n_long = contexts.slots_of(0), contexts.banks[0].n_long
    arrivals = contexts.arrival[0, slots].tolist()
    for place, slot in enumerate(slots):
        slow.t = arrivals[place]
        slow.add(arrivals[place], contexts.X[0, slot], int(contexts.y[0, slot]))
        if 0 < place <= n_long:
            slow.promote(arrivals[place - 1])
    statistics.learn = learn
    assert (n_long > 0) == (policy == "cure")
    assert not (np.diff(arrivals) == 1).all() or policy == "fifo"

    pair.session = make(1, engine).open(contexts)
    pair.session.encode_anew(state)
    pair.worst = 0.0
    for x, label in zip(X[300:], y[300:], strict=True):
        pair.step(x, int(label))
    assert pair.worst < AGREED


@pytest.mark.parametrize("engine", ENGINES)
def test_lanes_are_taken_up_as_if_alone(make, engine: str) -> None:
    both, alone = Contexts(2, budget=8, tau=0.2), Contexts(1, budget=8, tau=0.2)
    sessions = [make(engine=engine).open(contexts) for contexts in (both, alone)]
    X, y = rows_of(2, 50)
    for x, label in zip(X, y, strict=True):
        for lanes, contexts, session in ((2, both, sessions[0]), (1, alone, sessions[1])):
            rows = np.stack([x, x[::-1]])[:lanes]
            score = np.array([abs(x[0]) % 1, 0.5])[:lanes]
            told = contexts.observe(
                rows, np.array([label, 1 - label % 2])[:lanes], score, range(lanes)
            )
            session.update(told)
    taken = [make(1, engine).open(contexts) for contexts in (both, alone)]
    for session, before in zip(taken, sessions, strict=True):
        session.encode_anew(before.state())
    found = taken[0].predict(X[None, :1], np.array([0]))[0].proba
    assert found == pytest.approx(taken[1].predict(X[None, :1], np.array([0]))[0].proba, abs=1e-6)


def test_a_loaded_classifier_goes_on_with_other_weights(tmp_path: Path) -> None:
    """What a later version's weights do to a saved classifier: same rows, new answers, no error."""
    weights, path = tmp_path / "weights.npz", tmp_path / "it"
    write_weights(weights)
    options: dict[str, Any] = {"weights": str(weights), "budget": 12, "tau": 0.3}
    classifier = StreamClassifier("rill", "cure", **options)
    for t in range(60):
        classifier.learn_one({"u": t % 5, "kind": "ab"[t % 2]}, "xyz"[t % 3])
    classifier.predict_one({"u": 1}, key="waits")
    classifier.save(path)
    same = StreamClassifier.load(path).predict_proba_one({"u": 2})
    assert same == classifier.predict_proba_one({"u": 2})

    write_weights(weights, seed=1)
    other = StreamClassifier.load(path)
    fingerprint = other.fingerprint()
    assert fingerprint == StreamClassifier.load(path).fingerprint()
    proba = other.predict_proba_one({"u": 2})
    assert list(proba) == list(same)
    assert sum(proba.values()) == pytest.approx(1)
    assert list(proba.values()) != pytest.approx(list(same.values()), abs=1e-3)
    other.learn_one(y="x", key="waits")
    other.save(path)
    again = StreamClassifier.load(path)
    assert again.fingerprint() == other.fingerprint()
    assert again.predict_proba_one({"u": 2}) == other.predict_proba_one({"u": 2})
