"""The model: causal, equal to a step-by-step session, indifferent to names of classes and columns."""

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")

from pretraining.draws import Draws  # noqa: E402
from pretraining.episodes import loss_of, prepare, score  # noqa: E402
from pretraining.model import (  # noqa: E402
    DenseAttention,
    Rill,
    Shape,
)
from pretraining.prior import Streams, sample  # noqa: E402
from pretraining.retention import CURE, DUAL_FIFO, FIFO, plan, simulate, time_jumps  # noqa: E402
from pretraining.standing import (  # noqa: E402
    log_probabilities,
    normalised_entropy,
)
from stepwise import StepwiseSession  # noqa: E402

from pretraining import export  # noqa: E402

TINY = Shape(
    width=32,
    layers=2,
    heads=4,
    kv_heads=2,
    head_dim=16,
    rotary=12,
    hidden=48,
    row_layers=1,
    row_hidden=32,
    slots=12,
    codes=8,
    matches=2,
    match_dim=8,
    head_hidden=16,
)


def lively(shape=TINY, seed=0):
    """A model in which every parameter matters: nothing is left at its neutral start."""
    torch.manual_seed(seed)
    model = Rill(shape)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn_like(p) * 0.2)
    return model.eval()


def episode(n=60, B=3, F=5, C=4, seed=1, shape=TINY):
    return prepare(sample(seed, B, n, F, C), Draws(seed), shape.slots, shape.codes, C)


def courses(e, budget=12, block=1):
    B = len(e.label)
    policy = torch.tensor([FIFO, DUAL_FIFO, CURE])[torch.arange(B) % 3]
    lanes = plan(policy, torch.full((B,), budget), torch.full((B,), 0.6), torch.full((B,), 0.4))
    entropy = torch.rand(e.label.shape, generator=torch.Generator().manual_seed(3))
    return lanes, simulate(lanes, e.X, e.label, entropy, e.code.shape[1], block)


@torch.no_grad()
def log_p(model, e, kept):
    scores, count = score(model, e, kept, DenseAttention)
    return log_probabilities(scores, count.clamp(min=0))


def test_later_rows_change_nothing_before():
    model, e = lively(), episode()
    _, kept = courses(e)
    before = log_p(model, e, kept)
    at = 40
    changed = dataclasses.replace(e, channels=e.channels.clone(), label=e.label.clone())
    changed.channels[:, at:] += 1.0
    changed.label[:, at:] = (changed.label[:, at:] + 1) % 4
    after = log_p(model, changed, kept)
    assert torch.equal(before[:, 1:at], after[:, 1:at])  # query 0 has no context
    changed.channels[:, at - 1] += 1.0
    assert not torch.allclose(before[:, at], log_p(model, changed, kept)[:, at])


@pytest.mark.parametrize("jump", [False, True])
def test_the_whole_sequence_equals_a_session_step_by_step(jump, tmp_path):
    model, n = lively(), 60
    streams = sample(1, 3, n, 5, 4)
    e = prepare(streams, Draws(1), TINY.slots, TINY.codes, 4)
    lanes, kept = courses(e)
    if jump:
        time_jumps(Draws(5), kept, lanes)
    export.write(tmp_path / "w.npz", model.state_dict(), TINY, {})
    model = export.restore(tmp_path / "w.npz")  # both read the same float16 weights
    arrays, header = export.read(tmp_path / "w.npz")
    whole = log_p(model, e, kept).numpy()
    for b in range(3):
        session = StepwiseSession(arrays, header, 5, e.slot[b].numpy(), e.code[b].numpy())
        promoted, leaves = kept.promoted[b].numpy(), kept.leaves[b].numpy()
        for t in range(n):
            x, y = e.X[b, t].numpy(), int(e.label[b, t])
            session.position = int(kept.position[b, t])
            # A row may be promoted and evicted at once: it was never seen in the long bank.
            session.promote([r for r in session.rows if promoted[r] == t and leaves[r] > t])
            session.evict([r for r in session.rows if leaves[r] <= t])
            for c, p in session.predict(x).items():
                assert np.log(p) == pytest.approx(whole[b, t, c], abs=1e-4)
            absent = set(range(4)) - set(session.predict(x))
            assert not session.rows or all(np.isneginf(whole[b, t, c]) for c in absent)
            session.add(x, y)


def fifo(e, budget=30):
    B = len(e.label)
    zero = torch.zeros(B)
    lanes = plan(torch.full((B,), FIFO), torch.full((B,), budget), zero + 0.5, zero)
    return simulate(lanes, e.X, e.label, zero[:, None].expand_as(e.label), e.code.shape[1])


def test_permuting_columns_with_their_slots_changes_nothing():
    model, e = lively(), episode()
    kept, order = fifo(e), torch.tensor([3, 0, 4, 1, 2])
    moved = dataclasses.replace(e, channels=e.channels[:, :, order], slot=e.slot[:, order])
    torch.testing.assert_close(log_p(model, e, kept)[:, 1:], log_p(model, moved, kept)[:, 1:])
    other = dataclasses.replace(e, channels=e.channels[:, :, order])
    assert not torch.allclose(log_p(model, e, kept)[:, 1:], log_p(model, other, kept)[:, 1:])


def test_renaming_classes_with_their_codes_renames_the_answers():
    model, e = lively(), episode(C=4)
    kept, name = fifo(e), torch.tensor([2, 3, 1, 0])  # class c is now called name[c]
    code = torch.empty_like(e.code)
    code[:, name] = e.code
    renamed = dataclasses.replace(e, label=name[e.label], code=code)
    expected = log_p(model, e, kept)[:, 1:]
    torch.testing.assert_close(log_p(model, renamed, kept)[:, 1:][..., name], expected)


def test_more_classes_than_codes_are_told_apart_by_their_rows():
    model, C = lively(), 90
    X = torch.rand(1, 200, 3)
    y = torch.arange(200)[None] % C
    streams = Streams(X, y, torch.tensor([3]), torch.tensor([C]), torch.tensor([0]))
    e = prepare(streams, Draws(0), TINY.slots, TINY.codes, C)
    assert int(e.code.max()) == TINY.codes - 1  # 8 codes shared by 90 classes
    out = log_p(model, e, fifo(e, 100))
    assert (out[0, 150].isfinite().sum()) == C
    twins = out[0, 150, e.code[0] == 0]
    assert len(twins) > 1
    assert twins.unique().numel() == len(twins)


def test_missing_values_constant_columns_and_shared_slots_are_borne():
    model = lively()
    X = torch.randn(2, 50, 40)  # more columns than the 12 slots
    X[:, ::3, 2] = torch.nan
    X[..., 5] = 1.0
    X[:, :, 7] = torch.nan
    X[:, 10, 8] = torch.inf
    y = torch.randint(0, 3, (2, 50))
    streams = Streams(X, y, torch.tensor([40, 40]), torch.tensor([3, 3]), torch.tensor([0, 0]))
    e = prepare(streams, Draws(0), 40, TINY.codes, 3)
    e.slot = e.slot % TINY.slots
    out = log_p(model, e, fifo(e))[:, 1:]
    assert out.exp().sum(-1).allclose(torch.ones(2, 49))
    plain = dataclasses.replace(e, channels=e.channels.clone())
    plain.channels[:, :, 5] = 0  # the constant column is already invisible
    torch.testing.assert_close(out, log_p(model, plain, fifo(e))[:, 1:])


def test_absent_classes_have_no_probability_and_no_loss():
    scores = torch.randn(1, 4, 3)
    count = torch.tensor([[[0, 0, 0], [2, 0, 0], [1, 2, 0], [1, 2, 0]]])
    loss = loss_of(scores, count, torch.tensor([[0, 0, 1, 2]]))
    assert int(loss.rows) == 1
    assert int(loss.absent) == 1
    expected = -scores[0, 2, :2].log_softmax(-1)[1]
    torch.testing.assert_close(loss.value, expected)
    entropy = normalised_entropy(torch.zeros(1, 4, 3), count)
    torch.testing.assert_close(entropy, torch.tensor([[0.0, 0.0, 1.0, 1.0]]))
