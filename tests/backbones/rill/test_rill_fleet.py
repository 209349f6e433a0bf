"""A fleet on Rill: keys spilled with their caches come back bit for bit; answers are a classifier's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rill_random import write_weights

from millpond import Fleet, StreamClassifier
from millpond.backbones.rill import Rill
from millpond.fleet import Operation
from millpond.state import State


@pytest.fixture
def rill(tmp_path: Path) -> Rill:
    return Rill(weights=write_weights(tmp_path / "weights.npz"))


def lane(fleet: Fleet, key: int) -> State:
    keyed = fleet._key(key)
    assert keyed.place is not None
    return fleet._pools.state(keyed.place)


@pytest.mark.parametrize("durable", [False, True])
def test_a_key_that_was_spilled_comes_back_bit_for_bit(
    rill: Rill, durable: bool, tmp_path: Path
) -> None:
    """Caches included; and then answers what it would have answered."""
    rng = np.random.default_rng(1)
    data = tmp_path / "data" if durable else None
    options = {"budget": 16, "tau": 0.3}
    with Fleet(rill, **options, resident=2, data=data) as fleet:
        alone = StreamClassifier(rill, **options)
        for t in range(60):
            x, y = rng.normal(size=3).round(2).tolist(), t % 3
            assert fleet.predict_proba_one(x, key=0) == alone.predict_proba_one(x)
            fleet.learn_one(x, y, key=0)
            alone.learn_one(x, y)
            if t % 7 == 0:
                before = lane(fleet, 0)
                for other in (1, 2, 3):
                    fleet.learn_one([1.0, 2.0, float(other)], t % 2, key=other)
                assert "0" not in [keyed.name for keyed in fleet._residents]
                after = lane(fleet, 0)
                assert before.keys() == after.keys()
                for name, array in before.items():
                    np.testing.assert_array_equal(array, after[name])
        assert fleet.memory()["returned"] >= 8


def test_a_batch_of_lanes_answers_as_single_classifiers_do(rill: Rill) -> None:
    """To rounding, which depends on the batch."""
    rng = np.random.default_rng(2)
    keys = range(7)
    alone = [StreamClassifier(rill, budget=14, tau=0.3) for _ in keys]
    with Fleet(rill, budget=14, tau=0.3) as fleet:
        for t in range(50):
            rows = [rng.normal(size=2 + (key > 4)).round(2).tolist() for key in keys]
            asked = [Operation("predict", key, rows[key], id=t) for key in keys]
            for key, answer in zip(keys, fleet.answer(asked), strict=True):
                proba = answer.probabilities  # type: ignore[union-attr]
                assert proba == pytest.approx(
                    alone[key].predict_proba_one(rows[key], key=t), abs=1e-4
                )
            fleet.answer([Operation("learn", key, None, (t + key) % 3, t) for key in keys])
            for key in keys:
                alone[key].learn_one(y=(t + key) % 3, key=t)


def test_recovery_does_not_predict_again(rill: Rill, tmp_path: Path) -> None:
    """A killed fleet's log, replayed: the same rows, labels, scores and answers, by fingerprint."""
    rng = np.random.default_rng(3)
    fleet = Fleet(rill, budget=12, tau=0.3, data=tmp_path / "data", snapshot_every=15)
    for t in range(40):
        for key in range(3):
            fleet.predict_one(rng.normal(size=2).tolist(), key=key, id=t)
            if t >= 4:
                fleet.learn_one(y=t % 3, key=key, id=t - 4)
    before = fleet.fingerprint()
    fleet.close()
    with Fleet(rill, budget=12, tau=0.3, data=tmp_path / "data", snapshot_every=15) as again:
        again._pools.predict = None  # type: ignore[assignment,method-assign]
        assert again.fingerprint() == before
