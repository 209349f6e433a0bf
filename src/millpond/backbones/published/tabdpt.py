"""TabDPT-v1.1 (Ma et al.): the network of `tabdpt`, its library's single estimator around it.

No retrieval: the whole context is the context. Columns are imputed with their means and standardised,
those without any value left out; more columns than the network takes are projected onto their principal
components. More classes than it takes are told apart by the digits of their numbers. Written anew from
the library's behaviour, in NumPy; the library validates and refits four objects a step.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import torch
from omegaconf import OmegaConf
from safetensors import SafetensorError, safe_open
from tabdpt.model import TabDPTModel

from millpond.backbones.published.device import UNREADABLE, Place, Unreadable
from millpond.backbones.published.tables import FloatArray, Table, grouped, imputed

TEMPERATURE = 0.8
TOKENS = (1 << 12, 1 << 17)


class Model:
    """The network with one file's weights, on one device."""

    def __init__(self, path: Path, place: Place) -> None:
        self.place = place
        try:
            with safe_open(path, framework="pt", device="cpu") as file:
                config = OmegaConf.create(json.loads(file.metadata()["cfg"]))
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            config.env.device = "cpu"
            self.network = TabDPTModel.load(state, config, use_flash=False)
        except (*UNREADABLE, SafetensorError) as error:
            raise Unreadable(f"it does not hold TabDPT ({str(error)[:200]})") from None
        self.network.requires_grad_(False).to(place.device)
        self.most_features: int = self.network.num_features
        self.most_classes: int = self.network.n_out

    def probabilities(self, tables: list[Table]) -> list[FloatArray]:
        """Tables of equally many rows in one forward; columns and classes may differ."""
        return grouped([self._prepared(t) for t in tables], self._key, self._together, self._most)

    def _key(self, table: Table) -> tuple[int, ...]:
        return (*table.shape(), self._digits(table.classes))

    def _digits(self, classes: int) -> int:
        return max(1, math.ceil(math.log(classes, self.most_classes)))

    def _most(self, table: Table) -> int:
        return self.place.most(TOKENS, len(table.X) + len(table.queries))

    def _together(self, tables: list[Table]) -> list[FloatArray]:
        X = self.place.send(np.stack([np.concatenate([t.X, t.queries]) for t in tables]))
        y = self.place.send(np.stack([t.y for t in tables]))
        numbers = self.place.send(np.arange(max(t.classes for t in tables)))
        classes = self.place.send(np.array([t.classes for t in tables]))
        with self.place.quietly():
            total = torch.zeros((), device=X.device)
            for place in range(self._digits(tables[0].classes)):
                unit = self.most_classes**place
                digit = (y // unit % self.most_classes).float()
                said = self.network(X, digit[..., None], task="cls").float()  # (k, B, most)
                total = total + said[..., numbers // unit % self.most_classes]
            logits = total.transpose(0, 1) / TEMPERATURE
            absent = numbers >= classes[:, None, None]
            proba = logits.masked_fill(absent, -torch.inf).softmax(-1)
        found = self.place.fetch(proba)
        return [rows[:, : table.classes] for rows, table in zip(found, tables, strict=True)]

    def _prepared(self, table: Table) -> Table:
        """z-scores over the context, padded with zeros to the network's columns."""
        present = ~np.isnan(table.X).all(axis=0)
        X, queries = imputed(table.X[:, present], table.queries[:, present])
        wide = X.astype(np.float64)
        mean, variance = wide.mean(axis=0), wide.var(axis=0)
        # What rounding leaves of a constant column's spread is none: scikit-learn's rule.
        rows, eps = len(X), np.finfo(np.float64).eps
        constant = variance <= rows * eps * variance + (rows * mean * eps) ** 2
        scale = np.where(constant, 1.0, np.sqrt(variance))
        # Rounded where the library rounds: its principal components hang on the last bits.
        mean, scale = mean.astype(np.float32), scale.astype(np.float32)
        X, queries = (X - mean) / scale, (queries - mean) / scale
        if X.shape[1] > self.most_features:
            X, queries = self._components(X, queries)
        room = ((0, 0), (0, self.most_features - X.shape[1]))
        return Table(np.pad(X, room), table.y, np.pad(queries, room), table.classes)

    def _components(self, X: FloatArray, queries: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The leading principal directions by the library's randomised method, from a seed of its own."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            rows = torch.from_numpy(np.ascontiguousarray(X))
            _, _, directions = torch.pca_lowrank(rows, q=min(len(rows), self.most_features))
        return X @ directions.numpy(), queries @ directions.numpy()


load = Model
