"""The paper's numbers, as package data: its tables, its constants, the claims of its text."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

STREAMS = {
    "noaa": "NOAA",
    "meter": "METER",
    "rialto": "RIALTO",
    "posture_no8": "POSTURE-No8",
    "poker": "POKER",
    "nomao": "NOMAO",
    "agr_a": "AGR(A)",
}
METHODS = {
    "cure": "CURE",
    "arf": "ARF",
    "bole": "BOLE",
    "levbag": "LevBag",
    "srp": "SRP",
    "efdt": "EFDT",
    "vfdt": "VFDT",
}
POLICIES = {
    "cure": "CURE",
    "dual_fifo": "DualFIFO",
    "entropy_only": "Entropy-only",
    "redundancy_only": "Redundancy-only",
    "cure_margin": "CURE-Margin",
    "cure_global_nn": "CURE-GlobalNN",
}
BACKBONES = {
    "rill": "Rill",
    "knn": "knn",
    "tabpfn_v1": "TabPFN-v1",
    "tabicl": "TabICL-v2",
    "limix": "LimiX-v1",
    "tabpfn": "TabPFN-v2.5",
    "tabdpt": "TabDPT-v1",
}
"""Names here and names in the paper, in the order of its tables."""

TAUS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
SWEPT = ("noaa", "meter", "rialto", "posture_no8", "nomao", "agr_a")
"""The streams of the ablation, of the sweep over tau and of the robustness table: all but POKER."""

_OURS = {"tabicl_v2": "tabicl", "limix_v1": "limix", "tabpfn_v2_5": "tabpfn", "tabdpt_v1": "tabdpt"}


@cache
def published() -> dict[str, Any]:
    """``main_results``, ``robustness``, ``ablation`` ...: accuracies in percent, times in seconds."""
    text = files(__package__).joinpath("published.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def main_accuracy() -> dict[str, dict[str, float]]:
    """stream -> method -> percent, with TabICL-v2."""
    return published()["main_results"]["accuracy"]  # type: ignore[no-any-return]


def ablation() -> dict[str, dict[str, float]]:
    """stream -> policy -> percent."""
    return published()["ablation"]["accuracy"]  # type: ignore[no-any-return]


def sweep() -> dict[str, dict[float, float]]:
    """stream -> tau -> percent."""
    found = published()["tau_sensitivity"]["accuracy"]
    return {name: {float(tau): a for tau, a in row.items()} for name, row in found.items()}


def robustness() -> dict[str, dict[str, dict[str, float]]]:
    """backbone, by our names -> stream -> policy -> percent; TabICL-v2's pair is in the ablation."""
    found = {_OURS[name]: table for name, table in published()["robustness"].items()}
    pairs = {
        name: {policy: row[policy] for policy in ("cure", "dual_fifo")}
        for name, row in ablation().items()
    }
    return {"tabicl": pairs, **found}


def selected_tau(stream: str) -> float:
    """The tau of the paper's main table, chosen there with TabICL-v2 by the result on that stream."""
    return float(published()["selected_hyperparameters"][stream]["cure"]["tau"])


def selected(stream: str, method: str) -> dict[str, float]:
    """``grace_period`` and ``tie_threshold`` (and ``ensemble_size``) of a classical baseline."""
    chosen = published()["selected_hyperparameters"][stream][method]
    names = {"g": "grace_period", "t": "tie_threshold", "s": "ensemble_size"}
    return {names[key]: value for key, value in chosen.items()}
