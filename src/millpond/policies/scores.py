"""How uncertain a prediction was: the score that a row keeps until it leaves the short bank."""

from __future__ import annotations

import math

import numpy as np

from millpond.policies.base import FloatArray

FLOOR = 1e-12  # the published clip: p in [1e-12, 1], then renormalised


def clip_probabilities(proba: FloatArray) -> FloatArray:
    """(k, C) -> clipped to [1e-12, 1] and renormalised."""
    clipped = np.minimum(np.maximum(proba, FLOOR), 1.0)
    return np.asarray(clipped / clipped.sum(axis=-1, keepdims=True))


def entropy(proba: FloatArray, classes: int) -> FloatArray:
    """Normalised predictive entropy h(z) in [0, 1]: -sum_c p(c) log p(c) / log C."""
    h = -(proba * np.log(proba)).sum(axis=-1) / math.log(classes)
    return np.asarray(np.minimum(np.maximum(h, 0.0), 1.0))


def margin(proba: FloatArray, classes: int) -> FloatArray:
    """h_margin(z) = 1 - (p_(1) - p_(2)): one minus the gap between the two most likely classes."""
    top = np.partition(proba, -2, axis=-1)[..., -2:]
    return np.asarray(1.0 - (top[..., 1] - top[..., 0]))
