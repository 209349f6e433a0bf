"""TabICL-v2 (Qu et al.): the network of `tabicl`, its library's single estimator around it.

At one estimator that library shuffles nothing and applies no power transform: columns are imputed with
their means, those that do not vary are left out, the rest standardised and its outliers pulled in. This
is done here in NumPy, bit for bit as there. More than ten classes go through the library's hierarchy.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tabicl._model.inference_config import InferenceConfig
from tabicl._model.tabicl import TabICL as Network

from millpond.backbones.published.device import UNREADABLE, Place, Unreadable, read_checkpoint
from millpond.backbones.published.tables import FloatArray, Table, grouped, imputed

CLIP = 100.0
SIGMAS = 4.0
TEMPERATURE = 0.9
CELLS = (1 << 16, 1 << 21)
"""Cells of tables that go through the network together: more only fill memory."""


class Model:
    """The network with one checkpoint's weights, on one device."""

    def __init__(self, path: Path, place: Place) -> None:
        self.place = place
        checkpoint = read_checkpoint(path)
        try:
            self.network = Network(**checkpoint["config"])
            self.network.load_state_dict(checkpoint["state_dict"])
        except UNREADABLE as error:
            raise Unreadable(f"it does not hold TabICL ({str(error)[:200]})") from None
        self.network.eval().requires_grad_(False).to(place.device)
        self.most_classes = int(self.network.max_classes)

    def probabilities(self, tables: list[Table]) -> list[FloatArray]:
        """Tables of equally many rows and varying columns in one forward; classes may differ."""
        return grouped([prepared(table) for table in tables], self._key, self._together, self._most)

    def _key(self, table: Table) -> tuple[int, ...]:
        return (*table.shape(), max(table.classes, self.most_classes))

    def _most(self, table: Table) -> int:
        return self.place.most(CELLS, (len(table.X) + len(table.queries)) * table.X.shape[1])

    def _together(self, tables: list[Table]) -> list[FloatArray]:
        X = self.place.send(np.stack([np.concatenate([t.X, t.queries]) for t in tables]))
        y = self.place.send(np.stack([t.y for t in tables]).astype(np.float32))
        classes = self.place.send(np.array([t.classes for t in tables]))
        with self.place.quietly():
            logits = self._logits(X, y, tables[0].classes).float() / TEMPERATURE
            absent = torch.arange(logits.shape[2], device=logits.device) >= classes[:, None, None]
            proba = logits.masked_fill(absent, -torch.inf).softmax(-1)
        found = self.place.fetch(proba)
        return [rows[:, : table.classes] for rows, table in zip(found, tables, strict=True)]

    def _logits(self, X: torch.Tensor, y: torch.Tensor, classes: int) -> torch.Tensor:
        """(B, T + k, d), (B, T) -> (B, k, C) logits."""
        network = self.network
        if classes > self.most_classes:
            config = InferenceConfig()
            stage = {"device": self.place.device, "use_amp": False, "use_fa3": False}
            config.update_from_dict(
                dict.fromkeys(("COL_CONFIG", "ROW_CONFIG", "ICL_CONFIG"), stage)
            )
            return network(X, y, inference_config=config)
        # The stages' plain forwards, which training uses: those for inference measure memory, empty
        # caches and wait for the device at each stage. Layers below stay in evaluation mode.
        stages = (network.col_embedder, network.row_interactor, network.icl_predictor)
        try:
            for stage in stages:
                stage.training = True
            rows = network.row_interactor(network.col_embedder(X, y_train=y))
            return network.icl_predictor(rows, y_train=y)
        finally:
            for stage in stages:
                stage.training = False


def prepared(table: Table) -> Table:
    """The table as the network takes it, in the library's float32 arithmetic."""
    X, queries = imputed(table.X, table.queries)
    varies = X.max(axis=0) > X.min(axis=0)
    if not varies.any():
        varies[0] = True
    if not varies.all():
        X, queries = X[:, varies], queries[:, varies]
    mean, scale = X.mean(axis=0), X.std(axis=0) + np.float32(1e-6)
    X = np.clip((X - mean) / scale, -CLIP, CLIP)
    queries = np.clip((queries - mean) / scale, -CLIP, CLIP)
    low, high = _bounds(X)
    inside = np.where((low > X) | (high < X), np.float32(np.nan), X)
    if np.isnan(inside).any():
        low, high = _bounds(inside)
    return Table(_between(X, low, high), table.y, _between(queries, low, high), table.classes)


def _bounds(X: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    mean = np.nanmean(X, axis=0)
    deviation = np.maximum(np.nanstd(X, axis=0, ddof=1), np.float32(1e-6))
    return mean - SIGMAS * deviation, mean + SIGMAS * deviation


def _between(
    X: NDArray[np.float32], low: NDArray[np.float32], high: NDArray[np.float32]
) -> NDArray[np.float32]:
    X = np.maximum(-np.log1p(np.abs(X)) + low, X)
    return np.minimum(np.log1p(np.abs(X)) + high, X)


load = Model
