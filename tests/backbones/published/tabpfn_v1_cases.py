"""Tables for TabPFN-v1 and a tiny checkpoint, the same on every machine: for tests and their record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

TINY = {"emsize": 32, "nlayers": 3, "nhead": 4, "nhid_factor": 2}
CONFIG = {
    "num_features": 100,
    "max_num_classes": 10,
    "dropout": 0.0,
    "efficient_eval_masking": True,
    "differentiable_hps_as_style": False,
    "normalize_by_used_features": True,
    "normalize_to_ranking": False,
    "normalize_with_sqrt": False,
    "canonical_y_encoder": False,
    "nan_prob_no_reason": 0.0,
    "nan_prob_a_reason": 0.0,
    "nan_prob_unknown_reason": 0.0,
}
FILE = "prior_diff_real_checkpoint_n_0_epoch_42.cpkt"


def parameters(width: int, layers: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """The names and shapes of the released checkpoint."""
    found: dict[str, tuple[int, ...]] = {
        "encoder.weight": (width, 100),
        "encoder.bias": (width,),
        "y_encoder.weight": (width, 1),
        "y_encoder.bias": (width,),
        "decoder.0.weight": (hidden, width),
        "decoder.0.bias": (hidden,),
        "decoder.2.weight": (10, hidden),
        "decoder.2.bias": (10,),
        "criterion.weight": (10,),
    }
    for i in range(layers):
        found |= {
            f"transformer_encoder.layers.{i}.{name}": shape
            for name, shape in {
                "self_attn.in_proj_weight": (3 * width, width),
                "self_attn.in_proj_bias": (3 * width,),
                "self_attn.out_proj.weight": (width, width),
                "self_attn.out_proj.bias": (width,),
                "linear1.weight": (hidden, width),
                "linear1.bias": (hidden,),
                "linear2.weight": (width, hidden),
                "linear2.bias": (width,),
                "norm1.weight": (width,),
                "norm1.bias": (width,),
                "norm2.weight": (width,),
                "norm2.bias": (width,),
            }.items()
        }
    return found


def tiny_state() -> dict[str, torch.Tensor]:
    rng = np.random.default_rng(7)
    shapes = parameters(TINY["emsize"], TINY["nlayers"], TINY["emsize"] * TINY["nhid_factor"])
    state = {}
    for name, shape in shapes.items():
        drawn = rng.standard_normal(shape) / np.sqrt(shape[-1])
        if "norm" in name and name.endswith("weight"):
            drawn = 1 + 0.1 * drawn
        state["module." + name] = torch.tensor(drawn, dtype=torch.float32)
    return state


def save_tiny(path: Path) -> Path:
    """A checkpoint of the released one's form with a small random network."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save((tiny_state(), None, {**CONFIG, **TINY}), path)
    return path


def tables() -> dict[str, dict[str, Any]]:
    """name -> X (T, d), y (T,), queries (k, d); values that float16 holds exactly."""
    made = {}
    for name, rows, features, classes in (
        ("2 classes, d 3", 60, 3, 2),
        ("2 classes, d 8", 200, 8, 2),
        ("10 classes, d 27", 120, 27, 10),
        ("2 classes, d 96", 80, 96, 2),
        ("3 classes, d 100", 40, 100, 3),
        ("missing", 90, 6, 3),
        ("constant columns", 50, 7, 2),
        ("nothing varies", 20, 2, 2),
        ("outliers", 100, 5, 4),
        ("two rows", 2, 4, 2),
    ):
        rng = np.random.default_rng([len(name), rows, features])
        y = np.arange(rows) % classes
        centres = rng.standard_normal((classes, features)) * 1.5
        X = rng.standard_normal((rows, features)) + centres[y]
        queries = rng.standard_normal((5, features)) + centres[np.arange(5) % classes]
        X, queries = X * 20 + 50, queries * 20 + 50
        if name == "missing":
            X[rng.random(X.shape) < 0.2] = np.nan
            X[:, 3] = np.nan
            queries[rng.random(queries.shape) < 0.2] = np.nan
        if name == "constant columns":
            X[:, [0, 3]] = 4.0
            queries[:, 0] = 4.0
        if name == "nothing varies":
            X[:] = 1.0
        if name == "outliers":
            X[::17, 1] *= 60
            queries[0, 1], queries[1, 2] = 30000.0, -30000.0
        made[name] = {
            "X": X.astype(np.float16).astype(np.float32),
            "y": y.astype(np.int64),
            "queries": queries.astype(np.float16).astype(np.float32),
        }
    return made
