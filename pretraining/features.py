"""Column features: what the numbers of a row become before the network sees them.

Each column of a stream keeps a small running state (`ColumnState`). A row's features are computed
once, from the rows that arrived before it and itself, and never change afterwards: no look-ahead,
no re-scaling of rows already in the context. Per column, with x the new value:

  count' = count + 1                        finite values seen, this one included
  a      = max(1 / count', 1 / WINDOW)      plain averages first, exponential forgetting later
  delta  = x - mean
  mean'  = mean + a * delta
  var'   = (1 - a) * (var + a * delta^2)    (West 1979; population variance while a = 1/count')
  z      = clip((x - mean') / sqrt(var'), -CLIP, CLIP)

  below, equal, r: how many of the column's finite reference values are < x, == x, and there at all
  p      = (below + equal / 2 + 1/2) / (r + 1)         mid-rank, itself included
  g      = log(p / (1 - p)) / 1.702                    the rank as a (logistic) Gauss score
  tie    = equal / max(r, 1)                           share of equal values: 0 continuous, 1 constant

The reference sample is a ring of REFERENCE rows. Row t enters it when t < REFERENCE or when
(t * 2654435761) mod 2^32 < 2^29, i.e. one row in eight in a golden-ratio order that no period of
the stream can align with; so it covers about the last 2,048 rows and changes slowly.

A column whose var' is 0 (constant so far) is invisible: all its channels are 0. A value that is not
finite is missing: it changes no statistics and all its channels are 0 but the last, `missing`.
The channels of all columns are divided by the square root of the number of visible columns.

`ColumnState` is the definition, one row at a time in NumPy; `column_features` computes the same for
whole batches in torch (tested equal).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

WINDOW = 4096
REFERENCE = 256
CLIP = 5.0
CHANNELS = 13
BASE = 5  # z, g, tie, missing, visible

Floats = npt.NDArray[np.float64]


def enters_reference(t: int) -> bool:
    """Whether the row that arrived t-th (from 0) joins the reference sample."""
    return t < REFERENCE or (t * 2654435761) % 2**32 < 2**29


class ColumnState:
    """Running statistics of one stream's columns; all that a session has to save of its features."""

    def __init__(self, columns: int) -> None:
        self.rows = 0  # rows learned so far
        self.count = np.zeros(columns)
        self.mean = np.zeros(columns)
        self.var = np.zeros(columns)
        self.ring = np.full((REFERENCE, columns), np.nan, np.float32)
        self.next = 0  # ring position to be written next

    def _advanced(self, x: Floats, finite: npt.NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
        """(count, mean, var) as they would be after x."""
        count = self.count + finite
        rate = np.maximum(1 / np.maximum(count, 1), 1 / WINDOW)
        delta = np.where(finite, x - self.mean, 0.0)
        mean = self.mean + rate * delta
        var = np.where(finite, (1 - rate) * (self.var + rate * delta**2), self.var)
        return count, mean, var

    def base(self, row: npt.ArrayLike) -> Floats:
        """(BASE, columns): z, g, tie, missing, visible of a row, without learning it."""
        x32 = np.asarray(row, np.float32)
        finite = np.isfinite(x32)
        x = np.where(finite, x32, 0.0).astype(np.float64)
        _, mean, var = self._advanced(x, finite)
        visible = var > 0
        here = visible & finite
        z = np.clip((x - mean) / np.sqrt(np.where(visible, var, 1.0)), -CLIP, CLIP)
        below = (self.ring < x32).sum(0)
        equal = (self.ring == x32).sum(0)
        r = np.isfinite(self.ring).sum(0)
        p = (below + equal / 2 + 0.5) / (r + 1)
        g = np.log(p / (1 - p)) / 1.702
        tie = equal / np.maximum(r, 1)
        return np.stack([z * here, g * here, tie * here, visible & ~finite, visible]).astype(float)

    def learn(self, row: npt.ArrayLike) -> None:
        """Advance the statistics by a row that has been added to the context."""
        x32 = np.asarray(row, np.float32)
        finite = np.isfinite(x32)
        x = np.where(finite, x32, 0.0).astype(np.float64)
        self.count, self.mean, self.var = self._advanced(x, finite)
        if enters_reference(self.rows):
            self.ring[self.next] = np.where(finite, x32, np.nan)
            self.next = (self.next + 1) % REFERENCE
        self.rows += 1


def channels_of(base: Floats) -> Floats:
    """(BASE, columns) -> (columns, CHANNELS), scaled by the number of visible columns."""
    z, g, tie, missing, visible = base
    here = visible - missing
    out = [z, np.tanh(z), np.sin(3 * z), np.exp(-z * z), g, np.sin(2 * g), np.cos(2 * g)]
    out += [np.sin(5 * g), np.cos(5 * g), np.sin(11 * g), np.cos(11 * g), tie]
    stacked = np.stack([*(c * here for c in out), missing], -1)
    return np.asarray(stacked / np.sqrt(max(visible.sum(), 1.0)), np.float64)


def stream_base(X: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """(rows, columns) -> (rows, BASE, columns): a whole stream, row by row."""
    state, out = ColumnState(X.shape[1]), np.empty((len(X), BASE, X.shape[1]), np.float32)
    for t, row in enumerate(X):
        out[t] = state.base(row)
        state.learn(row)
    return out


def expand(base: torch.Tensor) -> torch.Tensor:
    """(..., BASE, F) -> (..., F, CHANNELS): `channels_of` for batches."""
    z, g, tie, missing, visible = base.unbind(-2)
    here = visible - missing
    out = [z, z.tanh(), (3 * z).sin(), (-z * z).exp(), g, (2 * g).sin(), (2 * g).cos()]
    out += [(5 * g).sin(), (5 * g).cos(), (11 * g).sin(), (11 * g).cos(), tie]
    stacked = torch.stack([*(c * here for c in out), missing], -1)
    return stacked / visible.sum(-1).clamp(min=1).sqrt()[..., None, None]


def _running_z(X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(B, n, F) -> z and visibility, by cumulative sums about each column's first finite value."""
    finite = X.isfinite()
    x = torch.where(finite, X, torch.zeros_like(X))
    first = x.gather(1, finite.to(torch.uint8).argmax(1, keepdim=True))
    x = torch.where(finite, x - first, torch.zeros_like(x))
    count = finite.cumsum(1).to(X.dtype).clamp(min=1)
    mean = x.cumsum(1) / count
    before = torch.nn.functional.pad(mean, (0, 0, 1, 0))[:, :-1]
    grown = torch.where(finite, (x - before) ** 2 * (count - 1) / count, torch.zeros_like(x))
    var = grown.cumsum(1) / count
    visible = var > 0
    z = (x - mean) / torch.where(visible, var, torch.ones_like(var)).sqrt()
    return z.clamp(-CLIP, CLIP), visible


def _ranks(X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(B, n, F) -> g and tie against the reference sample as it stood when each row arrived."""
    n = X.shape[1]
    entered = [t for t in range(n) if enters_reference(t)]
    before = np.searchsorted(np.array(entered), np.arange(n))  # entered rows earlier than t
    seen = torch.where(X.isfinite(), X, torch.full_like(X, torch.nan))
    reference = seen[:, torch.tensor(entered, device=X.device)].transpose(1, 2).contiguous()
    total = torch.nn.functional.pad(reference.isfinite().cumsum(-1), (1, 0))  # (B, F, E + 1)
    upto = torch.tensor(before, device=X.device)
    r = (total[..., upto] - total[..., (upto - REFERENCE).clamp(min=0)]).transpose(1, 2)
    if X.is_cuda:
        from pretraining.rank_kernel import rank_counts

        below, equal = rank_counts(seen, reference, upto, REFERENCE)
    else:
        below, equal = _counts(seen, reference, upto)
    p = (below + equal * 0.5 + 0.5).to(X.dtype) / (r + 1)
    return (p / (1 - p)).log() / 1.702, equal / r.clamp(min=1).to(X.dtype)


def _counts(
    seen: torch.Tensor, reference: torch.Tensor, upto: torch.Tensor, block: int = 64
) -> tuple[torch.Tensor, torch.Tensor]:
    """(B, n, F) how many values of the sample are below a row's, and equal to it."""
    less, same = [], []
    for t0 in range(0, len(upto), block):
        to = upto[t0 : t0 + block, None]
        lo, hi = max(0, int(to[0]) - REFERENCE), int(to[-1])
        ref = reference[:, None, :, lo:hi]  # (B, 1, F, E'): the long axis last, for speed
        at = torch.arange(lo, hi, device=seen.device)
        inside = ((at < to) & (at >= to - REFERENCE))[None, :, None]  # (1, T, 1, E')
        x = seen[:, t0 : t0 + block, :, None]  # (B, T, F, 1)
        less.append(((ref < x) & inside).sum(-1, dtype=torch.int32))
        same.append(((ref == x) & inside).sum(-1, dtype=torch.int32))
    return torch.cat(less, 1), torch.cat(same, 1)


def column_features(X: torch.Tensor) -> torch.Tensor:
    """(B, n, F) raw values, n <= WINDOW -> (B, n, BASE, F); padding columns are constant columns."""
    if X.shape[1] > WINDOW:
        raise ValueError(f"at most {WINDOW} rows at once: beyond, forgetting sets in (stream_base)")
    z, visible = _running_z(X)
    g, tie = _ranks(X)
    here = visible & X.isfinite()
    zero = torch.zeros_like(z)
    parts = [torch.where(here, c, zero) for c in (z, g, tie)]
    return torch.stack([*parts, (visible & ~here).to(z.dtype), visible.to(z.dtype)], 2)
