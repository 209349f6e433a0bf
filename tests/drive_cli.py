"""The command line with frequent checkpoints and a stateful backbone: what tests start and kill."""

from __future__ import annotations

import os
import resource
import sys

from millpond.backbones import BACKBONES
from millpond.cli import main
from millpond.evaluate import prequential

if __name__ == "__main__":
    BACKBONES["cached"] = "backbones_made:Cached"
    prequential.CHECKPOINT_SECONDS = float(os.environ["CHECKPOINT_SECONDS"])
    if "LARGEST_FILE" in os.environ:
        largest = int(os.environ["LARGEST_FILE"])
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    sys.exit(main())
