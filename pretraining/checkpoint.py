"""Training state in files of bounded size, without pickle, and back exactly.

A state is a flat dictionary of named tensors. Tensors are packed in order into `state-K.npz` files
of at most LIMIT bytes; bfloat16 is stored as its 16 bits (name ending in `:bf16`). `state.json`
holds everything that is not a tensor and is written last: a folder without it is not a checkpoint.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

LIMIT = 14 * 2**20


def _array(tensor: Tensor) -> tuple[str, np.ndarray[Any, Any]]:
    host = tensor.detach().cpu().contiguous()
    if host.dtype == torch.bfloat16:
        return ":bf16", host.view(torch.int16).numpy()
    return "", host.numpy()


def save(folder: Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Write a checkpoint over the one in the folder, if any."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "state.json").unlink(missing_ok=True)
    files: list[dict[str, np.ndarray[Any, Any]]] = [{}]
    room = LIMIT
    for name, tensor in tensors.items():
        suffix, array = _array(tensor)
        if array.nbytes > room and files[-1]:
            files.append({})
            room = LIMIT
        files[-1][name + suffix] = array
        room -= array.nbytes
    for k, arrays in enumerate(files):
        # Arrays are named by number: names hold dots and slashes that a zip reader may mistake.
        np.savez(folder / f"state-{k}.npz", **{str(i): a for i, a in enumerate(arrays.values())})  # type: ignore[arg-type]
    names = [list(arrays) for arrays in files]
    (folder / "state.json").write_text(json.dumps({"names": names, **facts}, indent=1))


def load(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and facts of a checkpoint."""
    facts = json.loads((folder / "state.json").read_text())
    tensors: dict[str, Tensor] = {}
    for k, names in enumerate(facts.pop("names")):
        with np.load(folder / f"state-{k}.npz", allow_pickle=False) as arrays:
            for i, name in enumerate(names):
                tensor = torch.from_numpy(arrays[str(i)])
                if name.endswith(":bf16"):
                    name, tensor = name[: -len(":bf16")], tensor.view(torch.bfloat16)
                tensors[name] = tensor
    return tensors, facts
