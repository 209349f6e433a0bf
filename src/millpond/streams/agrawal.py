"""AGR(A): the Agrawal stream with abrupt drift, as the paper's published code draws it.

Agrawal, Imielinski, Swami: Database Mining: A Performance Perspective (1993). Three steps: draw
the clean attributes, label them with the concept of the hour, perturb them by 10 %. The order of
the draws is part of the definition: one more or one fewer and every row after it is another.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from millpond.streams.stream import Stream

ROWS = 30_000
SEED = 5
CONCEPTS = (0, 3, 6, 9)  # one after the other, a quarter of the rows each
PERTURBATION = 0.10
FEATURES = (
    "salary",
    "commission",
    "age",
    "elevel",
    "car",
    "zipcode",
    "hvalue",
    "hyears",
    "loan",
)

Values = NDArray[np.float64]
Truth = NDArray[np.bool_]
Attributes = Mapping[str, Values]


def generate_agr_a() -> Stream:
    """The paper's AGR(A): 30,000 rows, 9 features, 2 classes; nothing is read, nothing varies."""
    rng = np.random.default_rng(SEED)
    clean = _draw(rng)
    group_a = np.choose(
        np.arange(ROWS) * len(CONCEPTS) // ROWS, [_GROUP_A[k](clean) for k in CONCEPTS]
    )
    noisy = _perturb(rng, clean)
    X = np.stack([noisy[name] for name in FEATURES], axis=1).astype(np.float32)
    y = np.where(group_a, 0, 1)
    return Stream("agr_a", X, y, FEATURES, ("0", "1"))


def _draw(rng: np.random.Generator) -> dict[str, Values]:
    salary = 20_000 + 130_000 * rng.random(ROWS)
    commission = 10_000 + 65_000 * rng.random(ROWS)  # drawn for the well paid too, then not used
    age = 20 + rng.integers(0, 61, ROWS)
    elevel = rng.integers(0, 5, ROWS)
    car = rng.integers(0, 20, ROWS)
    zipcode = rng.integers(0, 9, ROWS)
    hvalue = (9 - zipcode) * 100_000 * (0.5 + rng.random(ROWS))
    hyears = 1 + rng.integers(0, 30, ROWS)
    loan = 500_000 * rng.random(ROWS)
    return {
        "salary": salary,
        "commission": np.where(salary >= 75_000, 0.0, commission),
        "age": age.astype(np.float64),
        "elevel": elevel.astype(np.float64),
        "car": car.astype(np.float64),
        "zipcode": zipcode.astype(np.float64),
        "hvalue": hvalue,
        "hyears": hyears.astype(np.float64),
        "loan": loan,
    }


def _perturb(rng: np.random.Generator, clean: Attributes) -> dict[str, Values]:
    """Every attribute that is a quantity moves by up to a tenth of its range, and stays in it."""

    def moved(values: Values, spread: Values | float) -> Values:
        return values + spread * (2 * (rng.random(len(values)) - 0.5)) * PERTURBATION

    noisy = dict(clean)
    noisy["salary"] = np.clip(moved(clean["salary"], 130_000), 20_000, 150_000)
    paid = clean["commission"] > 0  # no draws for those without a commission
    commission = clean["commission"].copy()
    commission[paid] = np.clip(moved(commission[paid], 65_000), 10_000, 75_000)
    noisy["commission"] = commission
    noisy["age"] = np.rint(np.clip(moved(clean["age"], 60), 20, 80))
    spread = (9 - clean["zipcode"]) * 100_000
    noisy["hvalue"] = np.clip(moved(clean["hvalue"], spread), 0, 1_350_000)
    noisy["hyears"] = np.rint(np.clip(moved(clean["hyears"], 29), 1, 30))
    noisy["loan"] = np.clip(moved(clean["loan"], 500_000), 0, 500_000)
    return noisy


def _within(values: Values, low: float, high: float) -> Truth:
    return (low <= values) & (values <= high)


def _by_age(v: Attributes) -> Truth:
    """Function 0: the young and the old."""
    return (v["age"] < 40) | (v["age"] >= 60)


def _by_age_education_salary(v: Attributes) -> Truth:
    """Function 3: a salary band that depends on age and education."""
    elevel, salary = v["elevel"], v["salary"]
    low, middle, high = (
        _within(salary, 25_000, 75_000),
        _within(salary, 50_000, 100_000),
        _within(salary, 75_000, 125_000),
    )
    young = np.where(elevel <= 1, low, middle)
    grown = np.where(_within(elevel, 1, 3), middle, high)
    old = np.where(elevel >= 2, middle, low)
    return np.where(v["age"] < 40, young, np.where(v["age"] < 60, grown, old))


def _by_income_and_loan(v: Attributes) -> Truth:
    """Function 6: what is left of the income after the loan."""
    return 2 / 3 * (v["salary"] + v["commission"]) - v["loan"] / 5 - 20_000 > 0


def _by_income_and_equity(v: Attributes) -> Truth:
    """Function 9: income and what the house is worth beyond its first twenty years."""
    equity = np.where(v["hyears"] >= 20, v["hvalue"] * (v["hyears"] - 20) / 10, 0.0)
    income = 2 / 3 * (v["salary"] + v["commission"])
    return income - 5_000 * v["elevel"] + equity / 5 - 10_000 > 0


_GROUP_A = {
    0: _by_age,
    3: _by_age_education_salary,
    6: _by_income_and_loan,
    9: _by_income_and_equity,
}
