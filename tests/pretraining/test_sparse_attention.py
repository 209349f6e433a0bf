"""Block-sparse attention keeps every visible pair: it equals attention under the explicit mask."""

import pytest

torch = pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")

from pretraining.draws import Draws  # noqa: E402
from pretraining.model import DenseAttention, Rows  # noqa: E402
from pretraining.retention import draw_plan, random_lifetimes, simulate, time_jumps  # noqa: E402
from pretraining.sparse_attention import SparseAttention  # noqa: E402


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_sparse_equals_dense_over_curated_contexts():
    B, n, H, G, D = 2, 640, 4, 2, 16
    draw = Draws(0)
    X, y, entropy = draw.randn(B, n, 3), draw.ints(0, 3, B, n), draw.rand(B, n)
    lanes = draw_plan(draw, B, curated=0.8, dual=0.2, most=100)
    kept = simulate(lanes, X, y, entropy, 3)
    random_lifetimes(draw, kept, lanes)
    time_jumps(draw, kept, lanes)
    rows = Rows(torch.arange(n).expand(B, n), kept.promoted, kept.leaves, kept.position)
    k, v = draw.randn(B, G, 2 * n + 1, D), draw.randn(B, G, 2 * n + 1, 8)
    dense, sparse = DenseAttention(rows, rows), SparseAttention(rows, rows, compiled=False)
    assert dense.long
    for tokens in (2 * n, n):
        q = draw.randn(B, H, tokens, D)
        torch.testing.assert_close(sparse(q, k, v), dense(q, k, v), atol=1e-5, rtol=1e-5)
    mask = sparse.masks[2]
    listed = int(mask.kv_num_blocks.sum() + mask.full_kv_num_blocks.sum())
    assert listed < 0.6 * B * (2 * n // 128) * (2 * n // 128 + 1)
    with pytest.raises(ValueError, match="multiples of 128"):
        SparseAttention(Rows(*(x[:, :100] for x in vars(rows).values())), rows)
