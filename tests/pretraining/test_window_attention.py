"""The GPU's attention, run by Triton's interpreter, equals attention under the explicit mask."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")
pytest.importorskip("triton", reason="the GPU's attention is written in Triton")

from pretraining.model import Rows  # noqa: E402
from pretraining.window_attention import WindowAttention  # noqa: E402


def test_values_and_gradients_equal_dense_attention():
    # The interpreter is chosen when Triton is imported: a process of its own.
    code = "from pretraining.window_attention import *; print(compare('cpu', torch.float32, 256, 2, 16))"
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 2e-6


def test_what_it_does_not_do_is_refused():
    n = 100
    times = torch.arange(n).expand(1, n)
    rows = Rows(times, times + 50, times + 60, times)
    with pytest.raises(ValueError, match="multiple of 128"):
        WindowAttention(rows, rows)
    rows = Rows(*(x.repeat(1, 2)[:, :128] for x in vars(rows).values()))
    attend = WindowAttention(rows, rows)
    q, k, one = torch.randn(1, 8, 128, 16), torch.randn(1, 2, 128, 16), torch.zeros(2, 16)
    with pytest.raises(ValueError, match="one key-value head"):
        attend(q, k, k, one, one, one)
