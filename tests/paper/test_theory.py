"""What is measured on the exact model: no bound violated, and what the proxies choose."""

from __future__ import annotations

import numpy as np
import pytest

from millpond import Context
from millpond.paper import theory
from millpond.paper.exact import Chain
from millpond.policies import POLICIES

stats = pytest.importorskip("scipy.stats")

CHAINS = {name: Chain(noise) for name, noise in theory.NOISES.items()}


@pytest.mark.parametrize("name", CHAINS)
def test_no_bound_is_violated(name: str) -> None:
    m = theory.measured(CHAINS[name], 60)
    assert (m["gap"] <= m["lemma 1"] + 1e-9).all()
    assert (m["local"] >= m["bound"] - 1e-9).all()
    assert (m["gain"] >= m["local"] - 1e-9).all()
    assert (m["delta"] >= 0).all()


def test_entropy_finds_the_gain_where_noise_is_even_and_not_where_it_is_uneven() -> None:
    """The theorem's epsilon is what tells the two apart; the stored entropy does not know it."""
    found = {}
    for name, chain in CHAINS.items():
        m = theory.measured(chain)
        found[name] = theory.correlation(m["entropy"], m["gain"])
        assert found[name] == pytest.approx(stats.spearmanr(m["entropy"], m["gain"]).statistic)
    assert found["none"] > 0.8
    assert found["10%"] > 0.8
    assert found["2%, 40%"] < 0.3


def test_a_duplicate_costs_nothing_only_without_noise() -> None:
    assert theory.eta(CHAINS["none"], 60)[0] == pytest.approx(0.0, abs=1e-12)
    assert theory.eta(CHAINS["10%"], 60)[0] > 0.01


def test_losses_are_differences_of_usefulness() -> None:
    chain, future = CHAINS["10%"], theory.around(4.0)
    context = Context("redundancy_only", budget=6, short_ratio=0.5)
    for place, label in [(1, 0), (2, 1), (2, 1), (7, 0), (5, 1), (4, 1)]:
        context.observe([float(place)], label)
    found = theory.losses(chain, context, future)
    assert [*found] == [0, 1, 2]
    rows = [(2, 1), (2, 1), (7, 0), (5, 1), (4, 1)]
    whole = chain.usefulness(chain.counts([(1, 0), *rows]))
    assert found[0] == pytest.approx(float(future @ (whole - chain.usefulness(chain.counts(rows)))))
    assert found[1] == pytest.approx(found[2])


@pytest.mark.parametrize("name", CHAINS)
def test_the_least_loss_is_the_least(name: str) -> None:
    found = theory.removal(CHAINS[name], 40)
    assert found["best"] <= min(found.values())


def test_the_model_is_the_best_backbone_for_its_own_streams() -> None:
    """Its posterior over a window of all rows is right as often as the noise lets it."""
    chain = CHAINS["10%"]
    _, futures = theory.stream_of(chain, 0)
    assert futures.sum(1) == pytest.approx(np.ones(theory.STEPS))
    kept = theory.along(chain, ["cure", "fifo"], streams=1)
    assert [*kept] == ["cure", "fifo", "ideal"]
    for useful, accuracy in kept.values():
        assert 0 < useful < np.log(2)
        assert 0.5 < accuracy <= 0.95


def test_the_policies_of_the_sheet_are_all_there() -> None:
    assert {*theory.POLICIES, "fifo"} == {*POLICIES}
