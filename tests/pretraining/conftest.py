"""Pretraining is run from the repository, not installed: put its root on the path."""

import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

with suppress(ModuleNotFoundError):  # each test module skips itself without torch
    import torch

    torch.set_num_threads(1)  # tiny tensors: more threads only wait for each other
