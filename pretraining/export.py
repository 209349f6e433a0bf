"""Weights as shipped: one .npz of float16 arrays and a JSON header, no pickle, with a checksum.

The file is a plain NumPy archive. `header` is a 1-D uint8 array of UTF-8 JSON:

  {"format": "rill", "version": 1, "shape": {...}, "features": {...}, "provenance": {...},
   "sha256": "..."}

Every other entry is a float16 array under the parameter's dotted name in `model.Rill`. `sha256` is
over the entries but the header, by sorted name: name in UTF-8, a zero byte, the shape as ASCII
decimal numbers joined by "x", a zero byte, then the little-endian bytes in C order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pretraining.model import Rill, Shape
from torch import Tensor

from pretraining import features

Half = npt.NDArray[np.float16]


def checksum(arrays: Mapping[str, Half]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name], "<f2")
        digest.update(name.encode() + b"\0")
        digest.update("x".join(map(str, array.shape)).encode() + b"\0")
        digest.update(array.tobytes())
    return digest.hexdigest()


def write(path: Path, weights: Mapping[str, Tensor], shape: Shape, provenance: Any) -> str:
    """Write the weights file; returns its checksum."""
    arrays = {k: v.detach().float().cpu().numpy().astype(np.float16) for k, v in weights.items()}
    digest = checksum(arrays)
    header = {
        "format": "rill",
        "version": 1,
        "shape": asdict(shape),
        "features": {k: getattr(features, k) for k in ("WINDOW", "REFERENCE", "CLIP", "CHANNELS")},
        "provenance": provenance,
        "sha256": digest,
    }
    packed = np.frombuffer(json.dumps(header).encode(), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not compressed: halves shrink by 7% only, and reading them back would take longer than all else.
    np.savez(path, header=packed, **arrays)  # type: ignore[arg-type]
    return digest


def read(path: Path) -> tuple[dict[str, Half], dict[str, Any]]:
    """The arrays and the header of a weights file, checked."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {k: archive[k] for k in archive.files}
    header = json.loads(bytes(arrays.pop("header")))
    if header.get("format") != "rill" or header.get("version") != 1:
        raise ValueError(f"{path} is not a version 1 Rill weights file")
    if checksum(arrays) != header["sha256"]:
        raise ValueError(f"{path} is damaged: its checksum does not match")
    return arrays, header


def restore(path: Path) -> Rill:
    """The model of a weights file, in float32."""
    import torch

    arrays, header = read(path)
    model = Rill(Shape(**header["shape"]))
    state = {k: torch.from_numpy(v.astype(np.float32)) for k, v in arrays.items()}
    model.load_state_dict(state)
    return model.eval()
