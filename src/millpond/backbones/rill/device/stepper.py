"""Whole streams on the device: test, then train, row after row of many lanes, without leaving it.

Rows go to the device a block at a time, and a block's answers come back once. A step, the contexts'
decisions included, is the same kernels on the same tensors whatever the values are: on a GPU it is
captured as a CUDA graph, and a row costs its replay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from millpond.backbones.rill.device.contexts import DeviceContexts
from millpond.backbones.rill.device.engine import Engine
from millpond.backbones.rill.device.lanes import At
from millpond.backbones.rill.device.model import Model
from millpond.backbones.rill.session import refuse_other_weights
from millpond.context import Contexts
from millpond.state import State

BLOCK = 512
"""Rows of a block."""


@dataclass(frozen=True)
class Answers:
    """What k rows of n lanes were given before their labels were learned."""

    proba: NDArray[np.float64]
    """(n, k, C) probabilities; 0 for classes that the context did not hold"""
    score: NDArray[np.float64]
    """(n, k) the uncertainty that each row was stored with"""
    classes: NDArray[np.int64]
    """(n, k) how many classes the context held"""


class Stepper:
    """Lanes that step together. A label's code is its class's place from the start.

    ``contexts`` says how the lanes are set up and stays empty; the first `warmup` rows are learned
    with score 0, as in the paper's loop.
    """

    def __init__(
        self, model: Model, contexts: Contexts, features: int, classes: int, warmup: int
    ) -> None:
        n, device = contexts.lanes, model.device
        self.model = model
        self.contexts = DeviceContexts(contexts, features, classes, device)
        self.engine = Engine(model, n, contexts.slots, features, classes)
        self.engine.classes.code.copy_(
            (torch.arange(classes, device=device) % model.shape.codes).expand(n, -1)
        )
        self._warmup = warmup
        self._at = At(range(n), n, device)
        self._X = torch.zeros((n, BLOCK, features), device=device)
        self._y = torch.zeros((n, BLOCK), dtype=torch.int64, device=device)
        self._t = torch.zeros(1, dtype=torch.int64, device=device)  # the row within the block
        self._proba = torch.zeros((n, BLOCK, classes), dtype=torch.float64, device=device)
        self._score = torch.zeros((n, BLOCK), dtype=torch.float64, device=device)
        self._held = torch.zeros((n, BLOCK), dtype=torch.int64, device=device)
        self._graph: torch.cuda.CUDAGraph | None = None

    def test_then_train(self, X: NDArray[np.float32], y: NDArray[np.int64]) -> Answers:
        """(n, k, F) rows and (n, k) labels of the lanes, k at most `BLOCK`."""
        k = X.shape[1]
        self._X[:, :k] = torch.from_numpy(X)
        self._y[:, :k] = torch.from_numpy(y)
        if self.model.device.type == "cuda" and self._graph is None:
            self._graph = self._captured()
        self._t.zero_()
        for _ in range(k):
            if self._graph is None:
                self._step()
            else:
                self._graph.replay()
        parts = (self._proba, self._score, self._held)
        return Answers(*(part[:, :k].cpu().numpy().copy() for part in parts))

    def _step(self) -> None:
        t, at = self._t, self._at
        X, y = self._X.index_select(1, t), self._y.index_select(1, t)[:, 0]
        embedded = self.engine.embed(X, at)
        proba = self.engine.ask(embedded, at)[:, 0]
        count = self.engine.classes.count
        late = self.engine.position >= self._warmup
        score = torch.where(late, self.contexts.score_of(proba, count), 0.0)
        self._proba.index_copy_(1, t, proba[:, None])
        self._score.index_copy_(1, t, score[:, None])
        self._held.index_copy_(1, t, (count > 0).sum(1, keepdim=True))
        added, evicted, promoted = self.contexts.observe(X[:, 0], y, score)
        self.engine.learn(X[:, 0], embedded[:, 0], y, (added, evicted, promoted), at)
        t += 1

    def _captured(self) -> torch.cuda.CUDAGraph:
        """A step as a graph. Warming up and capturing run steps; what they change is put back."""
        before = {name: tensor.clone() for name, tensor in self._saved().items()}
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self._t.zero_()
                self._step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        for name, tensor in self._saved().items():
            tensor.copy_(before[name])
        return graph

    # -- saving ----------------------------------------------------------------------------------

    def state(self) -> State:
        state = {name: tensor.cpu().numpy().copy() for name, tensor in self._saved().items()}
        return state | {
            "weights": np.frombuffer(bytes.fromhex(self.model.network.sha256), np.uint8)
        }

    def restore(self, state: State) -> None:
        refuse_other_weights(state, self.model.network)
        for name, tensor in self._saved().items():
            tensor.copy_(torch.from_numpy(state[name].copy()))

    def _saved(self) -> dict[str, Tensor]:
        engine, contexts = self.engine.saved(), self.contexts.saved()
        return {f"engine.{k}": v for k, v in engine.items()} | {
            f"contexts.{k}": v for k, v in contexts.items()
        }
