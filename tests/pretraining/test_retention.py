"""Retention: budgets hold, and the batched policies equal a slow reading of the paper."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")

from pretraining.draws import Draws  # noqa: E402
from pretraining.retention import (  # noqa: E402
    CURE,
    DUAL_FIFO,
    FIFO,
    NEVER,
    draw_plan,
    plan,
    random_lifetimes,
    simulate,
    time_jumps,
)


def random_streams(B, n, F, C, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((B, n, F))
    y = rng.integers(0, C, (B, n))
    y = np.where(rng.random((B, n)) < 0.5, 0, y)  # an uneven mix
    return X, y, rng.random((B, n))


def slow(policy, budget, short, tau, X, y, entropy):
    """Algorithm 1 with plain lists; {row: (promoted, leaves)} at query steps."""
    S, L, promoted, leaves = [], [], {}, {}
    for t in range(len(y)):
        S.append(t)
        if len(S) <= short:
            continue
        z = S.pop(0)
        room = budget - short
        if room == 0 or (policy == CURE and len(L) >= room and entropy[z] < tau):
            leaves[z] = t + 1
            continue
        L.append(z)
        promoted[z] = t + 1
        if len(L) <= room:
            continue
        counts = np.bincount(y[L])
        major = max(range(len(counts)), key=lambda c: (counts[c], c))
        same = [i for i in L if y[i] == major]
        gone = same[0]
        if policy == CURE and len(same) > 1:
            centre = [i for i in S if y[i] == major] or S
            both = X[same + centre]
            phi = (both - both.mean(0)) / (both.std(0) + 1e-6)
            own, mu = phi[: len(same)], phi[len(same) :].mean(0)
            D = np.sqrt(((own[:, None] - own[None]) ** 2).sum(-1))
            D[np.tril_indices(len(same))] = np.inf
            i, j = np.unravel_index(D.argmin(), D.shape)
            far = np.linalg.norm(own[[i, j]] - mu, axis=1)
            gone = same[i] if far[0] >= far[1] else same[j]
        L.remove(gone)
        leaves[gone] = t + 1
    return promoted, leaves


@pytest.mark.parametrize("classes", [1, 2, 5])
@pytest.mark.parametrize("policy", [FIFO, DUAL_FIFO, CURE])
def test_one_by_one_equals_the_slow_reading(policy, classes):
    B, n = 4, 150
    X, y, entropy = random_streams(B, n, 3, classes, seed=classes)
    budget = torch.tensor([8, 20, 21, 40])
    rho, tau = torch.tensor([0.75, 0.5, 0.9, 0.6]), torch.tensor([0.0, 0.5, 0.3, 0.95])
    lanes = plan(torch.full((B,), policy), budget, rho, tau)
    as_tensor = torch.from_numpy
    kept = simulate(lanes, as_tensor(X), as_tensor(y), as_tensor(entropy), classes, block=1)
    for b in range(B):
        short = int(lanes.short[b])
        promoted, leaves = slow(
            policy, int(budget[b]), short, float(tau[b]), X[b], y[b], entropy[b]
        )
        assert kept.promoted[b].tolist() == [promoted.get(i, NEVER) for i in range(n)]
        assert kept.leaves[b].tolist() == [leaves.get(i, NEVER) for i in range(n)]


def occupancy(kept, n):
    """Rows in the short and in the long bank at every query step, (B, n + 1) each."""
    t = torch.arange(n + 1)[:, None]
    row = torch.arange(n)
    here = (row < t) & (t < kept.leaves[:, None])
    long = here & (t >= kept.promoted[:, None])
    return (here & ~long).sum(-1), long.sum(-1)


@pytest.mark.parametrize("block", [1, 16, 32])
def test_budgets_hold_at_every_step_one_by_one_and_at_block_ends_otherwise(block):
    B, n = 16, 240
    X, y, entropy = random_streams(B, n, 4, 6, seed=3)
    lanes = draw_plan(Draws(1), B, curated=0.5, dual=0.3, most=120)
    args = [torch.from_numpy(v) for v in (X, y, entropy)]
    kept = simulate(lanes, *args, 6, block)
    short, long = occupancy(kept, n)
    assert (short <= lanes.short[:, None]).all()
    ends = torch.arange(0, n + 1, block)
    room = (lanes.budget - lanes.short)[:, None]
    assert (long[:, ends] <= room).all()
    assert (long <= room + block - 1).all()
    assert (kept.leaves[kept.promoted < NEVER] >= kept.promoted[kept.promoted < NEVER]).all()
    filled = (lanes.policy == DUAL_FIFO) & (lanes.budget + block < n)
    assert (long[filled, -1] == room[filled, 0]).all()


def test_blocks_stay_close_to_one_by_one():
    X, y, entropy = (torch.from_numpy(v) for v in random_streams(8, 400, 3, 3, seed=9))
    lanes = plan(*(torch.full((8,), v) for v in (CURE, 100, 0.5, 0.3)))
    exact, rough = (simulate(lanes, X, y, entropy, 3, b) for b in (1, 16))
    assert torch.equal(exact.promoted < NEVER, rough.promoted < NEVER)  # admission is exact
    still, rough_still = exact.leaves > 400, rough.leaves > 400
    both = (still & rough_still).sum() / still.sum()
    assert both > 0.75  # most of the same rows are kept


def test_jumps_and_lifetimes_keep_the_order_of_events():
    B, n = 64, 200
    X, y, entropy = (torch.from_numpy(v) for v in random_streams(B, n, 3, 3, seed=5))
    draw = Draws(2)
    lanes = draw_plan(draw, B, curated=0.4, dual=0.4, most=100)
    kept = simulate(lanes, X, y, entropy, 3)
    random_lifetimes(draw, kept, lanes)
    time_jumps(draw, kept, lanes)
    moved = kept.position[:, -1] > n
    assert moved.any()
    assert (kept.position.diff(dim=1) >= 1).all()
    for b in moved.nonzero()[:, 0].tolist():
        at = int((kept.position[b].diff() > 1).nonzero()[0, 0]) + 1
        seen = (torch.arange(n) < at) & (kept.leaves[b] > at)
        assert (kept.promoted[b][seen] <= at).all()  # only long-bank rows outlive the jump
        assert int(kept.position[b, at] - kept.position[b, at - 1] - 1) % 2520 == 0
