"""Rill as its definition reads: float64, one token at a time, a dictionary of rows, no speed.

What the engine is tested against. Written from the definition, not from the engine: nothing is shared
with it, nothing is folded, batched or cached that the definition does not cache.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

WINDOW, REFERENCE, CLIP = 4096, 256, 5.0


class SlowColumn:
    """One column's statistics and reference sample."""

    def __init__(self) -> None:
        self.count, self.mean, self.var = 0, 0.0, 0.0
        self.ring = np.full(REFERENCE, np.nan)  # NaN where a value was missing, or none came yet
        self.place = 0

    def advanced(self, x: float) -> tuple[int, float, float]:
        if not math.isfinite(x):
            return self.count, self.mean, self.var
        rate = max(1 / (self.count + 1), 1 / WINDOW)
        delta = x - self.mean
        return self.count + 1, self.mean + rate * delta, (1 - rate) * (self.var + rate * delta**2)

    def channels(self, x: float) -> tuple[bool, list[float]]:
        """Whether the column is visible, and its 13 channels before they are scaled."""
        _, mean, var = self.advanced(x)
        if var <= 0:
            return False, [0.0] * 13
        if not math.isfinite(x):
            return True, [0.0] * 12 + [1.0]
        z = min(CLIP, max(-CLIP, (x - mean) / math.sqrt(var)))
        below, equal = int(np.sum(self.ring < x)), int(np.sum(self.ring == x))
        r = int(np.sum(np.isfinite(self.ring)))
        p = (below + equal / 2 + 0.5) / (r + 1)
        g = math.log(p / (1 - p)) / 1.702
        out = [z, math.tanh(z), math.sin(3 * z), math.exp(-z * z), g, math.sin(2 * g)]
        out += [math.cos(2 * g), math.sin(5 * g), math.cos(5 * g), math.sin(11 * g)]
        return True, [*out, math.cos(11 * g), equal / max(r, 1), 0.0]

    def learn(self, x: float, enters: bool) -> None:
        self.count, self.mean, self.var = self.advanced(x)
        if enters:
            self.ring[self.place] = x if math.isfinite(x) else math.nan
            self.place = (self.place + 1) % REFERENCE


class SlowFeatures:
    def __init__(self, columns: int) -> None:
        self.columns = [SlowColumn() for _ in range(columns)]
        self.rows = 0

    def channels(self, row: Any) -> np.ndarray:
        """(F, 13)"""
        found = [
            column.channels(float(x))
            for column, x in zip(self.columns, np.float32(row), strict=True)
        ]
        visible = sum(seen for seen, _ in found)
        return np.array([values for _, values in found]) / math.sqrt(max(visible, 1))

    def learn(self, row: Any) -> None:
        enters = self.rows < REFERENCE or self.rows * 2654435761 % 2**32 < 2**29
        for column, x in zip(self.columns, np.float32(row), strict=True):
            column.learn(float(x), enters)
        self.rows += 1


class SlowRill:
    """One lane. `predict(x)`, then `add(key, x, y)`, then `promote(keys)` and `evict(keys)`."""

    def __init__(self, arrays: Any, shape: Any, features: int) -> None:
        self.w = {name: np.asarray(array, np.float64) for name, array in arrays.items()}
        self.s = shape
        self.features = SlowFeatures(features)
        self.rows: dict[int, dict[str, Any]] = {}
        self.last: dict[int, int] = {}
        self.t = 0

    # -- pieces ---------------------------------------------------------------------------------

    def rms(self, x: np.ndarray, gain: str) -> np.ndarray:
        return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6) * self.w[gain]

    def gated(self, x: np.ndarray, name: str) -> np.ndarray:
        up = self.w[f"{name}.up.weight"] @ self.rms(x, f"{name}.norm.gain")
        gate, value = up[: len(up) // 2], up[len(up) // 2 :]
        return x + self.w[f"{name}.down.weight"] @ (gate / (1 + np.exp(-gate)) * value)

    def turn(self, heads: np.ndarray) -> np.ndarray:
        out, r = heads.copy(), self.s.rotary // 2
        for j in range(r):
            angle = self.t * 10 ** (-6 * j / (r - 1))
            a, b = heads[:, j], heads[:, r + j]
            out[:, j] = a * math.cos(angle) - b * math.sin(angle)
            out[:, r + j] = a * math.sin(angle) + b * math.cos(angle)
        return out

    def heads(self, x: np.ndarray, name: str, which: str) -> np.ndarray:
        flat = self.w[f"{name}.{which}.weight"] @ x
        return self.turn(self.rms(flat.reshape(-1, self.s.head_dim), f"{name}.{which}_norm.gain"))

    def attend(self, name: str, q: np.ndarray, keys: Any, values: Any, rest: Any) -> np.ndarray:
        """Heads q (H, D); keys and values lists of (G, ...); `rest` (G, ...) the sink's value."""
        keys = np.array([*keys, self.w[f"{name}.sink"]])
        values = np.array([*values, rest])
        out = []
        for head in range(self.s.heads):
            g = head // (self.s.heads // self.s.kv_heads)
            score = keys[:, g] @ q[head] / math.sqrt(self.s.head_dim)
            weight = np.exp(score - score.max())
            out.append(weight @ values[:, g] / weight.sum())
        return np.array(out)

    def embed(self, x: Any) -> np.ndarray:
        channels = self.features.channels(x)
        e = np.zeros(self.s.width)
        for column, values in enumerate(channels):
            e += values @ self.w["columns"][column % self.s.slots]
        for i in range(self.s.row_layers):
            e = self.gated(e, f"row.{i}")
        return e

    def encode(self, x: np.ndarray, labelled: bool) -> tuple[np.ndarray, list[Any], list[Any]]:
        """A token's final state and, if it is a labelled one, its keys and values."""
        own_keys, own_values = [], []
        for i in range(self.s.layers):
            name = f"layers.{i}"
            h = self.rms(x, f"{name}.norm.gain")
            keys = [row["keys"][i] for row in self.rows.values()]
            values = [row["values"][i] for row in self.rows.values()]
            if labelled:
                own_keys.append(self.heads(h, f"{name}.keys", "k"))
                own_values.append((self.w[f"{name}.v.weight"] @ h).reshape(-1, self.s.head_dim))
                keys, values = [*keys, own_keys[-1]], [*values, own_values[-1]]
            q = self.heads(h, f"{name}.keys", "q")
            found = self.attend(f"{name}.keys", q, keys, values, self.w[f"{name}.sink_value"])
            x = self.gated(x + self.w[f"{name}.out.weight"] @ found.ravel(), f"{name}.step")
        x = self.rms(x, "norm.gain")
        if labelled:
            own_keys.append(self.heads(x, "votes", "k"))
        return x, own_keys, own_values

    # -- the session ----------------------------------------------------------------------------

    def predict(self, x: Any) -> dict[int, float]:
        classes = sorted({row["label"] for row in self.rows.values()})
        if len(classes) < 2:
            return dict.fromkeys(classes, 1.0)
        state, _, _ = self.encode(self.embed(x) + self.w["ask"], labelled=False)
        q = self.heads(state, "votes", "q")
        keys = [row["keys"][-1] for row in self.rows.values()]
        scores = []
        for c in classes:
            ballot = [
                np.full((self.s.kv_heads, 1), float(row["label"] == c))
                for row in self.rows.values()
            ]
            vote = self.attend("votes", q, keys, ballot, np.zeros((self.s.kv_heads, 1)))[:, 0]
            loud = np.log(vote + 1e-4)
            code = self.w["codes"][c % self.s.codes]
            left = (self.w["head.match_q.weight"] @ state).reshape(self.s.matches, -1)
            right = (self.w["head.match_c.weight"] @ code).reshape(self.s.matches, -1)
            match = np.sum(left * right, axis=1) / math.sqrt(self.s.match_dim)
            held = sum(row["label"] == c for row in self.rows.values())
            standing = [
                math.log(held / len(self.rows)) / 4,
                math.log(1 + held) / 4,
                math.log(1 + self.t - self.last[c]) / 4,
                math.log(1 + len(classes)) / 2,
            ]
            z = np.concatenate([vote, loud / 4, match, standing])
            u = self.w["head.hidden.weight"] @ z + self.w["head.hidden.bias"]
            gelu = 0.5 * u * (1 + np.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3)))
            scores.append(float(self.w["head.score.weight"][0] @ gelu + loud.mean()))
        top = max(scores)
        total = sum(math.exp(score - top) for score in scores)
        return {c: math.exp(s - top) / total for c, s in zip(classes, scores, strict=True)}

    def add(self, key: int, x: Any, y: int) -> None:
        token = self.embed(x) + self.w["codes"][y % self.s.codes]
        _, keys, values = self.encode(token, labelled=True)
        self.rows[key] = {"label": y, "keys": keys, "values": values}
        self.features.learn(x)
        self.last[y] = self.t
        self.t += 1

    def promote(self, key: int) -> None:
        names = [*(f"layers.{i}.keys" for i in range(self.s.layers)), "votes"]
        for i, name in enumerate(names):
            self.rows[key]["keys"][i][:, self.s.rotary :] += self.w[f"{name}.offset"]

    def evict(self, key: int) -> None:
        del self.rows[key]
