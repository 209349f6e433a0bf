"""Values come back from JSON as what they were."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond import tags
from millpond.errors import BadOption, CheckpointError

PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
)
VALUES = st.recursive(
    PLAIN, lambda v: st.lists(v, max_size=4).map(tuple) | st.frozensets(v, max_size=4), max_leaves=8
)


def through(value: Any) -> Any:
    return tags.decode(json.loads(json.dumps(tags.encode(value, "it"), allow_nan=False)))


@given(VALUES)
def test_a_value_comes_back(value: Any) -> None:
    found = through(value)
    assert found == value
    assert repr(type(found)) == repr(type(value))
    if isinstance(value, tuple):
        assert list(map(type, found)) == list(map(type, value))


HUGE = 16**5000  # more digits than Python would print


@pytest.mark.parametrize(
    "value", [1, True, 1.0, 2**53, -(2**64), pytest.param(HUGE, id="huge"), "1", b"1"]
)
def test_types_stay_apart(value: Any) -> None:
    found = through(value)
    assert type(found) is type(value)
    assert found == value


def test_what_a_set_is_saved_as_does_not_depend_on_its_order() -> None:
    one = frozenset(str(k) for k in range(50))
    other = frozenset(str(k) for k in reversed(range(50)))
    assert tags.encode(one, "it") == tags.encode(other, "it")


@pytest.mark.parametrize(
    "value", [object(), np.int64(1), [1], (1, {"a": 1}), 1j, type("T", (str,), {})("a")]
)
def test_other_types_are_named(value: Any) -> None:
    with pytest.raises(BadOption, match=r"the label .* is a \w+, which cannot be saved"):
        tags.encode(value, "the label")


@pytest.mark.parametrize("value", [{}, {"other": 1}, {"int": "0x1", "float": "1"}])
def test_unknown_tags(value: Any) -> None:
    with pytest.raises(CheckpointError, match="unknown kind"):
        tags.decode(value)
