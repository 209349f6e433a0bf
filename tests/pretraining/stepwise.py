"""Rill step by step in plain NumPy, float64: the reading of `model.py` that an engine must equal.

One session, one stream, no speed: the context is a dictionary of rows. See pretraining/README.md
for the same in words.
"""

import math

import numpy as np
from pretraining.features import ColumnState, channels_of


def rms(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gain


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


class StepwiseSession:
    """predict(x), then add(x, y) gives a row its number; promote(rows) and evict(rows) follow."""

    def __init__(self, arrays, header, columns, slot=None, code=None):
        self.w = {k: np.asarray(v, np.float64) for k, v in arrays.items()}
        self.s = header["shape"]
        self.state = ColumnState(columns)
        self.slot = np.arange(columns) % self.s["slots"] if slot is None else np.asarray(slot)
        self.code = np.arange(self.s["codes"]) if code is None else np.asarray(code)
        self.rows = {}  # row number -> {"label", "position", "keys": [...], "values": [...]}
        self.last = {}  # class -> position of its last arrival
        self.number = 0  # rows added
        self.position = 0  # what RoPE counts: the next row's arrival number

    # -- pieces ---------------------------------------------------------------------------------
    def gated(self, x, name):
        h = rms(x, self.w[f"{name}.norm.gain"])
        gate, up = np.split(self.w[f"{name}.up.weight"] @ h, 2)
        return x + self.w[f"{name}.down.weight"] @ (silu(gate) * up)

    def embed(self, x):
        channels = channels_of(self.state.base(x))  # (F, CHANNELS)
        e = np.einsum("fc,fcd->d", channels, self.w["columns"][self.slot])
        for i in range(self.s["row_layers"]):
            e = self.gated(e, f"row.{i}")
        return e

    def turn(self, x):
        """Rotate the heads (heads, D) of a token at the present position."""
        r = self.s["rotary"] // 2
        angle = self.position / np.logspace(0, 6, r)
        a, b, rest = x[:, :r], x[:, r : 2 * r], x[:, 2 * r :]
        cos, sin = np.cos(angle), np.sin(angle)
        return np.concatenate([a * cos - b * sin, a * sin + b * cos, rest], 1)

    def attend(self, name, q, keys, values, sink_value):
        """q (H, D); keys, values (rows, G, D or more): (H, value dims)."""
        H, G = self.s["heads"], self.s["kv_heads"]
        out = []
        for h in range(H):
            g = h // (H // G)
            k = np.concatenate([keys[:, g], self.w[f"{name}.sink"][g][None]])
            v = np.concatenate([values[:, g], sink_value[g][None]])
            score = k @ q[h] / math.sqrt(self.s["head_dim"])
            p = np.exp(score - score.max())
            out.append(p @ v / p.sum())
        return np.array(out)

    def heads(self, x, weight, gain):
        return rms((weight @ x).reshape(-1, self.s["head_dim"]), gain)

    def run(self, e, labelled):
        """A token through the layers: its final state, and its keys and values if labelled."""
        x, keys, values = e, [], []
        kept = list(self.rows.values())
        D = self.s["head_dim"]
        for i in range(self.s["layers"]):
            n = f"layers.{i}"
            h = rms(x, self.w[f"{n}.norm.gain"])
            q = self.turn(
                self.heads(h, self.w[f"{n}.keys.q.weight"], self.w[f"{n}.keys.q_norm.gain"])
            )
            K, V = [r["keys"][i] for r in kept], [r["values"][i] for r in kept]
            if labelled:
                k = self.heads(h, self.w[f"{n}.keys.k.weight"], self.w[f"{n}.keys.k_norm.gain"])
                keys.append(self.turn(k))
                values.append((self.w[f"{n}.v.weight"] @ h).reshape(-1, D))
                K, V = [*K, keys[-1]], [*V, values[-1]]
            G = self.s["kv_heads"]
            K, V = np.array(K).reshape(-1, G, D), np.array(V).reshape(-1, G, D)
            o = self.attend(f"{n}.keys", q, K, V, self.w[f"{n}.sink_value"])
            x = x + self.w[f"{n}.out.weight"] @ o.reshape(-1)
            x = self.gated(x, f"{n}.step")
        x = rms(x, self.w["norm.gain"])
        if labelled:
            k = self.heads(x, self.w["votes.k.weight"], self.w["votes.k_norm.gain"])
            keys.append(self.turn(k))
        return x, keys, values

    # -- the session ----------------------------------------------------------------------------
    def scores(self, x):
        """({class: score}) of the classes in the context."""
        if not self.rows:
            return {}
        kept = list(self.rows.values())
        classes = sorted({r["label"] for r in kept})
        s, w = self.s, self.w
        state, _, _ = self.run(self.embed(x) + w["ask"], labelled=False)
        q = self.turn(self.heads(state, w["votes.q.weight"], w["votes.q_norm.gain"]))
        ballot = np.array([[r["label"] == c for c in classes] for r in kept], float)
        ballot = np.repeat(ballot[:, None], s["kv_heads"], 1)
        keys = np.array([r["keys"][-1] for r in kept])
        votes = self.attend("votes", q, keys, ballot, np.zeros((s["kv_heads"], len(classes))))
        loud = np.log(votes + 1e-4)  # (H, classes)
        left = (w["head.match_q.weight"] @ state).reshape(s["matches"], -1)
        out = {}
        for j, c in enumerate(classes):
            code = w["codes"][self.code[c % len(self.code)]]
            right = (w["head.match_c.weight"] @ code).reshape(s["matches"], -1)
            match = (left * right).sum(1) / math.sqrt(s["match_dim"])
            count, total = sum(r["label"] == c for r in kept), len(kept)
            age = self.position - self.last[c]
            standing = [
                math.log(count / total) / 4,
                math.log(1 + count) / 4,
                math.log(1 + age) / 4,
                math.log(1 + len(classes)) / 2,
            ]
            z = np.concatenate([votes[:, j], loud[:, j] / 4, match, standing])
            hidden = gelu(w["head.hidden.weight"] @ z + w["head.hidden.bias"])
            out[c] = float(w["head.score.weight"][0] @ hidden) + loud[:, j].mean()
        return out

    def predict(self, x):
        """{class: probability} over the classes in the context."""
        scores = self.scores(x)
        if not scores:
            return {}
        top = max(scores.values())
        p = {c: math.exp(v - top) for c, v in scores.items()}
        return {c: v / sum(p.values()) for c, v in p.items()}

    def add(self, x, y):
        """Encode a labelled row under the context as it stands, before the policy acts."""
        code = self.w["codes"][self.code[y % len(self.code)]]
        _, keys, values = self.run(self.embed(x) + code, labelled=True)
        self.rows[self.number] = {"label": y, "keys": keys, "values": values}
        self.state.learn(x)
        self.last[y] = self.position
        self.number += 1
        self.position += 1

    def promote(self, rows):
        """Rows that went to the long bank: shift the part of their keys that does not turn."""
        names = [f"layers.{i}.keys" for i in range(self.s["layers"])] + ["votes"]
        for row in rows:
            for i, name in enumerate(names):
                self.rows[row]["keys"][i][:, self.s["rotary"] :] += self.w[f"{name}.offset"]

    def evict(self, rows):
        for row in rows:
            del self.rows[row]
