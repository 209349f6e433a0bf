"""The experiments by name: what each one runs, and the tables that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from millpond.paper import (
    ablation,
    axes,
    budget,
    calibration,
    claims,
    datasets,
    delay,
    floors,
    hyperparameters,
    main,
    recovery,
    robustness,
    runtime,
    significance,
    tau,
    theory,
    trajectories,
)
from millpond.paper.book import Book, Setup
from millpond.paper.sheet import Sheet
from millpond.paper.units import Unit


def _nothing(setup: Setup) -> list[Unit]:
    return []


@dataclass(frozen=True)
class Experiment:
    """``sheets`` reads the finished ones among ``units``."""

    sheets: Callable[[Setup, Book], Sequence[Sheet]]
    units: Callable[[Setup], Sequence[Unit]] = _nothing


EXPERIMENTS: dict[str, Experiment] = {
    "main": Experiment(main.sheets, main.units),
    "floors": Experiment(floors.sheets, floors.units),
    "robustness": Experiment(robustness.sheets, robustness.units),
    "ablation": Experiment(ablation.sheets, ablation.units),
    "tau": Experiment(tau.sheets, tau.units),
    "runtime": Experiment(runtime.sheets, runtime.units),
    "trajectories": Experiment(trajectories.sheets, trajectories.units),
    "significance": Experiment(significance.sheets, significance.units),
    "budget": Experiment(budget.sheets, budget.units),
    "delay": Experiment(delay.sheets, delay.units),
    "recovery": Experiment(recovery.sheets, recovery.units),
    "calibration": Experiment(calibration.sheets, calibration.units),
    "theory": Experiment(theory.sheets),
    "datasets": Experiment(lambda setup, book: [datasets.datasets(setup.streams, setup.data_dir)]),
    "hyperparameters": Experiment(
        lambda setup, book: [hyperparameters.hyperparameters(setup.streams)]
    ),
    "policies": Experiment(lambda setup, book: [axes.policies()]),
    "claims": Experiment(lambda setup, book: [claims.claims_sheet()]),
}
