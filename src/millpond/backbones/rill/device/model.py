"""The network's weights as tensors: `Network`'s arrays, and gains in the form that `rms_norm` takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from millpond.backbones.rill.features import CHANNELS
from millpond.backbones.rill.network import Keys, Network, Step

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class Gated:
    up: Tensor  # (d, 2 hidden), gate then value; silu(2 gate) * value is what is wanted
    down: Tensor  # (hidden, d)


@dataclass(frozen=True, slots=True)
class Attention:
    q_gain: Tensor  # (D,) for rms_norm
    k_gain: Tensor  # (D,)
    offset: Tensor  # (G, D - rotary) float32


@dataclass(frozen=True, slots=True)
class Layer:
    qkv: Tensor  # (d, (H + 2 G) D)
    keys: Attention
    out: Tensor  # (H D, d)
    step: Gated


class Model:
    """A network on a device; matrices in `dtype`, everything between them in float32."""

    def __init__(self, network: Network, device: torch.device, dtype: torch.dtype) -> None:
        self.network, self.shape = network, network.shape
        self.device, self.dtype = device, dtype
        s = network.shape
        # unit(x) is rms_norm(x) / root of the width: the gain of a norm that has none.
        self.plain = torch.full((s.width,), 1 / math.sqrt(s.width), device=device)
        self.row = [self._step(step) for step in network.row]
        self.layers = [
            Layer(
                self._matrix(layer.qkv),
                self._attention(layer.keys),
                self._matrix(layer.out),
                self._step(layer.step),
            )
            for layer in network.layers
        ]
        self.votes = self._attention(network.votes)
        self.codes, self.ask = self._float(network.codes), self._float(network.ask)
        self.vote_key, self.answer = self._matrix(network.vote_key), self._matrix(network.answer)
        self.head_hidden = self._float(network.head_hidden)
        self.head_bias = self._float(network.head_bias)
        self.head_score = self._float(network.head_score)
        self.wave = torch.as_tensor(network.wave, device=device)  # float64
        # What a cache starts with: (A, G, D), (layers, G, D), (A, G, D - rotary)
        self.sinks = self._float(np.stack([a.sink for a in network.attentions()]))
        self.sink_values = self._float(np.stack([layer.sink_value for layer in network.layers]))
        self.offsets = self._float(np.stack([a.offset for a in network.attentions()]))

    def columns(self, features: int) -> Tensor:
        """(CHANNELS * slots, d) for rows of F columns; columns beyond the slots share them."""
        slots = min(features, self.shape.slots)
        return self._matrix(
            self.network.columns[:, :slots].reshape(CHANNELS * slots, self.shape.width)
        )

    def _float(self, array: NDArray[Any]) -> Tensor:
        return torch.tensor(array, dtype=torch.float32, device=self.device)

    def _matrix(self, array: NDArray[Any]) -> Tensor:
        return torch.tensor(array, dtype=self.dtype, device=self.device)

    def _step(self, step: Step) -> Gated:
        return Gated(
            self._matrix(np.concatenate([step.gate, step.value], axis=1)), self._matrix(step.down)
        )

    def _attention(self, keys: Keys) -> Attention:
        root = math.sqrt(self.shape.head_dim)
        return Attention(
            self._float(keys.q_gain / root),
            self._float(keys.k_gain / root),
            self._float(keys.offset),
        )
