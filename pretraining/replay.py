"""Replay stored streams as a session would run them: bounded context, keys cached, test then train.

    python -m pretraining.replay WEIGHTS STREAM.npz ... [--policy cure --tau 0.3 --limit 20000]

A stream is cut into blocks no longer than the short bank. Which rows overflow within a block, and
with which entropies, is then known before the block runs, so the policy is followed row by row and
a block still is one forward over its rows and the cached keys (tested equal to step by step).
With `--lanes K` the stream is cut into K stretches that run together, each led in by `--lead` rows:
quick on a GPU, but long banks start afresh in each, so only `--lanes 1` is the whole stream's figure.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from pretraining.episodes import Attention
from pretraining.export import restore
from pretraining.features import expand, stream_base
from pretraining.model import (
    DenseAttention,
    Rill,
    Rows,
    visibility,
)
from pretraining.retention import CURE, DUAL_FIFO, FIFO, Banks, plan
from pretraining.standing import (
    log_probabilities,
    normalised_entropy,
    standing_of,
)
from torch import Tensor

POLICIES = {"fifo": FIFO, "dual_fifo": DUAL_FIFO, "cure": CURE}


@dataclass
class Stretches:
    """Parts of one stream as lanes: raw rows, features, labels, and which rows of each count."""

    X: Tensor  # (K, n, F)
    base: Tensor  # (K, n, BASE, F)
    y: Tensor  # (K, n)
    first: list[int]  # row of the stream at which a lane starts
    scored: Tensor  # (K, n)
    classes: int
    warmup: int


def stretches(
    X: npt.NDArray[np.float32], y: npt.NDArray[np.int64], lanes: int, lead: int, warmup: int
) -> Stretches:
    """Cut a stream into lanes; its features are computed over the whole of it, once."""
    N, base = len(y), stream_base(X)
    own = -(-N // lanes)
    first = [max(0, k * own - lead) for k in range(lanes)]
    n = min(N, own + (lead if lanes > 1 else 0))
    index = torch.tensor(first)[:, None] + torch.arange(n)
    inside = index < N
    lane = torch.arange(lanes)[:, None]
    scored = inside & (index >= lane * own) & (index < (lane + 1) * own) & (index >= warmup)
    index = index.clamp(max=N - 1)

    def part(whole: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(whole)[index]

    return Stretches(part(X), part(base), part(y), first, scored, int(y.max()) + 1, warmup)


@torch.no_grad()
def replay(
    model: Rill,
    s: Stretches,
    policy: str,
    budget: int = 1000,
    rho: float = 0.75,
    tau: float = 0.3,
    block: int = 128,
    attention: Attention = DenseAttention,
    device: str = "cpu",
    step: int = 1,
) -> Tensor:
    """(K, n, C) log-probabilities of every row; `step` rows a policy decision (1 is exact)."""
    K, n = s.y.shape
    C, shape = s.classes, model.shape

    def full(value: float) -> Tensor:
        return torch.full((K,), value, device=device)

    lanes = plan(full(POLICIES[policy]), full(budget), full(rho), full(tau))
    X, y = s.X.to(device).double(), s.y.to(device)
    banks = Banks(lanes, X, y, C)
    code = (torch.arange(C, device=device) % shape.codes).expand(K, -1)
    slot = (torch.arange(X.shape[-1], device=device) % shape.slots).expand(K, -1)
    start = torch.tensor(s.first, device=device)[:, None]
    entropy = torch.zeros(K, n, device=device)
    last = torch.full((K, C), -1, device=device)
    out, cache = [], None
    block = min(block, int(lanes.short.min()))
    for t0 in range(0, n, block):
        t1 = min(n, t0 + block)
        for t in range(t0, t1, step):
            banks.observe(entropy, min(step, t1 - t))
        at = torch.arange(t0, t1, device=device).expand(K, -1)
        new = Rows(at, banks.promoted[:, t0:t1], banks.leaves[:, t0:t1], at + start)
        rows, labels = new, y[:, t0:t1]
        if cache is not None:
            old = cache.rows
            old.promoted = banks.promoted.gather(1, old.arrive)
            old.leaves = banks.leaves.gather(1, old.arrive)
            rows, labels = old.join(new), torch.cat([cache.label, labels], 1)
        m = labels.shape[1]
        seen = visibility(new, rows)[:, t1 - t0 :, : 2 * m]
        one = F.one_hot(labels, C).float()
        count = ((seen[..., :m] | seen[..., m:]).float() @ one).round().long()
        placed = torch.where(one[:, -(t1 - t0) :] > 0, new.position[..., None], -1)
        run = torch.cat([last[:, None], placed], 1).cummax(1).values
        last = run[:, -1]
        age = torch.where(run[:, :-1] >= 0, new.position[..., None] - run[:, :-1], 0)
        scores, cache = model(
            expand(s.base[:, t0:t1].to(device).float()),
            slot,
            y[:, t0:t1],
            code,
            standing_of(count, age),
            new,
            attention(new, rows),
            cache,
            want_cache=True,
        )
        # Rows of the warm-up are stored with entropy 0, as the paper's loop does.
        entropy[:, t0:t1] = normalised_entropy(scores, count) * (at + start >= s.warmup)
        out.append(log_probabilities(scores, count).cpu())
        assert cache is not None
        stays = banks.leaves.gather(1, cache.rows.arrive) > t1
        order = (~stays).to(torch.int8).argsort(dim=1, stable=True)
        cache = cache.pick(order[:, : int(stays.sum(1).max())])
    return torch.cat(out, 1)


def figures(log_p: Tensor, s: Stretches) -> dict[str, Any]:
    """Accuracy, log loss and calibration over the rows that count, with the no-change floor."""
    several = log_p.isfinite().sum(-1) >= 2
    asked = s.scored & several
    p, y = log_p[asked], s.y[asked]
    top = p.exp().max(-1)
    right = (top.indices == y).double()
    bins = (top.values * 15).long().clamp(max=14)
    gap = torch.zeros(15, dtype=torch.double).index_add(0, bins, right - top.values.double())
    same = (s.y[:, 1:] == s.y[:, :-1]) & s.scored[:, 1:]
    return {
        "accuracy": round(100 * float(right.mean()), 2),
        "scored": int(asked.sum()),
        "unscored": int((s.scored & ~several).sum()),
        "log_loss": round(float(-p.gather(1, y[:, None]).clamp(min=-27.6).mean()), 4),
        "ece": round(float(gap.abs().sum()) / max(1, int(asked.sum())), 4),
        "no_change": round(100 * float(same.sum() / s.scored[:, 1:].sum()), 2),
    }


def read(path: Path, limit: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    with np.load(path, allow_pickle=False) as archive:
        return archive["X"][:limit].astype(np.float32), archive["y"][:limit].astype(np.int64)


def shuffled(n: int, within: int) -> npt.NDArray[np.int64]:
    """Row order permuted inside blocks: the control for what the order of labels gives away."""
    block = np.arange(n) // within
    return np.lexsort((np.random.default_rng(0).random(n), block))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("weights", type=Path)
    parser.add_argument("streams", type=Path, nargs="+")
    parser.add_argument("--policy", nargs="+", default=["fifo"], choices=list(POLICIES))
    parser.add_argument("--tau", type=float, default=0.3)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--rho", type=float, default=0.75)
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--lanes", type=int, default=1)
    parser.add_argument("--lead", type=int, default=1500)
    parser.add_argument("--shuffle-within", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path)
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    model = restore(a.weights).to(a.device)
    found = []
    for path in a.streams:
        X, y = read(path, a.limit)
        if a.shuffle_within:
            order = shuffled(len(y), a.shuffle_within)
            X, y = X[order], y[order]
        s = stretches(X, y, a.lanes, a.lead, warmup=100)
        for policy in a.policy:
            began = time.perf_counter()
            with torch.autocast(a.device, torch.bfloat16, enabled=a.device == "cuda"):
                log_p = replay(model, s, policy, a.budget, a.rho, a.tau, device=a.device)
            line = {"stream": path.stem, "rows": len(y), "policy": policy, **figures(log_p, s)}
            line["seconds"] = round(time.perf_counter() - began, 1)
            print(json.dumps(line), flush=True)
            found.append(line)
    if a.out:
        a.out.parent.mkdir(parents=True, exist_ok=True)
        a.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
