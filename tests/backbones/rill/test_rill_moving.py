"""Sessions whose rows get wider, and sessions that are copied, pickled or mapped from a file."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rill_random import write_weights

from millpond.backbones.rill import Rill
from millpond.context import Contexts

LANES = np.arange(2)


@pytest.fixture(scope="module", params=["numpy", "torch"])
def rill(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Rill:
    if request.param == "torch":
        pytest.importorskip("torch")
    return Rill(
        weights=write_weights(tmp_path_factory.mktemp("weights") / "w.npz"), engine=request.param
    )


class Two:
    """Two lanes of one session."""

    def __init__(self, rill: Rill) -> None:
        self.contexts = Contexts(2, policy="dual_fifo", budget=20, short_ratio=0.5)
        self.session: Any = rill.open(self.contexts)

    def ask(self, x: np.ndarray) -> np.ndarray:
        found = self.session.predict(np.stack([x, -x])[:, None], LANES)
        return np.array([prediction.proba[0] for prediction in found])

    def learn(self, x: np.ndarray, y: int) -> None:
        X, labels = np.stack([x, -x]), np.array([y, 1 - y])
        self.session.update(self.contexts.observe(X, labels, np.zeros(2), [0, 1]))


def rows(n: int, features: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, features)).astype(np.float32)
    return list(zip(X, (X[:, 0] > 0).astype(int).tolist(), strict=True))


def test_a_column_that_comes_late_was_missing_until_then(rill: Rill) -> None:
    """What is known of the other columns stays: the oracle had the column, missing, all along."""
    wider, oracle = Two(rill), Two(rill)
    for x, y in rows(70, 4):
        wider.learn(x, y)
        oracle.learn(np.append(x, np.float32([np.nan, np.nan])), y)
    wider.ask(rows(1, 4, seed=9)[0][0])  # a query that is not learned, before the rows get wider
    wider.contexts.widen(6)
    for x, y in rows(40, 6, seed=1):
        wider.learn(x, y)
        oracle.learn(x, y)
        np.testing.assert_allclose(wider.ask(x), oracle.ask(x), atol=1e-5)


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda two: pickle.loads(pickle.dumps(two))],
    ids=["deepcopy", "pickle"],
)
def test_a_copy_goes_on_alone_as_the_original_would_have(
    rill: Rill, copied: Callable[[Two], Two]
) -> None:
    original, untouched = Two(rill), Two(rill)
    for x, y in rows(30, 4):
        for two in (original, untouched):
            two.ask(x)
            two.learn(x, y)
    twin = copied(original)
    for x, y in rows(15, 4, seed=1):
        twin.ask(-x)
        twin.learn(-x, y)  # no trace of this in the original
    again = copied(original)
    for x, y in rows(30, 4, seed=2):
        expected = untouched.ask(x)
        np.testing.assert_array_equal(original.ask(x), expected)
        np.testing.assert_array_equal(again.ask(x), expected)
        for two in (original, untouched, again):
            two.learn(x, y)


def test_a_session_whose_arrays_are_read_only_is_taken_up(rill: Rill, tmp_path: Path) -> None:
    """As joblib maps a pickle's arrays from its file."""
    joblib = pytest.importorskip("joblib")
    two = Two(rill)
    for x, y in rows(30, 4):
        two.learn(x, y)
    joblib.dump(two.session, tmp_path / "it")
    mapped = joblib.load(tmp_path / "it", mmap_mode="r")
    x = rows(1, 4, seed=3)[0][0]
    found = mapped.predict(np.stack([x, -x])[:, None], LANES)
    np.testing.assert_array_equal([p.proba[0] for p in found], two.ask(x))


def test_a_row_asked_alone_has_one_answer_once_nothing_waits(tmp_path: Path) -> None:
    """To the bit, whatever was asked in between; asking for no row encodes those that wait."""
    two = Two(Rill(weights=write_weights(tmp_path / "w.npz")))
    for x, y in rows(30, 4):
        two.learn(x, y)
    two.session.predict(np.empty((2, 0, 4), np.float32), LANES)
    x = rows(1, 4, seed=3)[0][0]
    first = two.ask(x)
    two.session.predict(np.stack([np.stack([row for row, _ in rows(7, 4)])] * 2), LANES)
    np.testing.assert_array_equal(two.ask(x), first)
