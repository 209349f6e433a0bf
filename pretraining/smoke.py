"""A toy run on the CPU, in well under two minutes: the loss falls, and a checkpoint continues.

    python -m pretraining.smoke

Trains a tiny model on short streams, saves, continues from the checkpoint, and compares the
averaged weights with the untrained ones on the same held-out streams.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import torch
from pretraining.export import restore
from pretraining.model import DenseAttention, Rill, Shape
from pretraining.validation import synthetic_report

from pretraining import train

TOY = Shape(
    width=48, layers=2, heads=4, head_dim=16, rotary=12, hidden=96, row_layers=1, row_hidden=96,
    matches=2, match_dim=16, head_hidden=16,
)  # fmt: skip
SETTINGS = {"ROWS": "128", "WIDTHS": "8", "CLASSES": "6", "STREAMS": 16, "WARMUP": 10, "EMA": 0.95}


def mean_loss(model: Rill) -> float:
    cpu = torch.device("cpu")
    return synthetic_report(model.eval(), cpu, DenseAttention, streams=8, n=128)["mean"][0]


def main(steps: int = 120) -> None:
    torch.set_num_threads(1)
    for name, value in SETTINGS.items():
        setattr(train, name, value)
    began = time.perf_counter()
    trainer = train.Trainer(TOY, "cpu", seed=0, attention=DenseAttention)
    before = mean_loss(trainer.averaged())
    with tempfile.TemporaryDirectory() as folder:
        for half in (0, 1):
            if half:
                trainer = train.Trainer(TOY, "cpu", seed=0, attention=DenseAttention)
                trainer.load(Path(folder))
            while trainer.step < steps * (half + 1) // 2:
                trainer.advance(train.rate_at(trainer.step, trainer.step / steps))
            trainer.save(Path(folder), [])
        after = mean_loss(restore(Path(folder) / "weights.npz"))
    seconds = time.perf_counter() - began
    print(f"held-out loss {before:.3f} -> {after:.3f} after {steps} steps, {seconds:.0f} s")
    if not after < before - 0.05:
        raise SystemExit("the loss did not fall")


if __name__ == "__main__":
    main()
