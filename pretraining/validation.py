"""Held-out synthetic streams to choose by, and what a curated context is worth on them.

    python -m pretraining.validation WEIGHTS [--streams 24 --rows 1024 --budget 256]

The synthetic set has a fixed seed far from any training step's, in named families: one for each
labelling rule, and some settings that matter at use (many classes, many columns, curated contexts).
A second report sets FIFO, DualFIFO and CURE against each other on the same streams of all families.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from pretraining.draws import Draws
from pretraining.episodes import Attention, loss_of, on_policy, prepare, score
from pretraining.export import restore
from pretraining.model import DenseAttention, Rill
from pretraining.prior import RULES, sample
from pretraining.retention import CURE, DUAL_FIFO, FIFO, plan

SEED = 987_654_321
# name: (columns, classes, rule, curated)
FAMILIES: dict[str, tuple[int, int, str | None, bool]] = {
    **{rule: (16, 10, rule, False) for rule in RULES},
    "wide": (96, 10, None, False),
    "many classes": (32, 40, None, False),
    "curated": (16, 10, None, True),
}


POLICIES = {"fifo": FIFO, "dual_fifo": DUAL_FIFO, "cure": CURE}
TAU = 0.3


@torch.no_grad()
def synthetic_report(
    model: Rill, device: torch.device, attention: Attention, streams: int, n: int
) -> dict[str, list[float]]:
    """Mean loss and accuracy of each family, and of all together."""
    out: dict[str, list[float]] = {}
    for k, (name, (F, C, rule, curated)) in enumerate(FAMILIES.items()):
        policy = CURE if curated else FIFO
        loss, accuracy = _run(model, device, attention, streams, n, n // 4, k, (F, C, rule), policy)
        out[name] = [round(loss, 4), round(accuracy, 4)]
    every: list[Any] = list(out.values())
    out["mean"] = [round(sum(v[i] for v in every) / len(every), 4) for i in (0, 1)]
    return out


@torch.no_grad()
def policies_report(
    model: Rill, device: torch.device, attention: Attention, streams: int, n: int, budget: int
) -> dict[str, list[float]]:
    """Mean loss and accuracy under each policy over the same streams, of every labelling rule."""
    out: dict[str, list[float]] = {}
    for name, policy in POLICIES.items():
        found = [
            _run(model, device, attention, streams, n, budget, 100 + k, (16, 10, rule), policy)
            for k, rule in enumerate(RULES)
        ]
        out[name] = [round(sum(each[i] for each in found) / len(found), 4) for i in (0, 1)]
        print("policy", name, json.dumps(out[name]), flush=True)
    return out


def _run(
    model: Rill,
    device: torch.device,
    attention: Attention,
    streams: int,
    n: int,
    budget: int,
    k: int,
    family: tuple[int, int, str | None],
    policy: int,
) -> tuple[float, float]:
    """Loss and accuracy over the second half of the k-th set of streams."""
    F, C, rule = family
    draw = Draws(SEED + k, device)
    made = sample(SEED + k, streams, n, F, C, device, rule)
    e = prepare(made, draw, model.shape.slots, model.shape.codes, C)

    def full(value: float) -> torch.Tensor:
        return torch.full((streams,), value, device=device)

    tau = TAU if policy == CURE else 0.0
    lanes = plan(full(policy).long(), full(budget).long(), full(0.75), full(tau))
    kept = on_policy(model, e, lanes, attention)
    scores, count = score(model, e, kept, attention)
    half = n // 2
    loss = loss_of(scores[:, half:], count[:, half:], e.label[:, half:])
    return float(loss.value), float(loss.accuracy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--streams", type=int, default=24)
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--budget", type=int, default=256)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--policies-only", action="store_true")
    parser.add_argument("--without-offset", action="store_true", help="the long bank unmarked")
    a = parser.parse_args()
    device, model = torch.device(a.device), restore(a.weights).to(a.device)
    if a.without_offset:
        for name, parameter in model.named_parameters():
            if name.endswith(".offset"):
                parameter.data.zero_()
    with torch.autocast(a.device, torch.bfloat16):
        if not a.policies_only:
            found = synthetic_report(model, device, DenseAttention, a.streams, a.rows)
            print("families", json.dumps(found), flush=True)
        policies_report(model, device, DenseAttention, a.streams, a.rows, a.budget)


if __name__ == "__main__":
    main()
