"""Replay in blocks with cached keys equals a session step by step, policy and entropies included."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")

from pretraining.retention import CURE  # noqa: E402
from stepwise import StepwiseSession  # noqa: E402
from test_model import TINY, lively  # noqa: E402
from test_retention import slow  # noqa: E402

from pretraining import export, replay  # noqa: E402

BUDGET, RHO, TAU = 24, 0.5, 0.6


def stream(n=130, F=4, C=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, F)).astype(np.float32)
    X[rng.random((n, F)) < 0.05] = np.nan
    y = np.where(np.nan_to_num(X[:, 0]) > 0.3, 1, rng.integers(0, C, n))
    return X, y.astype(np.int64)


def test_cure_on_policy_equals_a_session_step_by_step(tmp_path):
    export.write(tmp_path / "w.npz", lively().state_dict(), TINY, {})
    arrays, header = export.read(tmp_path / "w.npz")
    X, y = stream()
    s = replay.stretches(X, y, lanes=1, lead=0, warmup=5)
    log_p = replay.replay(export.restore(tmp_path / "w.npz"), s, "cure", BUDGET, RHO, TAU, block=7)[
        0
    ].numpy()
    code = torch.randperm(TINY.codes, generator=torch.Generator().manual_seed(0)).numpy()
    session = StepwiseSession(arrays, header, X.shape[1], code=code)
    entropy = np.zeros(len(y))
    for t in range(len(y)):
        # What the policy has done so far depends on the entropies of rows already predicted.
        promoted, leaves = slow(
            CURE, BUDGET, 12, TAU, np.nan_to_num(X[:t]).astype(float), y[:t], entropy
        )
        session.promote(
            [
                r
                for r, when in promoted.items()
                if when == t and r in session.rows and leaves.get(r, t + 1) > t
            ]
        )
        session.evict([r for r in list(session.rows) if leaves.get(r, t + 1) <= t])
        p = session.predict(X[t])
        for c, value in p.items():
            assert math.log(value) == pytest.approx(log_p[t, c], abs=1e-4)
        if t >= 5 and len(p) > 1:
            entropy[t] = -sum(v * math.log(v) for v in p.values()) / math.log(len(p))
        session.add(X[t], int(y[t]))
    assert sum(when <= len(y) for when in promoted.values()) > BUDGET


@pytest.mark.parametrize("policy", ["fifo", "dual_fifo"])
def test_block_length_does_not_matter(policy):
    model = lively()
    s = replay.stretches(*stream(), lanes=1, lead=0, warmup=0)
    few, many = (replay.replay(model, s, policy, BUDGET, RHO, block=b) for b in (3, 12))
    torch.testing.assert_close(few[:, 1:], many[:, 1:], atol=1e-4, rtol=1e-4)


def test_stretches_score_every_row_once_and_agree_with_the_whole():
    model = lively()
    X, y = stream(n=200)
    whole = replay.stretches(X, y, lanes=1, lead=0, warmup=10)
    parts = replay.stretches(X, y, lanes=3, lead=60, warmup=10)
    assert int(whole.scored.sum()) == int(parts.scored.sum()) == 190
    a = replay.replay(model, whole, "fifo", 20, block=10)
    b = replay.replay(model, parts, "fifo", 20, block=10)
    first = int(parts.scored[1].nonzero()[0])
    t = parts.first[1] + first
    # A window of 20 rows, two layers: 60 rows of lead decide nearly everything.
    assert (a[0, t : t + 50].exp() - b[1, first : first + 50].exp()).abs().max() < 0.1


def test_figures_count_what_was_asked():
    X, y = stream(n=60)
    s = replay.stretches(X, y, lanes=1, lead=0, warmup=10)
    log_p = torch.full((1, 60, 3), math.log(0.1))
    log_p[0, :, 1] = math.log(0.8)
    log_p[0, 20:25, 1:] = -torch.inf  # one class in the context
    found = replay.figures(log_p, s)
    keep = [t for t in range(10, 60) if not 20 <= t < 25]
    assert found["scored"] == 45
    assert found["unscored"] == 5
    share = np.mean(y[keep] == 1)
    assert found["accuracy"] == pytest.approx(100 * share, abs=0.01)
    assert found["ece"] == pytest.approx(abs(share - 0.8), abs=1e-3)
    assert found["no_change"] == pytest.approx(100 * np.mean(y[10:] == y[9:-1]), abs=0.01)
    p = np.where(y[keep] == 1, 0.8, 0.1)
    assert found["log_loss"] == pytest.approx(-np.log(p).mean(), abs=1e-3)


def test_shuffling_stays_within_blocks():
    order = replay.shuffled(250, 100)
    assert sorted(order) == list(range(250))
    assert (order // 100 == np.arange(250) // 100).all()
    assert (order != np.arange(250)).any()
