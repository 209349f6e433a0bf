"""The seam on torch: contexts that live in NumPy, their caches on the device.

Rows, queries and answers cross to the device and back at every call. Runs of whole streams that test
and train row by row need not: see `stepper`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from millpond.backbones.base import Prediction
from millpond.backbones.rill.anew import told_anew
from millpond.backbones.rill.device.columns import Columns
from millpond.backbones.rill.device.engine import Engine
from millpond.backbones.rill.device.lanes import At
from millpond.backbones.rill.device.model import Model
from millpond.backbones.rill.network import Float32
from millpond.backbones.rill.session import BLOCK, COMPARED, refuse_other_weights
from millpond.context import Contexts, Deltas
from millpond.state import State, under


class TorchSession:
    """The session of one or many lanes; `RillSession` says when a row is encoded."""

    def __init__(self, model: Model, contexts: Contexts) -> None:
        self._model, self._contexts = model, contexts
        lanes = contexts.lanes
        self._places: list[dict[int, int]] = [{} for _ in range(lanes)]
        self._codes = np.zeros((lanes, 2), np.int64)  # the class at each place
        self._waiting = np.zeros(lanes, np.bool_)
        self._asked = np.zeros(lanes, np.bool_)
        self._query: Float32 = np.zeros((lanes, 0), np.float32)
        self._embedding = torch.zeros((lanes, model.shape.width), device=model.device)
        self._engine = Engine(model, lanes, contexts.slots, 0, 2)

    # -- the seam --------------------------------------------------------------------------------

    def update(self, deltas: Deltas) -> None:
        """Follow one delta in each of n lanes. The new rows wait for their lanes' next queries."""
        rows, at = self._add(deltas)  # which may put wider columns in place
        self._engine.columns.learn(rows, at)

    def _add(self, deltas: Deltas) -> tuple[torch.Tensor, At]:
        """All of it but the statistics of the columns: the new rows (n, F), and their lanes."""
        lanes, engine = deltas.lanes, self._engine
        X = self._contexts.X[lanes, deltas.added]
        labels = self._contexts.y[lanes, deltas.added]
        if X.shape[1] != engine.features:
            self._set_columns(engine.columns.widened(X.shape[1]))
        waiting = lanes[self._waiting[lanes]]
        if len(waiting):
            engine.encode_waiting(self._at(waiting))
        at = self._at(lanes)
        place = [self._place(*pair) for pair in zip(lanes.tolist(), labels.tolist(), strict=True)]
        rows = torch.tensor(X, device=self._model.device)
        told = np.stack([place, deltas.added, deltas.evicted, deltas.promoted])
        places, *slots = torch.tensor(told, device=self._model.device)
        same = self._query[lanes].view(np.int32) == X.view(np.int32)  # NaN equals itself
        if (same.all(1) & self._asked[lanes]).all():
            embedded = at.of(self._embedding)
        else:
            embedded = engine.embed(rows[:, None], at)[:, 0]
        engine.add(embedded, places, (slots[0], slots[1], slots[2]), at)
        self._waiting[lanes], self._asked[lanes] = True, False
        return rows, at

    def predict(self, X: NDArray[np.float32], lanes: NDArray[np.int64]) -> list[Prediction]:
        """(n, k, d) queries to n lanes -> for each lane what its k rows are, given its context."""
        k, at, count = X.shape[1], self._at(lanes), self._engine.classes.count
        if X.shape[2] != self._engine.features:
            count = torch.zeros_like(count)  # nothing was learned yet
            answers = torch.zeros((len(lanes), k, count.shape[1]))
        else:
            most = min(BLOCK, COMPARED // max(X.shape[2], 1)) // len(lanes)
            size = max(1, most)
            parts = [
                self._ask(X[:, start : start + size], lanes, at) for start in range(0, k, size)
            ]
            answers = torch.cat(parts, 1) if parts else torch.zeros((len(lanes), 0, count.shape[1]))
        proba, held = answers.double().cpu().numpy(), at.of(count).cpu().numpy()
        predictions = []
        for lane, rows, here in zip(lanes.tolist(), proba, held, strict=True):
            places = np.flatnonzero(here)
            codes = self._codes[lane, places]
            order = np.argsort(codes)
            own = rows[:, places[order]] if len(places) > 1 else np.ones((k, len(places)))
            predictions.append(Prediction(codes[order], own))
        return predictions

    def state(self) -> State:
        state = {name: tensor.cpu().numpy() for name, tensor in self._saved().items()}
        state = {name: array.copy() for name, array in state.items()}
        state |= {name: getattr(self, f"_{name}").copy() for name in _ON_HOST}
        state["known"] = np.array([len(places) for places in self._places], np.int64)
        state["weights"] = np.frombuffer(bytes.fromhex(self._model.network.sha256), np.uint8)
        return state

    def restore(self, state: State) -> None:
        refuse_other_weights(state, self._model.network)
        self._set_columns(self._fresh_columns(state["query"]))
        self._engine.classes.widen(state["codes"].shape[1])
        for name in _ON_HOST:
            setattr(self, f"_{name}", state[name].copy())
        for lane, known in enumerate(state["known"].tolist()):
            codes = self._codes[lane, :known].tolist()
            self._places[lane] = {code: place for place, code in enumerate(codes)}
        for name, tensor in self._saved().items():
            tensor.copy_(torch.tensor(state[name]))

    def encode_anew(self, state: State) -> None:
        """See `RillSession.encode_anew`."""
        engine, saved = self._engine, under("engine.columns.", state)
        self._set_columns(self._fresh_columns(saved["mean"]))
        for name, tensor in engine.columns.saved().items():
            tensor.copy_(torch.tensor(saved[name]))
        for deltas in told_anew(self._contexts):
            at = self._at(deltas.lanes)
            if self._waiting[deltas.lanes[0]]:
                engine.encode_waiting(at)
                self._waiting[deltas.lanes] = False
            # The device counts positions; rows that were evicted in between count too.
            at.put(engine.position, torch.tensor(deltas.added_arrival, device=self._model.device))
            self._add(deltas)

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self._model, "contexts": self._contexts, "state": self.state()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        TorchSession.__init__(self, kept["model"], kept["contexts"])
        self.restore(kept["state"])  # by copies: what was kept may be read-only

    # -- inside ----------------------------------------------------------------------------------

    def _fresh_columns(self, like: ArrayLike) -> Columns:
        return Columns(self._contexts.lanes, np.shape(like)[1], self._model.device)

    def _at(self, lanes: NDArray[np.int64]) -> At:
        return At(lanes.tolist(), self._contexts.lanes, self._model.device)

    def _set_columns(self, columns: Columns) -> None:
        self._engine.set_columns(columns)
        self._asked[:] = False
        self._query = np.zeros((self._contexts.lanes, self._engine.features), np.float32)

    def _ask(self, X: NDArray[np.float32], lanes: NDArray[np.int64], at: At) -> torch.Tensor:
        embedded = self._engine.embed(torch.tensor(X, device=self._model.device), at)
        alone = X.shape[1] == 1
        self._asked[lanes] = alone
        if alone:
            self._query[lanes] = X[:, 0]
            at.put(self._embedding, embedded[:, 0])
        self._waiting[lanes] = False
        return self._engine.ask(embedded, at)

    def _place(self, lane: int, label: int) -> int:
        places, classes = self._places[lane], self._engine.classes
        place = places.get(label)
        if place is None:
            place = places[label] = len(places)
            if place == self._codes.shape[1]:
                more = max(2, place // 2)
                self._codes = np.pad(self._codes, ((0, 0), (0, more)))
                classes.widen(place + more)
            self._codes[lane, place] = label
            classes.code[lane, place] = label % self._model.shape.codes
        return place

    def _saved(self) -> dict[str, torch.Tensor]:
        return {f"engine.{name}": t for name, t in self._engine.saved().items()} | {
            "embedding": self._embedding
        }


_ON_HOST = ("codes", "waiting", "asked", "query")
