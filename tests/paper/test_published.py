"""The package data: every table whole, and consistent with itself."""

from __future__ import annotations

import pytest

from millpond.paper.published import (
    METHODS,
    POLICIES,
    STREAMS,
    SWEPT,
    TAUS,
    ablation,
    main_accuracy,
    published,
    robustness,
    selected,
    selected_tau,
    sweep,
)
from millpond.streams import registry


def test_streams_are_those_of_the_registry() -> None:
    assert {entry.name: entry.label for entry in registry.entries()} == STREAMS
    for name, facts in published()["datasets"].items():
        entry = registry.entry(name)
        assert (entry.rows, entry.features, entry.classes, entry.balance) == tuple(
            facts[key] for key in ("rows", "features", "classes", "balance")
        )


def test_every_table_is_whole() -> None:
    assert {name: [*row] for name, row in main_accuracy().items()} == {
        key: [*METHODS] for key in STREAMS
    }
    assert {name: [*row] for name, row in ablation().items()} == {key: [*POLICIES] for key in SWEPT}
    assert {name: (*row,) for name, row in sweep().items()} == dict.fromkeys(SWEPT, TAUS)
    assert [*robustness()] == ["tabicl", "limix", "tabpfn", "tabdpt"]
    for table in robustness().values():
        assert {*table} == {*SWEPT}


@pytest.mark.parametrize("name", SWEPT)
def test_tables_that_repeat_a_number_agree(name: str) -> None:
    """CURE of the main table, of the ablation and at the selected tau are one run."""
    assert main_accuracy()[name]["cure"] == ablation()[name]["cure"]
    assert main_accuracy()[name]["cure"] == sweep()[name][selected_tau(name)]


def test_selected_options_are_the_learners_own_names() -> None:
    from millpond.baselines.options import checked_options

    for name in STREAMS:
        for method in METHODS:
            if method != "cure":
                chosen = selected(name, method)
                options = checked_options(
                    f"moa:{method}",
                    {k: int(v) if k != "tie_threshold" else v for k, v in chosen.items()},
                )
                assert options["grace_period"] in (100, 400, 1000)
