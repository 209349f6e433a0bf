"""The GPU's ranking, run by Triton's interpreter, counts what the plain comparison counts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")
pytest.importorskip("triton", reason="the GPU's ranking is written in Triton")

CODE = """
import torch
from pretraining.features import _counts
from pretraining.rank_kernel import rank_counts

torch.manual_seed(0)
B, n, F, E = 2, 150, 3, 400
seen = torch.randn(B, n, F).mul(3).round()
seen[torch.rand(B, n, F) < 0.2] = torch.nan
reference = torch.randn(B, F, E).mul(3).round()
reference[torch.rand(B, F, E) < 0.2] = torch.nan
upto = torch.randint(0, 5, (n,)).cumsum(0).clamp(max=E)
for ours, plain in zip(rank_counts(seen, reference, upto, 256), _counts(seen, reference, upto)):
    assert torch.equal(ours, plain)
    assert plain.sum() > 0
"""


def test_counts_equal_plain_comparison():
    # The interpreter is chosen when Triton is imported: a process of its own.
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
