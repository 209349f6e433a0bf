"""Column features on the device; `millpond.backbones.rill.features` says what they are."""

from __future__ import annotations

import torch
from torch import Tensor

from millpond.backbones.rill.device.lanes import At
from millpond.backbones.rill.features import CHANNELS, CLIP, REFERENCE, WINDOW

GOLDEN = 2654435761


class Columns:
    """Running statistics of F columns in each of some lanes."""

    def __init__(self, lanes: int, features: int, device: torch.device) -> None:
        def zeros(*size: int, dtype: torch.dtype = torch.float64) -> Tensor:
            return torch.zeros(size, dtype=dtype, device=device)

        self.rows = zeros(lanes, dtype=torch.int64)  # learned so far
        self.count, self.mean, self.var = (zeros(lanes, features) for _ in range(3))
        self.reference = torch.full((lanes, features, REFERENCE), torch.nan, device=device)
        self.present = zeros(lanes, features)  # finite values in the sample
        self.next = zeros(lanes, dtype=torch.int64)  # place in the ring
        self._turns = torch.tensor([2.0, 5.0, 11.0], device=device)[:, None]

    def widened(self, features: int) -> Columns:
        """The same with more columns on the right, in which every value so far was missing."""
        wider = Columns(len(self.rows), features, self.rows.device)
        for name, before in self.saved().items():
            getattr(wider, name)[tuple(map(slice, before.shape))] = before
        return wider

    def channels(self, X: Tensor, at: At) -> Tensor:
        """(n, k, F) rows of lanes `at` -> (n, k, CHANNELS, F), without learning them."""
        finite = torch.isfinite(X)
        x = torch.where(finite, X, 0.0).double()
        _, mean, var = self._advanced(x, finite, at)
        visible = var > 0
        z = ((x - mean) / torch.where(visible, var, 1.0).sqrt()).clamp(-CLIP, CLIP).float()
        g, tie = self._ranks(X, at)
        angle = torch.cat((3 * z[..., None, :], g[..., None, :] * self._turns), -2)
        # z, g, tie, tanh z, exp -z^2, sin(3z 2g 5g 11g), cos(2g 5g 11g), missing
        out = torch.empty((*X.shape[:2], CHANNELS, X.shape[2]), device=X.device)
        out[..., 0, :], out[..., 1, :], out[..., 2, :] = z, g, tie
        out[..., 3, :], out[..., 4, :] = z.tanh(), (-z * z).exp()
        out[..., 5:9, :], out[..., 9:12, :] = angle.sin(), angle[..., 1:, :].cos()
        # However many columns there are, together they weigh the same.
        scale = visible.sum(-1, keepdim=True).clamp(min=1).double().rsqrt()
        out[..., :12, :] *= (scale * (visible & finite)).float()[..., None, :]
        out[..., 12, :] = (scale * (visible & ~finite)).float()
        return out

    def learn(self, X: Tensor, at: At) -> None:
        """Advance lanes `at` by a row each, (n, F), that has been added to their contexts."""
        finite = torch.isfinite(X)
        x = torch.where(finite, X, 0.0).double()[:, None]
        count, mean, var = self._advanced(x, finite[:, None], at)
        at.put(self.count, count[:, 0])
        at.put(self.mean, mean[:, 0])
        at.put(self.var, var[:, 0])
        rows, place = at.of(self.rows), at.of(self.next)
        enters = (rows < REFERENCE) | ((rows * GOLDEN) % 2**32 < 2**29)
        old = self.reference[at.index, :, place]
        new = torch.where(enters[:, None], torch.where(finite, X, torch.nan), old)
        self.reference[at.index, :, place] = new
        more = new.isfinite().double() - old.isfinite().double()
        at.put(self.present, at.of(self.present) + more)
        at.put(self.next, (place + enters) % REFERENCE)
        at.put(self.rows, rows + 1)

    def _advanced(self, x: Tensor, finite: Tensor, at: At) -> tuple[Tensor, Tensor, Tensor]:
        """(count, mean, var) as they would be after each of the rows (n, k, F): (n, k, F) each."""
        mean, var = at.of(self.mean)[:, None], at.of(self.var)[:, None]
        count = at.of(self.count)[:, None] + finite
        rate = (1.0 / count.clamp(min=1.0)).clamp(min=1.0 / WINDOW)
        delta = torch.where(finite, x - mean, 0.0)
        step = rate * delta
        spread = torch.where(finite, (1.0 - rate) * (var + step * delta), var)
        return count, mean + step, spread

    def _ranks(self, X: Tensor, at: At) -> tuple[Tensor, Tensor]:
        """g and tie of rows (n, k, F)."""
        reference, present = at.of(self.reference)[:, None], at.of(self.present)[:, None]
        x = X[..., None]
        below, equal = (reference < x).sum(-1), (reference == x).sum(-1)
        p = (below + 0.5 * equal.double() + 0.5) / (present + 1.0)
        g = (p / (1.0 - p)).log() / 1.702
        return g.float(), (equal / present.clamp(min=1.0)).float()

    def saved(self) -> dict[str, Tensor]:
        names = ("rows", "count", "mean", "var", "reference", "present", "next")
        return {name: getattr(self, name) for name in names}
