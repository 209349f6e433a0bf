"""The dict of a run, read once."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

from millpond.report.run import number, read


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), "0.5", np.nan, [1], {}])
def test_what_is_no_finite_number_is_none(value: object) -> None:
    assert number(value) is None


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2)])
def test_numbers_of_all_kinds(value: object) -> None:
    assert number(value) == 2.0


def test_a_result_in_memory_reads_like_its_json(result: dict[str, Any]) -> None:
    in_memory = copy.deepcopy(result)
    in_memory["confusion"] = np.array(result["confusion"])
    in_memory["trajectory"]["row"] = np.array(result["trajectory"]["row"])
    in_memory["accuracy"] = np.float64(result["accuracy"])
    loaded = json.loads(json.dumps(result))
    assert read(in_memory).trajectory == read(loaded).trajectory
    assert read(in_memory).confusion == read(loaded).confusion
    assert read(in_memory).accuracy == read(loaded).accuracy


def test_reading_changes_nothing(result: dict[str, Any]) -> None:
    before = copy.deepcopy(result)
    read(result)
    assert repr(result) == repr(before)


def test_an_empty_dict_is_a_run_without_anything() -> None:
    run = read({})
    assert (run.accuracy, run.floor, run.rows_per_second) == (None, None, None)
    assert run.per_step("fit") is None
    assert (run.classes, run.confusion, run.trajectory.row) == ([], [], [])


def test_floors_come_best_first_under_their_names_without_the_undefined(
    result: dict[str, Any],
) -> None:
    result["floors"] = {"nochange": 0.4, "majority": None, "period": 0.9, "successor": np.nan}
    run = read(result)
    assert [(f.name, f.accuracy) for f in run.floors] == [("best period", 0.9), ("no-change", 0.4)]
    assert run.floor == run.floors[0]


def test_reasons_are_named_and_those_that_never_occurred_left_out(result: dict[str, Any]) -> None:
    result["unscored_why"] = {"warmup": 100, "one_class": 3, "label_never_came": 2, "other": 0}
    assert read(result).unscored_why == {
        "warm-up": 100,
        "one class in the context": 3,
        "label never came": 2,
    }


def test_per_step_and_rate(result: dict[str, Any]) -> None:
    run = read(result)
    assert run.per_step("predict") == pytest.approx(1.9 / 1900)
    assert run.rows_per_second == pytest.approx(2000 / 4.0)
    del result["seconds"]["wall"]
    assert read(result).rows_per_second == pytest.approx(2000 / 3.0)


def test_classes_that_appeared_later_fill_up_with_zeros(result: dict[str, Any]) -> None:
    result["trajectory"]["long_by_class"] = [[k] * (1 + k % 3) for k in range(40)]
    run = read(result)
    assert {len(counts) for counts in run.trajectory.long_by_class} == {3}
    assert run.trajectory.long_by_class[3] == [3, 0, 0]
    assert run.classes == ["c0", "c1", "class 2"]


def test_lists_of_another_length_are_not_drawn(result: dict[str, Any]) -> None:
    result["trajectory"]["short"] = [1, 2]
    result["trajectory"]["accuracy"] = []
    run = read(result)
    assert run.trajectory.short == []
    assert run.trajectory.accuracy == [None] * 40


def test_no_scored_row_means_no_accuracy(result: dict[str, Any]) -> None:
    result["scored"] = 0
    assert read(result).accuracy is None
