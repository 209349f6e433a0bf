"""Made-up results with the layout of `result.json`, and a way to look into the pages made of them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Make = Callable[..., dict[str, Any]]

SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)


def make_result(
    classes: int = 2,
    rows: int = 2000,
    points: int = 40,
    names: list[str] | None = None,
    context: bool = True,
    seed: int = 0,
) -> dict[str, Any]:
    """A run of a learner that is right on about four rows in five, with a dip in the middle."""
    rng = np.random.default_rng(seed)
    warmup, budget, window = 100, 400, 200
    y = rng.integers(0, classes, rows)
    right = rng.random(rows) < np.where(np.abs(np.arange(rows) - rows / 2) < rows / 10, 0.6, 0.85)
    guess = np.where(right, y, (y + 1) % classes)
    hits = (guess == y)[warmup:]
    confusion = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(confusion, (y[warmup:], guess[warmup:]), 1)
    at = np.linspace(warmup + (rows - warmup) / points, rows, points).astype(int)
    short = np.minimum(at, 300)
    long = np.minimum(at - short, budget - 300)
    trajectory: dict[str, list[Any]] = {
        "row": at.tolist(),
        "accuracy": [float(hits[: a - warmup].mean()) for a in at],
        "window_accuracy": [
            float(hits[max(0, a - warmup - window) : a - warmup].mean()) for a in at
        ],
    }
    learner: dict[str, Any] = {"name": "nochange"}
    if context:
        trajectory |= {
            "short": short.tolist(),
            "long": long.tolist(),
            "long_by_class": [
                rng.multinomial(n, np.full(classes, 1 / classes)).tolist() for n in long
            ],
            "admitted": (at // 3).tolist(),
            "evicted": (at // 4).tolist(),
        }
        learner = {
            "name": "knn + cure",
            "backbone": "knn",
            "policy": "cure",
            "budget": budget,
            "short_ratio": 0.75,
            "tau": 0.4,
            "k": 5,
        }
    metrics = {
        "accuracy": float(hits.mean()),
        "balanced_accuracy": 0.7912,
        "macro_f1": 0.7834,
        "kappa": 0.5512,
        "kappa_m": 0.4423,
        "kappa_t": -0.1234,
        "log_loss": 0.38124,
        "brier": 0.24113,
        "ece": 0.0213,
        "n": len(hits),
    }
    return {
        "accuracy": float(hits.mean()),
        "scored": len(hits),
        "unscored": warmup,
        "rows": rows,
        "resumed_from": None,
        "predictions_sha256": "31e0" * 16,
        "unscored_why": {"warmup": warmup, "one_class": 0},
        "stream": {
            "name": "agr_a",
            "label": "AGR(A)",
            "rows": 30000,
            "features": 9,
            "classes": names or [f"c{k}" for k in range(classes)],
            "fingerprint": "0a91" * 16,
            "dropped": 1,
            "notes": ["a note on the stream"],
        },
        "learner": learner,
        "protocol": {
            "warmup": warmup,
            "chunk": 1,
            "delay": 0,
            "missing": 0.0,
            "limit": rows,
            "seed": 12345,
            "shuffle_within": None,
            "window": window,
        },
        "seconds": {"fit": 0.19, "predict": 1.9, "evict": 0.91, "total": 3.0, "wall": 4.0},
        "steps": rows - warmup,
        "metrics": {"cumulative": metrics, "windowed": {**metrics, "n": window}},
        "floors": {"nochange": 0.61, "majority": 0.6, "successor": 0.58, "period": 0.12},
        "trajectory": trajectory,
        "confusion": confusion.tolist(),
        "reliability": [
            {
                "low": k / 15,
                "high": (k + 1) / 15,
                "n": 0 if k < 7 else 10 * k * k if k > 7 else 3,
                "confidence": None if k < 7 else (k + 0.5) / 15,
                "accuracy": float("nan") if k < 7 else (k + 0.2) / 15,
            }
            for k in range(15)
        ],
        "versions": {"python": "3.11.9", "numpy": "2.1.3"},
        "machine": {"system": "Linux", "cores": 2},
    }


@pytest.fixture
def make() -> Make:
    return make_result


@pytest.fixture
def result() -> dict[str, Any]:
    return make_result()


@pytest.fixture
def drawings() -> Callable[[str], list[ET.Element]]:
    """The charts (not the legends' swatches) in a piece of page, parsed as XML."""

    def parse(markup: str) -> list[ET.Element]:
        parsed = [ET.fromstring(text) for text in SVG.findall(markup)]
        return [svg for svg in parsed if svg.get("role") == "img"]

    return parse
