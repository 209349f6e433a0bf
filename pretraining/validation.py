"""Held-out synthetic streams to choose by, and bounded-context replays of stored streams.

The synthetic set has a fixed seed far from any training step's, in named families: one for each
labelling rule, and some settings that matter at use (many classes, many columns, curated contexts).
`python -m pretraining.validation WEIGHTS STREAM.npz ...` replays streams as a session would.
"""

from __future__ import annotations

from typing import Any

import torch
from pretraining.draws import Draws
from pretraining.episodes import Attention, loss_of, on_policy, prepare, score
from pretraining.model import Rill
from pretraining.prior import RULES, sample
from pretraining.retention import CURE, FIFO, plan

SEED = 987_654_321
# name: (columns, classes, rule, curated)
FAMILIES: dict[str, tuple[int, int, str | None, bool]] = {
    **{rule: (16, 10, rule, False) for rule in RULES},
    "wide": (96, 10, None, False),
    "many classes": (32, 40, None, False),
    "curated": (16, 10, None, True),
}


@torch.no_grad()
def synthetic_report(
    model: Rill, device: torch.device, attention: Attention, streams: int, n: int
) -> dict[str, list[float]]:
    """Mean loss and accuracy of each family, and of all together."""
    out: dict[str, list[float]] = {}
    for k, (name, (F, C, rule, curated)) in enumerate(FAMILIES.items()):
        draw = Draws(SEED + k, device)
        made = sample(SEED + k, streams, n, F, C, device, rule)
        e = prepare(made, draw, model.shape.slots, model.shape.codes, C)
        policy = torch.full((streams,), CURE if curated else FIFO, device=device)
        budget = torch.full((streams,), n // 4, device=device)
        share, tau = (
            torch.full((streams,), 0.75, device=device),
            torch.full((streams,), 0.3, device=device),
        )
        lanes = plan(policy, budget, share, tau if curated else torch.zeros_like(tau))
        kept = on_policy(model, e, lanes, attention)
        scores, count = score(model, e, kept, attention)
        half = n // 2
        loss = loss_of(scores[:, half:], count[:, half:], e.label[:, half:])
        out[name] = [round(float(loss.value), 4), round(float(loss.accuracy), 4)]
    every: list[Any] = list(out.values())
    out["mean"] = [round(sum(v[i] for v in every) / len(every), 4) for i in (0, 1)]
    return out
