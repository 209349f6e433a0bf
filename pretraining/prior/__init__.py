"""The prior: batches of synthetic drifting streams, all on one device and deterministic in a seed.

A stream is made in five steps: causes with clusters, sources and smooth motion (causes.py), a
random network that observes them (causes.py), a labelling rule with two concepts and a schedule
between them (targets.py, drift.py), a recorder with its faults (columns.py), an order (order.py).
Every stream of a batch draws its own options; only tensor sizes are common to a batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from pretraining.draws import Draws
from pretraining.prior import columns, order, targets
from pretraining.prior.causes import draw_causes, observe, standardise
from pretraining.prior.drift import choose, schedule
from torch import Tensor

# Labelling rules and how often each is drawn.
RULES = {
    "scores": 0.11,
    "bins": 0.13,
    "prototypes": 0.14,
    "tree": 0.13,
    "clusters": 0.22,
    "sources": 0.03,
    "cards": 0.12,
    "chessboard": 0.07,
    "momentum": 0.05,
}
LATENT = 32
TARGET_COLUMNS = 10


@dataclass
class Streams:
    """X (B, n, F) with NaN where missing, constant where a stream has fewer columns; y (B, n)."""

    X: Tensor
    y: Tensor
    columns: Tensor  # (B,)
    classes: Tensor  # (B,)
    rule: Tensor  # (B,) index into RULES


def sample(
    seed: int,
    B: int,
    n: int,
    F: int = 32,
    C: int = 10,
    device: torch.device | str = "cpu",
    rule: str | None = None,
) -> Streams:
    """B streams of n rows, at most F columns and C classes; `rule` fixes the labelling rule."""
    draw = Draws(seed, device)
    names = list(RULES)
    weights = torch.tensor([*RULES.values()], device=draw.device)
    kind = draw.pick(weights[None], B)[0]
    if rule is not None:
        kind = torch.full_like(kind, names.index(rule))
    more = 2 + ((C - 1) * draw.rand(B, 1) ** (1.0 if C <= 16 else 1.5)).long().clamp(max=C - 2)
    classes = torch.where(draw.coin(0.3, B, 1), 2, more)
    is_cluster = kind == names.index("clusters")
    is_source = kind == names.index("sources")
    classes = torch.where(is_source[:, None], classes.clamp(max=12), classes)
    clustered = is_cluster | (draw.coin(0.3, B) & ~is_source)

    causes = draw_causes(draw, B, n, LATENT, classes, clustered)
    pool = observe(draw, causes.z, layers=int(draw.number(1, 5)))
    alive = (pool.std(1) > 1e-3).float()  # (B, P)
    pool = standardise(pool)
    width = (2 + draw.rand(B, 1) ** 1.3 * (F - 1)).long().clamp(max=F)  # (B, 1) columns
    X = _features(draw, pool, alive, width, F)

    second = choose(draw, schedule(draw, B, n, 0.4))
    T = _target_columns(draw, pool, alive, X, width)
    T_related = targets.relate(draw, T)
    made = [
        targets.scores(draw, T_related, second, classes, C),
        targets.bins(draw, T_related, second, classes, C),
        targets.prototypes(draw, T, second, classes, C),
        targets.tree(draw, T_related, second, classes),
        targets.clusters(draw, causes.cluster, second, classes),
        causes.source % classes,
    ]
    hands, used, label = targets.cards(draw, B, n, classes)
    made += [label, targets.chessboard(draw, T, second, classes)]
    made.append(targets.momentum(draw, T, second, classes))
    y = torch.stack(made).gather(0, kind[None, :, None].expand(1, B, n))[0]

    X = columns.record(draw, X)
    is_cards = (kind == names.index("cards"))[:, None, None]
    X, width = _deal(draw, X, width, hands, used, is_cards)

    # Label noise: none in most streams, then up to a third; sometimes labels stick instead.
    rate = (draw.rand(B, 1) - 0.65).clamp(min=0) ** 1.5 * 1.3
    y = torch.where(draw.rand(B, n) < rate, draw.below(classes, B, n), y)
    arrival = order.arrange(draw, X, y, C)
    X = X.gather(1, arrival[..., None].expand_as(X))
    y = y.gather(1, arrival)
    sticks = draw.coin(0.04, B, 1) & (draw.rand(B, n) < draw.rand(B, 1) * 0.8)
    y = _stick(y, sticks)
    X = columns.lose(draw, X, y)
    X = torch.where(torch.arange(F, device=X.device) < width[..., None], X, 0.0)
    # Classes are numbered at random among the stream's own: two classes are always 0 and 1.
    unused = torch.arange(C, device=y.device) >= classes
    number = (draw.rand(B, C) + unused).argsort(-1)
    return Streams(X, number.gather(1, y), width[:, 0], classes[:, 0], kind)


def _features(draw: Draws, pool: Tensor, alive: Tensor, width: Tensor, F: int) -> Tensor:
    """(B, n, F): pool columns, informative and live ones first, then noise."""
    B, n, P = pool.shape
    if F > P:
        pool = torch.cat([pool, draw.randn(B, n, F - P)], -1)
        alive = torch.cat([alive, -torch.ones(B, F - P, device=pool.device)], -1)
    best = (draw.rand(B, pool.shape[-1]) + alive).topk(F, dim=1).indices
    X = pool.gather(2, best[:, None].expand(-1, n, -1))
    # Some streams carry useless columns, and copies of others.
    junk = draw.coin(0.2, B, 1, 1) & draw.coin(0.3, B, 1, F)
    X = torch.where(junk, draw.randn(B, n, F), X)
    return torch.where(torch.arange(F, device=X.device) < width[..., None], X, 0.0)


def _target_columns(draw: Draws, pool: Tensor, alive: Tensor, X: Tensor, width: Tensor) -> Tensor:
    """(B, n, S) the columns a rule reads: features in most streams, hidden ones in others."""
    B, n, P = pool.shape
    S = TARGET_COLUMNS
    hidden = (draw.rand(B, P) + alive).topk(S, dim=1).indices
    shown = draw.below(width, B, S)
    T = torch.where(
        draw.coin(0.8, B, 1, 1),
        X.gather(2, shown[:, None].expand(-1, n, -1)),
        pool.gather(2, hidden[:, None].expand(-1, n, -1)),
    )
    number = 1 + (draw.rand(B, 1, 1) ** 2 * S).long().clamp(max=S - 1)
    return torch.where(torch.arange(S, device=T.device) < number, T, 0.0)


def _deal(
    draw: Draws, X: Tensor, width: Tensor, hands: Tensor, used: Tensor, where: Tensor
) -> tuple[Tensor, Tensor]:
    """Put the hands' columns in use first, and few or no others after them."""
    B, n, F = X.shape
    order = (~used).to(torch.int8).argsort(dim=1, stable=True)[:, :F]
    held = hands.gather(2, order[:, None].expand(-1, n, -1))
    count = used.sum(1, keepdim=True).clamp(max=F)
    extra = draw.ints(0, 4, B, 1) * draw.coin(0.4, B, 1)
    full = torch.cat([held, X], -1)[..., :F]
    front = torch.arange(F, device=X.device) < count[..., None]
    dealt = torch.where(front, full, X)
    # Equal numbers stay equal across columns: one scale and shift for all of them.
    dealt = torch.where(front, dealt * draw.log_uniform(0.1, 10, B, 1, 1), dealt)
    wide = torch.where(where[:, 0], (count + extra).clamp(2, F), width)
    return torch.where(where, dealt, X), wide


def _stick(y: Tensor, sticks: Tensor) -> Tensor:
    """Rows where `sticks` repeat the label before them."""
    t = torch.arange(y.shape[1], device=y.device).expand_as(y)
    source = torch.where(sticks, 0, t).cummax(1).values
    return y.gather(1, source)
