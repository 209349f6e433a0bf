"""What the page says about where its numbers come from."""

from __future__ import annotations

from typing import Any

import pytest

from millpond.report.facts import facts_sections, times_table, unscored_sentence
from millpond.report.run import read


def _pairs(result: dict[str, Any]) -> str:
    return "".join(facts_sections(read(result)))


def _fact(name: str, value: str) -> str:
    return f"<dt>{name}</dt><dd>{value}</dd>"


def test_facts_are_written_for_people(result: dict[str, Any]) -> None:
    page = _pairs(result)
    assert _fact("rows", "30,000") in page
    assert _fact("rows in this run", "2,000") in page
    assert "rows in this run" not in _pairs({**result, "rows": 30000})
    assert _fact("malformed rows dropped", "1") in page
    assert _fact("classes", "2 classes: c0, c1") in page
    assert _fact("seed", "12345") in page  # no thousands: it is a name
    assert _fact("shuffle within", "none") in page
    assert _fact("short ratio", "0.75") in page
    assert _fact("numpy", "2.1.3") in page


def test_feature_names_are_counted_and_many_classes_cut(result: dict[str, Any]) -> None:
    result["stream"]["features"] = ["a", "b", "c"]
    result["stream"]["classes"] = [f"k{i}" for i in range(40)]
    page = _pairs(result)
    assert _fact("features", "3") in page
    assert "40 classes: k0, k1" in page
    assert "k11, …" in page
    assert "k12" not in page


def test_a_resumed_run_says_where(result: dict[str, Any]) -> None:
    assert "resumed" not in _pairs(result)
    result["resumed_from"] = 1200
    assert _fact("resumed from row", "1,200") in _pairs(result)


@pytest.mark.parametrize(
    ("unscored", "why", "sentence"),
    [
        (0, {}, "every row was scored"),
        (
            103,
            {"warmup": 100, "one_class": 3},
            "103 not scored: 100 warm-up, 3 one class in the context",
        ),
        (5, {}, "5 not scored"),
    ],
)
def test_what_was_not_scored(
    result: dict[str, Any], unscored: int, why: dict[str, int], sentence: str
) -> None:
    assert (
        unscored_sentence(read({**result, "unscored": unscored, "unscored_why": why})) == sentence
    )


def test_times_are_taken_apart(result: dict[str, Any]) -> None:
    page = times_table(read(result))
    row = '<th scope="row">{}</th><td>{}</td><td>{}</td><td>{}</td>'
    assert row.format("fit", "190 ms", "0.100", "6.3%") in page
    assert row.format("predict", "1.9 s", "1.00", "63.3%") in page
    assert row.format("evict", "910 ms", "0.479", "30.3%") in page
    assert row.format("total", "3.0 s", "1.58", "100.0%") in page
