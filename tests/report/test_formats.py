"""Numbers as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.report import formats


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (formats.percent(0.84213), "84.21%"),
        (formats.percent(1.0, 0), "100%"),
        (formats.percent(-0.1234), "−12.34%"),
        (formats.percent(None), "–"),
        (formats.points(0.1969), "+19.69"),
        (formats.points(-0.02), "−2.00"),
        (formats.decimal(0.38124), "0.3812"),
        (formats.decimal(None), "–"),
        (formats.count(829201), "829,201"),
        (formats.count(None), "–"),
        (formats.duration(None), "–"),
        (formats.duration(0), "0 ms"),
        (formats.duration(0.41), "410 ms"),
        (formats.duration(41.24), "41.2 s"),
        (formats.duration(59.96), "1 min 0 s"),
        (formats.duration(123), "2 min 3 s"),
        (formats.duration(7500), "2 h 5 min"),
        (formats.milliseconds(None), "–"),
        (formats.milliseconds(0.0), "0"),
        (formats.milliseconds(0.0000021), "0.002"),
        (formats.milliseconds(0.0000003), "<0.001"),
        (formats.milliseconds(0.00226), "2.26"),
        (formats.milliseconds(0.0226), "22.6"),
        (formats.milliseconds(0.226), "226"),
        (formats.milliseconds(2.5), "2,500"),
        (formats.plural(1, "class", "classes"), "1 class"),
        (formats.plural(2, "class", "classes"), "2 classes"),
        (formats.plural(1000, "row"), "1,000 rows"),
        (formats.compact(0), "0"),
        (formats.compact(999), "999"),
        (formats.compact(1234), "1.2k"),
        (formats.compact(9960), "10k"),
        (formats.compact(415526), "416k"),
        (formats.compact(999_600), "1.0M"),
    ],
)
def test_formats(shown: str, expected: str) -> None:
    assert shown == expected


@given(st.integers(0, 999_000_000))
def test_compact_has_at_most_four_characters_and_is_within_a_twentieth(number: int) -> None:
    text = formats.compact(number)
    assert len(text) <= 4
    size = {"k": 1e3, "M": 1e6}.get(text[-1], 1)
    value = float(text.rstrip("kM")) * size
    assert abs(value - number) <= 0.05 * number


@given(st.text(), st.integers(3, 40))
def test_shorten_keeps_to_the_length_and_both_ends(text: str, length: int) -> None:
    short = formats.shorten(text, length)
    assert len(short) <= length
    assert short == text or "…" in short


def test_names_that_differ_at_the_end_stay_different() -> None:
    names = ["standing up from lying", "standing up from sitting on the ground"]
    assert [formats.shorten(name, 18) for name in names] == [
        "standing up…lying",
        "standing up…ground",
    ]
