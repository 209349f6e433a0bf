"""The closest pair of some rows in each lane, on the device, under the library's tie rule.

Squared distances are sums of squared differences in float64: near-duplicates do not cancel. On a GPU a
kernel in Triton gives each row's smallest distance to a later row without a (lanes, L, L) array.
"""

from __future__ import annotations

import torch
from torch import Tensor

from millpond.policies.nearest import ABSOLUTE, RELATIVE


def closest_pairs(phi: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
    """(n, L, F) float64 rows in order of arrival, (n, L) which take part -> positions i < j, (n,).

    Of tied pairs the first in row-major order. Lanes of fewer than two rows give some positions or other.
    """
    rows = _row_minima_on_gpu(phi, own) if phi.is_cuda else _row_minima(phi, own)
    limit = tie_limit(rows.amin(1))[:, None]
    i = first(rows <= limit)
    far = (phi - phi.take_along_dim(i[:, None, None], 1)).square().sum(-1).sqrt()  # (n, L)
    later = torch.arange(phi.shape[1], device=phi.device) > i[:, None]
    return i, first((far <= limit) & own & later)


def tie_limit(smallest: Tensor) -> Tensor:
    """The largest distance that is tied with the smallest."""
    return torch.maximum(smallest * (1 + RELATIVE), smallest + ABSOLUTE)


def first(mask: Tensor) -> Tensor:
    """(n, L) -> (n,) the first true place; the last place where none is."""
    last = mask.shape[1] - 1
    places = torch.arange(last + 1, device=mask.device)
    return torch.where(mask, places, last).amin(1)


def _row_minima(phi: Tensor, own: Tensor) -> Tensor:
    """(n, L): each row's distance to the closest later row, inf where there is none."""
    distance = torch.cdist(phi, phi, compute_mode="donot_use_mm_for_euclid_dist")
    pairs = (own[:, :, None] & own[:, None]).triu(1)
    return torch.where(pairs, distance, torch.inf).amin(2)


def _row_minima_on_gpu(phi: Tensor, own: Tensor) -> Tensor:
    from millpond.backbones.rill.device.nearest_kernel import row_minima

    return row_minima(phi, own)
