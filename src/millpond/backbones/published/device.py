"""Where a published model runs, how arrays get there and back, and how a checkpoint is read."""

from __future__ import annotations

import pickle
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from millpond.errors import BadOption

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


# What torch, pickle and zip raise on files that are none, are cut short or hold something else.
UNREADABLE = (
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
    pickle.UnpicklingError,
    zipfile.BadZipFile,
)


class Unreadable(Exception):
    """A weights file that is not what its name says; the reason."""


class Place:
    """A device and the precision of its matrix products."""

    def __init__(self, device: str, dtype: str) -> None:
        if dtype not in DTYPES:
            raise BadOption(f"dtype must be one of {', '.join(DTYPES)}, not {dtype!r}")
        try:
            self.device: Any = torch.empty(0, device=device).device
        except (AssertionError, RuntimeError, ValueError) as error:
            raise BadOption(f"there is no device {device!r} here: {error}") from None
        self._reduced = dtype != "float32"
        self._dtype = DTYPES[dtype]

    def most(self, room: tuple[int, int], size: int) -> int:
        """How many things of a size go through a network together; ``room`` on a CPU, and elsewhere."""
        return max(1, room[self.device.type != "cpu"] // max(size, 1))

    def send(self, array: NDArray[Any]) -> Tensor:
        """To the device without waiting for it."""
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        if self.device.type == "cpu":
            return tensor
        return tensor.pin_memory().to(self.device, non_blocking=True)

    def fetch(self, tensor: Tensor) -> NDArray[np.float32]:
        """The result: the one thing of a step that the host waits for."""
        found: NDArray[np.float32] = tensor.float().cpu().numpy()
        return found

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """No gradients; matrix products in this place's precision."""
        with (
            torch.inference_mode(),
            torch.autocast(self.device.type, dtype=self._dtype, enabled=self._reduced),
        ):
            yield


def read_checkpoint(path: Path) -> Any:
    """What torch.save wrote, tensors and plain values only: nothing in the file is run."""
    try:
        with warnings.catch_warnings(action="ignore"):  # on bytes that are no checkpoint at all
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:  # torch's own words advise to load it all the same
        raise Unreadable("it is not a checkpoint of tensors and plain values") from None
    except UNREADABLE as error:
        first = str(error).strip().partition("\n")[0]
        raise Unreadable(f"it cannot be read as a checkpoint ({first})") from None
