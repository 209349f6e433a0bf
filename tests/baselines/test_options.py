"""The options of the classical baselines: defaults, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from millpond.baselines.options import ENSEMBLES, TREES, checked_options
from millpond.errors import BadOption


def test_only_an_ensemble_has_a_size() -> None:
    for tree in TREES:
        assert "ensemble_size" not in checked_options(f"moa:{tree}", {})
    for ensemble in ENSEMBLES:
        assert checked_options(f"river:{ensemble}", {})["ensemble_size"] == 90


def test_what_is_given_replaces_the_default_and_nothing_else() -> None:
    options = checked_options("moa:arf", {"tie_threshold": 0, "ensemble_size": 3})
    assert options == {
        "grace_period": 200,
        "tie_threshold": 0.0,
        "split_confidence": 1e-7,
        "ensemble_size": 3,
    }


@pytest.mark.parametrize(
    ("learner", "option"),
    [
        ("moa:vfdt", {"ensemble_size": 3}),
        ("moa:vfdt", {"budget": 1000}),
        ("moa:arf", {"ensemble_size": 0}),
        ("moa:arf", {"ensemble_size": 2.5}),
        ("moa:arf", {"ensemble_size": True}),
        ("river:efdt", {"grace_period": "many"}),
        ("river:efdt", {"tie_threshold": 1.5}),
        ("river:efdt", {"tie_threshold": float("nan")}),
        ("river:efdt", {"split_confidence": "small"}),
    ],
)
def test_refuses_by_name(learner: str, option: dict[str, Any]) -> None:
    with pytest.raises(BadOption, match=next(iter(option))):
        checked_options(learner, option)
