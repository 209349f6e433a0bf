from __future__ import annotations

import hashlib

import numpy as np
import pytest

from millpond.streams.agrawal import FEATURES, SEED, _draw, generate_agr_a

X_SHA256 = "0a91dc6e64ea995c8a94b1b06a8590d2a9799a0104af0eb9a7bb5fd7b33df790"
Y_SHA256 = "acee41665c47a2ec01ebc1fa4711d2536db0a1e32bfb2858908ba30083f5c9c0"


@pytest.fixture(scope="module")
def agr_a():
    return generate_agr_a()


def test_is_the_stream_of_the_paper(agr_a):
    assert agr_a.X.shape == (30_000, 9)
    assert agr_a.classes == ("0", "1")
    assert np.bincount(agr_a.y).tolist() == [19_106, 10_894]
    assert hashlib.sha256(agr_a.X.astype("<f4").tobytes()).hexdigest() == X_SHA256


def test_labels_are_pinned(agr_a):
    digest = hashlib.sha256(agr_a.y.astype("<i8").tobytes()).hexdigest()
    assert digest == Y_SHA256


def test_is_the_same_every_time(agr_a):
    assert generate_agr_a().fingerprint() == agr_a.fingerprint()


def test_attributes_stay_in_their_ranges(agr_a):
    columns = dict(zip(FEATURES, agr_a.X.T, strict=True))
    ranges = {
        "salary": (20_000, 150_000),
        "age": (20, 80),
        "elevel": (0, 4),
        "car": (0, 19),
        "zipcode": (0, 8),
        "hvalue": (0, 1_350_000),
        "hyears": (1, 30),
        "loan": (0, 500_000),
    }
    for name, (low, high) in ranges.items():
        assert low <= columns[name].min(), name
        assert columns[name].max() <= high, name
    paid = columns["commission"][columns["commission"] != 0]
    assert paid.min() >= 10_000
    assert paid.max() <= 75_000
    for name in ("age", "elevel", "car", "zipcode", "hyears"):
        assert np.array_equal(columns[name], np.rint(columns[name])), name


def test_concepts_switch_at_the_quarters(agr_a):
    """The first concept is a rule on age: where perturbation cannot cross its bounds, it is seen.

    Age moves by at most 6 years, so that from 47 to 53 the clean age was 40 to 59: group B (1).
    """
    age = agr_a.X[:, FEATURES.index("age")]
    sure = (age >= 47) & (age <= 53)
    quarters = [agr_a.y[k : k + 7_500][sure[k : k + 7_500]] for k in range(0, 30_000, 7_500)]
    assert quarters[0].min() == 1
    assert all(quarter.min() == 0 for quarter in quarters[1:])
    assert agr_a.y[22_500:].mean() < 0.01  # function 9 puts nearly all into group A


def group(function: int, v: dict[str, float]) -> int:
    """The rules of Agrawal et al., one row at a time, as their paper writes them."""
    salary, age, elevel = v["salary"], v["age"], v["elevel"]
    if function == 0:
        return 0 if age < 40 or age >= 60 else 1
    if function == 3:
        if age < 40:
            low, high = (25_000, 75_000) if elevel in (0, 1) else (50_000, 100_000)
        elif age < 60:
            low, high = (50_000, 100_000) if elevel in (1, 2, 3) else (75_000, 125_000)
        else:
            low, high = (50_000, 100_000) if elevel in (2, 3, 4) else (25_000, 75_000)
        return 0 if low <= salary <= high else 1
    income = 2 * (salary + v["commission"]) / 3
    if function == 6:
        return 0 if income - v["loan"] / 5 - 20_000 > 0 else 1
    equity = v["hvalue"] * (v["hyears"] - 20) / 10 if v["hyears"] >= 20 else 0
    return 0 if income - 5_000 * elevel + equity / 5 - 10_000 > 0 else 1


def test_labels_follow_the_rules_row_by_row(agr_a):
    clean = _draw(np.random.default_rng(SEED))
    rows = [dict(zip(clean, values, strict=True)) for values in zip(*clean.values(), strict=True)]
    expected = [group((0, 3, 6, 9)[t // 7_500], row) for t, row in enumerate(rows)]
    assert agr_a.y.tolist() == expected
