"""TabPFN-v1 (Hollmann et al., 2023): its architecture and its preparation of a table, in torch.

A plain transformer over rows: 12 post-norm layers, 4 heads, one token a row. Every token attends to the
context's rows only, so queries do not see each other. Written anew; the names of its parameters are
those of the released checkpoint. The library's single estimator without a power transform and without
shifts of features and classes (``no_preprocess_mode=True, feature_shift_decoder=False,
multiclass_decoder=""``) is what this computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from millpond.backbones.published.device import UNREADABLE, Place, Unreadable, read_checkpoint
from millpond.backbones.published.tables import FloatArray, Table, grouped
from millpond.errors import BadInput

CLIP = 100.0
SIGMAS = 4.0
TEMPERATURE = 0.8
TINY = 1e-6
TOKENS = (1 << 13, 1 << 17)
"""Tokens that go through the network together: more only fill memory."""


class Model:
    """The network with one checkpoint's weights, on one device."""

    def __init__(self, path: Path, place: Place) -> None:
        self.place = place
        checkpoint = read_checkpoint(path)
        try:
            state, _, config = checkpoint
            self.network = _network(state, config)
            self.most_features: int = config["num_features"]
            self.most_classes: int = config["max_num_classes"]
        except UNREADABLE as error:
            raise Unreadable(f"it does not hold TabPFN-v1 ({error})") from None
        self.network.to(place.device)

    def probabilities(self, tables: list[Table]) -> list[FloatArray]:
        """Tables of one shape in one forward; how many columns vary, and the classes, may differ."""
        for table in tables:
            self._check(table)
        return grouped(tables, Table.shape, self._together, self._most)

    def _most(self, table: Table) -> int:
        return self.place.most(TOKENS, len(table.X) + len(table.queries))

    def _together(self, tables: list[Table]) -> list[FloatArray]:
        send = self.place.send
        X = send(np.stack([np.concatenate([t.X, t.queries]) for t in tables]))
        y = send(np.stack([t.y for t in tables]).astype(np.float32))
        classes = send(np.array([t.classes for t in tables]))
        with self.place.quietly():
            logits = self.network(prepared(X, y.shape[1], self.most_features), y)
            logits = logits.float() / TEMPERATURE
            absent = torch.arange(logits.shape[2], device=logits.device) >= classes[:, None, None]
            proba = logits.masked_fill(absent, -torch.inf).softmax(-1)
        found = self.place.fetch(proba)
        return [rows[:, : table.classes] for rows, table in zip(found, tables, strict=True)]

    def _check(self, table: Table) -> None:
        if table.X.shape[1] > self.most_features:
            raise BadInput(
                f"TabPFN-v1 takes at most {self.most_features} features, these rows have "
                f"{table.X.shape[1]}: choose among them before they enter the stream"
            )
        if table.classes > self.most_classes:
            raise BadInput(
                f"TabPFN-v1 tells at most {self.most_classes} classes apart, this context holds "
                f"{table.classes}: use a backbone without that limit, such as rill or tabicl"
            )


# -- the preparation of a table --------------------------------------------------------------------


def prepared(X: Tensor, rows: int, width: int) -> Tensor:
    """(B, T + k, d), the first T of them context -> (B, T + k, width) as the network takes them.

    z-scores over the context, columns that vary in it moved to the left, values beyond four deviations
    pulled in, scaled up by the share of columns used; a missing value is 0.
    """
    context = X[:, :rows]
    mean, deviation = _moments(context, ~context.isnan())
    X = ((X - mean) / (deviation + TINY)).clip(-CLIP, CLIP)
    context = X[:, :rows]
    missing = context.isnan()
    # Among the values of a column every missing one counts as a value of its own.
    varies = (context.nan_to_num(-torch.inf).amax(1) > context.nan_to_num(torch.inf).amin(1)) | (
        missing.any(1) & (rows > 1)
    )
    X = _without_outliers(X, rows)
    used = varies.sum(1)[:, None, None]
    X = X.masked_fill(~varies[:, None], 0.0).nan_to_num(0.0) / (used / width)
    order = torch.sort(varies.int(), dim=1, descending=True, stable=True).indices
    X = X.gather(2, order[:, None].expand_as(X)).masked_fill(used == 0, 0.0)
    return F.pad(X, (0, width - X.shape[2]))


def _without_outliers(X: Tensor, rows: int) -> Tensor:
    context = X[:, :rows]
    mean, deviation = _moments(context, ~context.isnan())
    cut = SIGMAS * deviation
    inside = (context <= mean + cut) & (context >= mean - cut)  # False where missing
    mean, deviation = _moments(context, inside)
    cut = SIGMAS * deviation
    X = torch.maximum(-torch.log(1 + X.abs()) + (mean - cut), X)
    return torch.minimum(torch.log(1 + X.abs()) + (mean + cut), X)


def _moments(values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """(B, T, d) -> (B, 1, d) mean and sample deviation where the mask is true."""
    count = mask.sum(1, keepdim=True)
    mean = torch.where(mask, values, 0.0).sum(1, keepdim=True) / count
    square = torch.where(mask, mean - values, 0.0).square().sum(1, keepdim=True)
    return mean, (square / (count - 1)).sqrt()


# -- the network -----------------------------------------------------------------------------------


class Network(nn.Module):  # type: ignore[misc]
    def __init__(
        self, *, features: int, classes: int, width: int, layers: int, heads: int, hidden: int
    ):
        super().__init__()
        self.encoder = nn.Linear(features, width)
        self.y_encoder = nn.Linear(1, width)
        self.layers = nn.ModuleList(Layer(width, heads, hidden) for _ in range(layers))
        self.decoder = nn.Sequential(
            nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, classes)
        )

    def forward(self, X: Tensor, y: Tensor) -> Tensor:
        """(B, T + k, features), (B, T) -> (B, k, classes) logits."""
        rows = y.shape[1]
        x = self.encoder(X)
        x[:, :rows] += self.y_encoder(y[..., None])
        for layer in self.layers[:-1]:
            x = layer(x, rows, 0)
        return self.decoder(self.layers[-1](x, rows, rows))


class Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.linear1, self.linear2 = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: Tensor, rows: int, first: int) -> Tensor:
        """(B, T + k, width) -> the same from token ``first`` on; the first ``rows`` are attended to."""
        width = x.shape[2]
        if first:  # the last layer: what becomes of the context's own tokens is asked by nobody
            weight, bias = self.qkv.weight, self.qkv.bias
            k, v = F.linear(x[:, :rows], weight[width:], bias[width:]).chunk(2, -1)
            x = x[:, first:]
            q = F.linear(x, weight[:width], bias[:width])
        else:
            q, k, v = self.qkv(x).chunk(3, -1)
            k, v = k[:, :rows], v[:, :rows]
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))
        found = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = self.norm1(x + self.out(found))
        return self.norm2(x + self.linear2(F.gelu(self.linear1(x))))


def _network(state: dict[str, Tensor], config: dict[str, Any]) -> Network:
    width = config["emsize"]
    network = Network(
        features=config["num_features"],
        classes=config["max_num_classes"],
        width=width,
        layers=config["nlayers"],
        heads=config["nhead"],
        hidden=width * config["nhid_factor"],
    )
    network.load_state_dict(dict(_renamed(state)))
    network.eval().requires_grad_(False)
    return network


def _renamed(state: dict[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    for name, value in state.items():
        name = name.removeprefix("module.").removeprefix("transformer_encoder.")
        name = name.replace("self_attn.in_proj_", "qkv.").replace("self_attn.out_proj", "out")
        if name != "criterion.weight":  # the training loss's
            yield name, value


load = Model
