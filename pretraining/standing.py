"""What the head is told of each class in the context, and what is read off its scores."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from pretraining.model import Rows
from torch import Tensor


def standing_of(count: Tensor, age: Tensor) -> Tensor:
    """(B, n, C) rows of a class in the context, rows since its last arrival -> (B, n, C, 4)."""
    total = count.sum(-1, keepdim=True).clamp(min=1)
    here = (count > 0).to(torch.float32)
    share = (count.clamp(min=1) / total).log() / 4
    size = (1 + count.float()).log() / 4
    ago = (1 + age.clamp(min=0).float()).log() / 4
    classes = (1 + here.sum(-1, keepdim=True)).log().expand_as(here) / 2
    return torch.stack([share, size, ago, classes], -1) * here[..., None]


def class_standing(label: Tensor, rows: Rows, C: int) -> tuple[Tensor, Tensor]:
    """(B, n) whole streams -> (B, n, C) count in the context and age of the last arrival."""
    B, n = label.shape
    one = F.one_hot(label, C)
    gone = torch.zeros(B, n + 1, C, dtype=one.dtype, device=one.device)
    gone.scatter_add_(1, rows.leaves.clamp(max=n)[..., None].expand(-1, -1, C), one)
    come = F.pad(one, (0, 0, 1, 0))[:, :n]  # row j counts from query j + 1 on
    count = (come - gone[:, :n]).cumsum(1)
    placed = torch.where(one > 0, rows.position[..., None], -1)
    last = F.pad(placed, (0, 0, 1, 0), value=-1)[:, :n].cummax(1).values
    age = torch.where(last >= 0, rows.position[..., None] - last, 0)
    return count, age


def log_probabilities(scores: Tensor, count: Tensor) -> Tensor:
    """(B, n, C): log-softmax over the classes in the context; the others have none."""
    return torch.where(count > 0, scores, -torch.inf).log_softmax(-1)


def normalised_entropy(scores: Tensor, count: Tensor) -> Tensor:
    """(B, n): entropy over the classes in the context by its maximum; 0 with fewer than two."""
    classes = (count > 0).sum(-1)
    few = classes < 2
    log_p = log_probabilities(torch.where(few[..., None], torch.zeros_like(scores), scores), count)
    entropy = -(log_p.exp() * log_p.clamp(min=-100)).nan_to_num(0.0).sum(-1)
    return torch.where(few, 0.0, entropy / classes.clamp(min=2).log())
