"""A toy run on the CPU, in well under two minutes: the loss falls, and a run can be gone on with.

    python -m pretraining.smoke

Trains a tiny model on short streams, saves, continues from the checkpoint, then from the weights file
alone (the optimisers begin afresh, with a warm-up), and compares the averaged weights of each with the
untrained ones on the same held-out streams.
"""

from __future__ import annotations

import shutil
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


def advance(trainer: train.Trainer, to: int, last: int) -> None:
    while trainer.step < to:
        trainer.advance(train.rate_at(trainer.step - trainer.fresh, trainer.step / last))


def main(steps: int = 120, more: int = 40) -> None:
    torch.set_num_threads(1)
    for name, value in SETTINGS.items():
        setattr(train, name, value)
    began = time.perf_counter()
    trainer = toy()
    before = mean_loss(trainer.averaged())
    with tempfile.TemporaryDirectory() as folder:
        whole, alone = Path(folder) / "whole", Path(folder) / "alone"
        for half in (0, 1):
            if half:
                trainer = toy()
                trainer.load(whole)
            advance(trainer, steps * (half + 1) // 2, steps)
            trainer.save(whole, [])
        after = mean_loss(restore(whole / "weights.npz"))
        alone.mkdir()
        shutil.copy(whole / "weights.npz", alone)
        trainer = toy()
        trainer.load(alone)
        advance(trainer, steps + more, steps + more)
        later = mean_loss(trainer.averaged())
    seconds = time.perf_counter() - began
    print(
        f"held-out loss {before:.3f} -> {after:.3f} after {steps} steps -> {later:.3f} after {more} "
        f"from the weights alone, {seconds:.0f} s"
    )
    if not after < before - 0.05:
        raise SystemExit("the loss did not fall")
    if not later < after + 0.01:
        raise SystemExit("the loss rose when going on from the weights alone")


def toy() -> train.Trainer:
    return train.Trainer(TOY, "cpu", seed=0, attention=DenseAttention)


if __name__ == "__main__":
    main()
