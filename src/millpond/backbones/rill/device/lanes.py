"""Which lanes a call is about, as tensors are addressed by them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


class At:
    """Some lanes by number; where they are all of them, nothing is gathered or copied."""

    __slots__ = ("index", "whole")

    def __init__(self, numbers: Sequence[int], lanes: int, device: torch.device) -> None:
        self.whole = list(numbers) == list(range(lanes))
        self.index = torch.tensor(list(numbers), dtype=torch.int64, device=device)

    def of(self, tensor: Tensor) -> Tensor:
        """These lanes' part of a tensor whose first axis is the lanes."""
        return tensor if self.whole else tensor[self.index]

    def put(self, tensor: Tensor, value: Tensor) -> None:
        if self.whole:
            tensor.copy_(value)
        else:
            tensor[self.index] = value
