"""The metrics' names, order, form and meaning: one list for the page and the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from millpond.report.formats import decimal, percent


@dataclass(frozen=True)
class Measure:
    """One metric of `result["metrics"]`."""

    key: str
    name: str
    meaning: str
    fraction: bool = True  # printed as percent

    def show(self, value: float | None) -> str:
        return percent(value) if self.fraction else decimal(value)


MEASURES = (
    Measure("accuracy", "accuracy", "share of scored rows predicted right"),
    Measure("balanced_accuracy", "balanced accuracy", "mean recall of the classes"),
    Measure("macro_f1", "macro-F1", "mean over the classes of F1"),
    Measure("kappa", "kappa", "Cohen: 0 is chance with the same class shares, 100% is perfect"),
    Measure("kappa_m", "kappa-M", "errors saved against always saying the majority class"),
    Measure("kappa_t", "kappa-T", "errors saved against repeating the last label"),
    Measure("log_loss", "log loss", "mean of -log p(true class); lower is better", False),
    Measure("brier", "Brier", "squared error of the probabilities; lower is better", False),
    Measure("ece", "ECE", "expected calibration error: mean gap of confidence and accuracy"),
)
