"""Random weights in which every parameter matters, in the format of the packaged file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from millpond.backbones.rill.weights import FEATURES, FORMAT, VERSION, Shape, checksum

TINY = Shape(
    width=24,
    layers=2,
    heads=4,
    kv_heads=2,
    head_dim=10,
    rotary=6,
    hidden=20,
    row_layers=1,
    row_hidden=16,
    slots=12,
    codes=8,
    matches=3,
    match_dim=5,
    head_hidden=9,
)
FULL = Shape(
    width=256,
    layers=8,
    heads=8,
    kv_heads=1,
    head_dim=64,
    rotary=48,
    hidden=640,
    row_layers=2,
    row_hidden=512,
    slots=128,
    codes=64,
    matches=8,
    match_dim=32,
    head_hidden=64,
)


def random_arrays(shape: Shape, seed: int = 0, loud: float = 1.0) -> dict[str, Any]:
    """float16 arrays; `loud` scales what queries and keys are multiplied by."""
    rng = np.random.default_rng(seed)
    arrays = {}
    for name, size in shape.arrays().items():
        draw = rng.standard_normal(size)
        if name.endswith("gain"):
            draw = (loud if "q_norm" in name or "k_norm" in name else 1.0) * (1 + 0.2 * draw)
        elif name.endswith("weight"):
            draw *= 1.2 / np.sqrt(size[-1])
        elif name == "columns":
            draw *= 0.6
        else:
            draw *= 0.5
        arrays[name] = draw.astype(np.float16)
    return arrays


def write_weights(
    path: Path, network: Shape = TINY, seed: int = 0, loud: float = 1.0, **header: Any
) -> Path:
    """A weights file; keywords replace entries of its header."""
    arrays = random_arrays(network, seed, loud)
    stated = {
        "format": FORMAT,
        "version": VERSION,
        "shape": asdict(network),
        "features": FEATURES,
        "provenance": {"made": "for tests, from random numbers"},
        "sha256": checksum(arrays),
    } | header
    packed: dict[str, Any] = {"header": np.frombuffer(json.dumps(stated).encode(), np.uint8)}
    np.savez(path, **packed, **arrays)
    return path
