"""Is Rill's cache as good as a context encoded afresh? CURE and DualFIFO, 10,000 rows, B = 1000.

    python benchmarks/rill_parity.py [noaa:cure ...]    # writes benchmarks/results/rill_parity.json
    python benchmarks/rill_parity.py --rows 3000 --budget 250 noaa:cure     # a quicker, smaller case
    python benchmarks/rill_parity.py --so-far noaa:cure     # what an unfinished run says, run nothing

The shipped session encodes a row once; what a row's keys say of rows that have left since stays in
them. Three other lanes of the same run encode their whole context afresh at every 16th, 64th and 256th
row. A run that was stopped goes on where it was.

Afresh means what training would have shown the model, had the rows that are gone never been there:
rows in order of arrival (the long bank's came first), each attending to those before it that are still
in the context; positions are arrival numbers and features those of the day, which never change; a row
has the long bank's offset for those that arrived after it had moved there, more than B_S rows later.
Before the first row leaves, encoding afresh must change nothing: that is asserted.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond import load_stream, prequential
from millpond.backbones.rill.engine import Room, linear
from millpond.backbones.rill.lanes import Lanes
from millpond.backbones.rill.network import Float32, Keys, Network, unit
from millpond.backbones.rill.session import RillSession
from millpond.backbones.rill.weights import PACKAGED, load
from millpond.context import Contexts, Deltas
from millpond.state import State
from paired import difference, so_far
from results import FOLDER, machine, write

ROWS, BUDGET = 10_000, 1000
EVERY = (0, 16, 64, 256)
"""Rows between two encodings afresh, a lane each; 0 is the shipped session."""
CASES: dict[str, tuple[str, str, float]] = {
    "noaa:cure": ("noaa", "cure", 0.4),
    "rialto:cure": ("rialto", "cure", 0.1),
    "noaa:dual_fifo": ("noaa", "dual_fifo", 0.4),
}
CHUNK = 128
"""Rows whose attention is worked on together"""


class Afresh(RillSession):
    """A session that encodes lane i's whole context afresh at every EVERY[i]-th row."""

    def __init__(self, network: Network, contexts: Contexts) -> None:
        super().__init__(network, contexts)
        # (lanes, slots, d): what each row's labelled token was when it came
        self._tokens: Float32 = np.zeros(
            (contexts.lanes, contexts.slots, network.shape.width), "f4"
        )
        self.changed = np.zeros(contexts.lanes)  # largest change of a key before the first eviction

    def update(self, deltas: Deltas) -> None:
        super().update(deltas)
        for lane, slot, arrival in zip(
            deltas.lanes.tolist(),
            deltas.added.tolist(),
            deltas.added_arrival.tolist(),
            strict=True,
        ):
            self._tokens[lane, slot] = self._token[lane]
            if EVERY[lane] and (arrival + 1) % EVERY[lane] == 0:
                self._encode_waiting(Lanes(np.array([lane])))
                self._encode_all(lane)

    def state(self) -> State:
        return super().state() | {"tokens": self._tokens.copy(), "changed": self.changed.copy()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._tokens[...], self.changed[...] = state["tokens"], state["changed"]

    def _encode_all(self, lane: int) -> None:
        contexts, cache, network = self._contexts, self._cache, self._network
        banks, slots = contexts.banks[lane], contexts.slots_of(lane)
        arrival, columns = contexts.arrival[lane, slots], slots + 1
        long = np.arange(len(slots)) < banks.n_long
        complete = int(arrival[-1]) + 1 == len(slots)
        before = cache.keys[lane][:, 0, : cache.dims, columns].copy() if complete else None
        # (row, key): whether the row sees the key's row in the long bank
        moved = long & (arrival[:, None] - arrival > banks.short_budget)
        turn = np.exp(1j * arrival[:, None] * network.wave).astype(np.complex64)
        x = self._tokens[lane, slots]
        for i, (keys, values) in enumerate(_encoded(network, x, turn, moved)):
            keys[long, cache.rotary :] += network.attentions()[i].offset[0]
            cache.keys[lane, i, 0, : cache.dims, columns] = keys
            if values is not None:
                cache.values[lane, i, 0, columns] = values
        if before is not None:
            after = cache.keys[lane][:, 0, : cache.dims, columns]
            self.changed[lane] = max(self.changed[lane], abs(after - before).max())


def _encoded(network: Network, x: Float32, turn: NDArray[np.complex64], moved: Any) -> Any:
    """Rows (n, d) in order of arrival -> keys (n, D) and values (n, D) of each attention in turn."""
    s, (n, d) = network.shape, x.shape
    room, query = Room(n, d, s.hidden), s.heads * s.head_dim
    qkv: Float32 = np.empty((n, query + 2 * s.head_dim), np.float32)
    for layer in network.layers:
        linear(room.normalise(x), layer.qkv, qkv)
        heads = qkv[:, : query + s.head_dim].reshape(n, -1, s.head_dim)
        unit(heads, np.empty(heads.shape[:2], np.float32), heads)
        key, value = (
            _turned(heads[:, -1] * layer.keys.k_gain, turn, s.rotary),
            qkv[:, -s.head_dim :],
        )
        asked = _turned(heads[:, :-1] * layer.keys.q_gain, turn[:, None], s.rotary)
        yield key.copy(), value
        x += _attended(asked, key, value, layer.keys, layer.sink_value, moved) @ layer.out
        room.step(x, layer.step)
    votes = (room.normalise(x) @ network.vote_key).reshape(n, s.head_dim)
    unit(votes, np.empty(n, np.float32), votes)
    yield _turned(votes * network.votes.k_gain, turn, s.rotary), None


def _turned(heads: Float32, turn: NDArray[np.complex64], rotary: int) -> Float32:
    heads = np.ascontiguousarray(heads)
    heads[..., :rotary].view(np.complex64)[...] *= turn
    return heads


def _attended(
    asked: Float32, key: Float32, value: Float32, keys: Keys, sink_value: Float32, moved: Any
) -> Float32:
    """(n, H, D) queries of rows that see those before them, themselves and the sink -> (n, H D)."""
    n, H, D = asked.shape
    out: Float32 = np.empty((n, H, D), np.float32)
    still = D - keys.offset.shape[1]
    later = np.triu(np.full((CHUNK, CHUNK), -np.inf, np.float32), 1)
    banked = int(moved.any(0).sum())  # the long bank's rows come first
    for a in range(0, n, CHUNK):
        b = min(n, a + CHUNK)
        scores = (asked[a:b].reshape(-1, D) @ key[:b].T).reshape(b - a, H, b)
        scores[:, :, a:b] += later[: b - a, None, : b - a]
        lift = asked[a:b, :, still:] @ keys.offset[0]  # (rows, H)
        seen = scores[:, :, :banked]
        seen += lift[:, :, None] * moved[a:b, None, : seen.shape[2]]
        sink = asked[a:b] @ keys.sink[0]
        top = np.maximum(scores.max(-1), sink)
        scores -= top[..., None]
        weights, rest = np.exp(scores, out=scores), np.exp(sink - top)
        found = (weights.reshape(-1, b) @ value[:b]).reshape(b - a, H, D)
        found += rest[..., None] * sink_value[0]
        out[a:b] = found / (weights.sum(-1) + rest)[..., None]
    return out.reshape(n, H * D)


class AfreshRill:
    name = "rill, encoded afresh"

    def __init__(self) -> None:
        self._network = Network(load(PACKAGED))
        assert self._network.shape.kv_heads == 1  # as the shapes above are written

    def open(self, contexts: Contexts) -> Afresh:
        self.session = Afresh(self._network, contexts)
        return self.session


def run(case: str, rows: int, budget: int, unfinished: bool) -> dict[str, Any]:
    name, policy, tau = CASES[case]
    stream, sha256 = load_stream(name).head(rows), load(PACKAGED).sha256
    folder = Path("runs") / "rill_parity" / sha256[:12] / f"{case}-{rows}-{budget}"
    if unfinished:
        predictions = so_far(folder, len(EVERY))["prediction"]
    else:
        backbone = AfreshRill()
        results = prequential(
            stream,
            backbone=backbone,
            policy=[policy] * len(EVERY),
            tau=tau,
            budget=budget,
            out=folder,
            resume=True,
        )
        changed = float(backbone.session.changed.max())
        assert changed < 1e-3, f"before any eviction, keys encoded afresh differ by {changed}"
        predictions = np.stack([result.predictions for result in results])
    y, scored = stream.y[: predictions.shape[1]], predictions[0] >= 0
    accuracy = (predictions == y)[:, scored].mean(axis=1)
    gains = {
        str(every): difference(lane, predictions[0], y)
        for every, lane in zip(EVERY, predictions, strict=True)
        if every
    }
    shown = "  ".join(
        f"every {every}: {gain['points']:+.2f} [{gain['interval_95'][0]:+.2f}, "
        f"{gain['interval_95'][1]:+.2f}]"
        for every, gain in gains.items()
    )
    print(f"{case:15} {len(y):,} rows: shipped {100 * accuracy[0]:.2f}  afresh {shown}", flush=True)
    return {
        "stream": name,
        "policy": policy,
        "tau": tau if policy == "cure" else None,
        "rows": len(y),
        "of": rows,
        "budget": budget,
        "accuracy_by_rows_between": dict(zip(map(str, EVERY), accuracy.tolist(), strict=True)),
        "afresh_minus_shipped": gains,
        "sha256": sha256,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--so-far", action="store_true")
    arguments = parser.parse_args()
    path = FOLDER / "rill_parity.json"
    for case in arguments.cases:
        found = run(case, arguments.rows, arguments.budget, arguments.so_far)
        figures = json.loads(path.read_text()) if path.exists() else {"cases": {}}
        figures["cases"][f"{case}, {arguments.rows} rows, B = {arguments.budget}"] = found
        write("rill_parity", {**figures, "machine": machine()})


if __name__ == "__main__":
    main()
