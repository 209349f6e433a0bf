"""Which rows are still in the context when: bounded-context policies simulated for whole batches.

Step t of a stream: query t is answered, then row t is added and the policy moves and evicts rows.
A row enters once and leaves once, so a policy's whole course is two integers per row:

  promoted[j]  the first query step at which row j is in the long bank (NEVER if it does not get in)
  leaves[j]    the first query step at which row j is no longer in the context (NEVER: still there)

Query t sees row j iff j < t < leaves[j]; as a long-bank row iff also t >= promoted[j]. Labelled row
t, encoded before the policy acts on its arrival, sees the same rows and itself.

`Banks` advances many lanes (streams) together: FIFO, DualFIFO and CURE, each lane with its own
budget, short share and threshold. With `block=1` it takes the policies' decisions one by one; with
larger blocks (training) the rows that overflow within a block are admitted together, the columns
are scaled once, and the surplus is removed together: classes are levelled from the largest, and
within a class the nearest pairs lose an endpoint each, or the oldest rows go (DualFIFO).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from pretraining.draws import Draws

NEVER = 2**30
FIFO, DUAL_FIFO, CURE = 0, 1, 2


@dataclass
class Retention:
    """The course of a policy over a batch: all (B, n); `position` is what RoPE counts."""

    promoted: torch.Tensor
    leaves: torch.Tensor
    position: torch.Tensor


@dataclass
class Plan:
    """What each lane runs: all (B,)."""

    policy: torch.Tensor
    budget: torch.Tensor
    short: torch.Tensor  # B_S; the budget itself under FIFO
    tau: torch.Tensor


def plan(policy: torch.Tensor, budget: torch.Tensor, rho: torch.Tensor, tau: torch.Tensor) -> Plan:
    """Bank sizes from the budget and the short share, as the library sizes them."""
    short = (budget * rho).round().long().clamp(min=1)
    short = torch.where(policy == FIFO, budget, torch.minimum(short, budget - 1))
    return Plan(policy, budget, short, tau)


class Banks:
    """The long banks of many lanes; the short bank of a lane is simply its last B_S rows."""

    def __init__(self, lanes: Plan, X: torch.Tensor, y: torch.Tensor, classes: int) -> None:
        # X: (B, n, F) raw columns, y: (B, n); the whole stream, read only up to the current step
        self.lanes, self.X, self.y, self.classes = lanes, X.nan_to_num(0.0, 0.0, 0.0), y, classes
        B, n = y.shape
        # Column n takes the writes that are masked out.
        self._promoted = torch.full((B, n + 1), NEVER, device=y.device)
        self._leaves = torch.full((B, n + 1), NEVER, device=y.device)
        self.room = lanes.budget - lanes.short  # B_L
        self.curated = (lanes.policy == CURE).nonzero()[:, 0]  # lanes whose pairs are measured
        self.width, self.reach = int(self.room.max()), int(lanes.short.max())
        self.long = torch.full((B, 0), -1, device=y.device)  # row numbers by arrival, -1 empty
        self.done = 0  # rows observed

    @property
    def promoted(self) -> torch.Tensor:
        return self._promoted[:, :-1]

    @property
    def leaves(self) -> torch.Tensor:
        return self._leaves[:, :-1]

    def observe(self, entropy: torch.Tensor, rows: int) -> None:
        """Observe `rows` more rows; entropy (B, n) must be known for the rows that overflow."""
        t0, t1 = self.done, self.done + rows
        out = torch.arange(t0, t1, device=self.y.device) - self.lanes.short[:, None]  # (B, rows)
        real = out >= 0
        at = out.clamp(min=0)
        gate = entropy.gather(1, at) >= self.lanes.tau[:, None]
        size = (self.long >= 0).sum(1, keepdim=True)
        # While the bank fills, every row gets in: the first ones up to the room left.
        fill = real.cumsum(1) <= self.room[:, None] - size
        gated = torch.where(self.lanes.policy[:, None] == CURE, gate, torch.ones_like(gate))
        admitted = real & (fill | gated) & (self.room[:, None] > 0)
        when = at + self.lanes.short[:, None] + 1  # first query step after the overflow
        self._mark(self._promoted, at, when, admitted)
        self._mark(self._leaves, at, when, real & ~admitted)
        self.done = t1
        self.long = torch.cat([self.long, torch.where(admitted, at, torch.full_like(at, -1))], 1)
        surplus = (self.long >= 0).sum(1) - self.room
        if rows > 1 or bool((surplus > 0).any()):
            self._evict(surplus.clamp(min=0))
        order = (self.long < 0).to(torch.int8).argsort(dim=1, stable=True)
        self.long = self.long.gather(1, order)[:, : self.width]

    def _mark(
        self, into: torch.Tensor, rows: torch.Tensor, when: torch.Tensor, where: torch.Tensor
    ) -> None:
        into.scatter_(1, torch.where(where, rows, into.shape[1] - 1), when)

    def _evict(self, surplus: torch.Tensor) -> None:
        rows = self.long.clamp(min=0)
        label = torch.where(self.long >= 0, self.y.gather(1, rows), -1)
        need = _level(label, surplus, self.classes)  # (B, C)
        gone = torch.zeros_like(label, dtype=torch.bool)
        if len(self.curated):
            lanes = self.curated
            own, lose, out = label[lanes], need[lanes], gone[lanes]
            with torch.autocast(label.device.type, enabled=False):  # differences of near rows
                distance, far = self._distances(lanes, own)
            # Two rounds of pairs: when every loser of the first is gone, new pairs stand nearest.
            for _ in range(2):
                score = _redundancy(distance, far, torch.where(out, -1, own))
                out = out | _take(score, own, lose, out)
            gone = gone.index_copy(0, lanes, out)
        age = torch.where(gone, torch.inf, rows.to(torch.float32))
        gone = gone | _take(age, label, need, gone)
        self._mark(self._leaves, rows, torch.full_like(rows, self.done), gone)
        self.long = torch.where(gone, -1, self.long)

    def _distances(
        self, lanes: torch.Tensor, label: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(b, L, L) squared distances of these lanes' long rows where one class, else inf; and
        (b, L) their squared distances from the class's centroid."""
        L = label.shape[1]
        C, X, short = self.classes, self.X[lanes], self.lanes.short[lanes]
        phi = X.gather(1, self.long[lanes].clamp(min=0)[..., None].expand(-1, -1, X.shape[-1]))
        member = torch.nn.functional.one_hot(label + 1, C + 1)[..., 1:].to(X.dtype)  # (b, L, C)
        first = max(0, self.done - self.reach)
        at = torch.arange(first, self.done, device=X.device)
        recent = at >= self.done - short[:, None]
        near = torch.nn.functional.one_hot(self.y[lanes, first : self.done], C).to(X.dtype)
        near = near * recent[..., None]
        absent = near.sum(1, keepdim=True) == 0
        near = torch.where(absent, recent[..., None].to(X.dtype), near)  # (b, S, C)
        window = X[:, first : self.done]
        # Columns are scaled per class over its long rows and its centroid rows.
        shift = window.mean(1, keepdim=True)
        weight = torch.cat([member, near], 1).transpose(1, 2)  # (b, C, L + S)
        values = torch.cat([phi, window], 1) - shift
        total = weight.sum(-1, keepdim=True).clamp(min=1)
        mean = weight @ values / total
        std = (weight @ values**2 / total - mean**2).clamp(min=0).sqrt() + 1e-6  # (b, C, F)
        own = label.clamp(min=0)[..., None].expand(-1, -1, X.shape[-1])
        scale = std.gather(1, own)
        count = near.sum(1)[..., None].clamp(min=1)
        centre = (near.transpose(1, 2) @ (window - shift) / count).gather(1, own)
        far = (((phi - shift - centre) / scale) ** 2).sum(-1)  # (b, L)
        scaled = (phi - shift) / scale
        square = (scaled**2).sum(-1)
        distance = square[:, :, None] + square[:, None] - 2 * scaled @ scaled.transpose(1, 2)
        same = (label[:, :, None] == label[:, None]) & (label[:, :, None] >= 0)
        same &= ~torch.eye(L, dtype=torch.bool, device=X.device)
        return torch.where(same, distance.clamp(min=0), torch.inf), far


def _redundancy(distance: torch.Tensor, far: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    """(b, L): distance of the nearest same-class pair that each row loses, inf if none."""
    there = label >= 0
    gap, partner = torch.where(there[:, None], distance, torch.inf).min(-1)
    gap = torch.where(there, gap, torch.inf)
    # The endpoint farther from the centroid loses; the older on a tie (rows are by arrival).
    other = far.gather(1, partner)
    index = torch.arange(label.shape[1], device=label.device).expand_as(label)
    loses = (far > other) | ((far == other) & (index < partner))
    loser = torch.where(loses, index, partner)
    score = torch.full_like(gap, torch.inf).scatter_reduce(1, loser, gap, "amin")
    alone = there & gap.isinf()
    return torch.where(alone, torch.zeros_like(score), score)


def _level(label: torch.Tensor, surplus: torch.Tensor, classes: int) -> torch.Tensor:
    """(B, C): how many rows each class loses when the largest class loses one, `surplus` times.

    Ties go to the larger label, as one by one.
    """
    count = torch.nn.functional.one_hot(label + 1, classes + 1)[..., 1:].sum(1)  # (B, C)
    heights = torch.arange(label.shape[1] + 2, device=label.device)
    above = (count[..., None] - heights).clamp(min=0).sum(1)  # (B, heights): rows above a level
    level = (above > surplus[:, None]).sum(1, keepdim=True)  # lowest level within the surplus
    need = (count - level).clamp(min=0)
    rest = (surplus[:, None] - need.sum(1, keepdim=True)).clamp(min=0)
    at_level = (count >= level) & (count > 0)
    from_top = at_level.flip(1).cumsum(1).flip(1)
    return need + (at_level & (from_top <= rest)).long()


def _take(
    score: torch.Tensor, label: torch.Tensor, need: torch.Tensor, gone: torch.Tensor
) -> torch.Tensor:
    """(B, L): the rows of lowest finite score in each class, as many as it still has to lose."""
    C = need.shape[1]
    lost = torch.nn.functional.one_hot(torch.where(gone, label, -1) + 1, C + 1)[..., 1:].sum(1)
    still = (need - lost).gather(1, label.clamp(min=0))
    finite = score.isfinite() & (label >= 0)
    index = torch.arange(label.shape[1], device=label.device)
    lower = (score[:, None] < score[..., None]) | (
        (score[:, None] == score[..., None]) & (index < index[:, None])
    )
    rivals = lower & (label[:, None] == label[..., None]) & finite[:, None]
    return finite & (rivals.sum(-1) < still)


def simulate(
    lanes: Plan,
    X: torch.Tensor,
    y: torch.Tensor,
    entropy: torch.Tensor,
    classes: int,
    block: int = 32,
) -> Retention:
    """The whole course of every lane's policy over (B, n) streams."""
    banks = Banks(lanes, X, y, classes)
    n = y.shape[1]
    while banks.done < n:
        banks.observe(entropy, min(block, n - banks.done))
    position = torch.arange(n, device=y.device).expand_as(y).clone()
    return Retention(banks.promoted, banks.leaves, position)


def windows(lanes: Plan, n: int) -> Retention:
    """Plain windows of the lanes' budgets, whatever their policies: no simulation needed."""
    row = torch.arange(n, device=lanes.budget.device).expand(len(lanes.budget), n)
    return Retention(torch.full_like(row, NEVER), row + lanes.budget[:, None] + 1, row.clone())


def draw_plan(draw: Draws, streams: int, curated: float, dual: float, most: int = 1000) -> Plan:
    """Random budgets, short shares near 0.75 and thresholds; shares of CURE and of DualFIFO."""
    u = draw.rand(streams)
    policy = torch.where(u < curated, CURE, torch.where(u < curated + dual, DUAL_FIFO, FIFO))
    # 32 ... most, most of them large
    budget = (32 * (most / 32) ** (draw.rand(streams) ** 0.7)).round().long()
    rho = torch.where(draw.coin(0.5, streams), 0.75, 0.4 + 0.55 * draw.rand(streams))
    tau = torch.where(policy == CURE, draw.rand(streams) * 0.8, 0.0)
    return plan(policy, budget, rho, tau)


def random_lifetimes(draw: Draws, kept: Retention, lanes: Plan) -> None:
    """Replace the long bank of some lanes by rows kept at random for random times."""
    B, n = kept.leaves.shape
    lane = draw.coin(0.15, B, 1) & (lanes.policy[:, None] != FIFO)
    keep = draw.rand(B, n) < 0.4 * draw.rand(B, 1)
    life = (-draw.rand(B, n).clamp(min=1e-6).log() * 50 * 2 ** (5 * draw.rand(B, 1))).long() + 1
    when = torch.arange(n, device=keep.device) + lanes.short[:, None] + 1
    never = torch.full_like(when, NEVER)
    kept.promoted = torch.where(lane, torch.where(keep, when, never), kept.promoted)
    kept.leaves = torch.where(lane, torch.where(keep, when + life, when), kept.leaves)


def time_jumps(draw: Draws, kept: Retention, lanes: Plan) -> None:
    """Let long stretches pass unseen in some lanes, so that ages up to a million rows are met.

    At a jump the short bank is lost, as if thousands of rows had passed, and only what was in the
    long bank by then stays. Jumps are multiples of 2,520, which keeps the phase of periods to 10.
    """
    B, n = kept.leaves.shape
    at = (n * (0.2 + 0.7 * draw.rand(B, 1))).long()
    lane = draw.coin(0.25, B, 1) & (lanes.policy[:, None] != FIFO)
    rows = torch.arange(n, device=at.device)
    lost = lane & (rows < at) & (kept.promoted > at)
    kept.leaves = torch.where(lost, torch.minimum(kept.leaves, at), kept.leaves)
    jump = 2520 * (10 ** (2.6 * draw.rand(B, 1))).long()
    kept.position = kept.position + torch.where(lane & (rows >= at), jump, torch.zeros_like(jump))
