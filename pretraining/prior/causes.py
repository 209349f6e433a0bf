"""Latent causes and the random network that turns them into a pool of observable columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from pretraining.draws import Draws
from pretraining.prior.drift import paths, schedule, sources
from torch import Tensor


@dataclass
class Causes:
    """z (B, n, H) causes; cluster and source (B, n) of each row; how many clusters (B, 1)."""

    z: Tensor
    cluster: Tensor
    clusters: Tensor
    source: Tensor


def standardise(h: Tensor) -> Tensor:
    return (h - h.mean(1, keepdim=True)) / (h.std(1, keepdim=True) + 1e-4)


def _innovations(draw: Draws, B: int, n: int, H: int) -> Tensor:
    """Independent rows: Gaussian, heavy-tailed, uniform or discrete, per stream."""
    z, kind = draw.randn(B, n, H), draw.rand(B, 1, 1)
    z = torch.where(kind < 0.2, (z.abs() * z).clamp(-9, 9), z)
    z = torch.where(kind > 0.8, draw.rand(B, n, H) * 3.4 - 1.7, z)
    levels = draw.log_uniform(0.6, 4, B, 1, H)
    discrete = draw.coin(0.3, B, 1, 1) & draw.coin(0.5, B, 1, H)
    return torch.where(discrete, (z * levels).round() / levels, z)


def _calendar(draw: Draws, B: int, n: int) -> Tensor:
    """(B, n, 2) a clock: a linear trend, a sine, or a position within a period."""
    t = torch.arange(n, device=draw.device)[None, :, None]
    period = draw.log_uniform(4, 2 * n, B, 1, 2).round()
    phase = t / period + draw.rand(B, 1, 2)
    trend = 3.4 * (t / n - 0.5)
    kind = draw.rand(B, 1, 2)
    wave = (2 * math.pi * phase).sin() * 1.4
    saw = (phase % 1) * 3.4 - 1.7
    return torch.where(kind < 0.2, trend, torch.where(kind < 0.6, wave, saw))


def draw_causes(draw: Draws, B: int, n: int, H: int, classes: Tensor, clustered: Tensor) -> Causes:
    """Causes of B streams; `clustered` (B,) streams draw each row around a cluster's centre.

    classes (B, 1): a clustered stream has at least that many clusters, so that each can be a class.
    """
    column = torch.arange(H, device=draw.device)
    z = _innovations(draw, B, n, H)
    # Some columns of some streams move smoothly in time.
    amount = draw.rand(B, 1, H)
    amount = torch.where(draw.coin(0.5, B, 1, 1) & (amount > 0.4), amount, 0.0)
    z = z * (1 - amount).sqrt() + paths(draw, B, n, H) * amount.sqrt() * 1.3
    live = 2 + (draw.rand(B, 1, 1) ** 2 * (H - 2)).long()
    z = torch.where(column < live, z, 0.0)
    # Sources (sensors, buildings, users), each with its own offsets.
    k = 2 + draw.below(11, B, 1)
    source = sources(draw, B, n, k)
    offset = draw.randn(B, 12, H) * draw.coin(0.3, B, 1, H) * draw.log_uniform(0.1, 3, B, 1, 1)
    offset = offset * draw.coin(0.2, B, 1, 1)
    z = z + offset.gather(1, source[..., None].expand(-1, -1, H))
    # Clusters: iid, in runs, or as the sources come.
    most = 96
    clusters = classes + (draw.rand(B, 1) ** 3 * (most - classes)).long() // 2
    clusters = torch.where(draw.coin(0.5, B, 1), classes, clusters)
    weight = draw.rand(B, most) ** 2 + 1e-2
    weight = torch.where(draw.coin(0.4, B, 1), torch.ones_like(weight), weight)
    index = torch.arange(most, device=draw.device)
    random = draw.pick(torch.where(index < clusters, weight, 0.0), n)
    run = draw.log_uniform(2, 64, B, 1).long()
    t = torch.arange(n, device=draw.device)[None]
    runs = random.gather(1, (t // run).clamp(max=n - 1))
    turns = sources(draw, B, n, classes)
    kind = draw.rand(B, 1)
    cluster = torch.where(kind < 0.5, random, torch.where(kind < 0.7, runs, turns))
    clusters = torch.where(kind < 0.7, clusters, classes)
    centre = draw.randn(B, most, H) * 2
    where = draw.randn(B, most, H) * (draw.rand(B, 1, 1) < 0.3) * schedule_gap(draw, B)
    at = cluster[..., None].expand(-1, -1, H)
    moved = schedule(draw, B, n, 0.3)[..., None]
    middle = centre.gather(1, at) + where.gather(1, at) * moved
    spread = draw.log_uniform(0.02, 0.8, B, 1, 1)
    around = torch.where(column < live, middle + spread * z, z)
    z = torch.where(clustered[:, None, None], around, z)
    # Shared nuisances, such as light: smooth columns beyond the live ones.
    nuisance = draw.ints(0, 6, B, 1, 1)
    z = torch.where((column >= live) & (column < live + nuisance), paths(draw, B, n, H) * 1.5, z)
    clock = torch.where(draw.coin(0.15, B, 1, 1), _calendar(draw, B, n), z[..., :2])
    return Causes(torch.cat([clock, z[..., 2:]], -1), cluster, clusters, source)


def schedule_gap(draw: Draws, B: int) -> Tensor:
    """(B, 1, 1) how far clusters move."""
    return draw.log_uniform(0.2, 4, B, 1, 1)


def _activate(h: Tensor, kind: Tensor) -> Tensor:
    out = h
    for i, value in enumerate(
        (h.tanh(), h.relu(), (2 * h).sin(), h.abs(), (-h * h).exp(), (h > 0).to(h.dtype), h.round())
    ):
        out = torch.where(kind == i + 1, value, out)
    return out


def observe(draw: Draws, z: Tensor, layers: int) -> Tensor:
    """(B, n, H) causes -> (B, n, (layers + 1) H) columns of a random network with random drift."""
    B, n, H = z.shape
    drift = schedule(draw, B, n, 0.3)[..., None]
    h, pool = z, [z]
    for _ in range(layers):
        dense = 0.05 + 0.6 * draw.rand(B, 1, 1) ** 2
        wired = (draw.rand(B, H, H) < dense).float()
        wired = wired / (wired.sum(1, keepdim=True) + 1).sqrt()
        hidden = standardise(h)
        pre = torch.bmm(hidden, draw.randn(B, H, H) * wired) * (1 - drift)
        pre = pre + torch.bmm(hidden, draw.randn(B, H, H) * wired) * drift
        pre = pre + draw.randn(B, 1, H) * draw.rand(B, 1, 1) * 1.5
        kind = draw.ints(0, 8, B, 1, H)
        kind = torch.where(draw.coin(0.4, B, 1, 1), kind[..., :1], kind)
        noise = (draw.rand(B, 1, 1) - 0.6).clamp(min=0) ** 2
        h = _activate(pre, kind) + draw.randn(B, n, H) * noise
        pool.append(h)
    return torch.cat(pool, -1)
