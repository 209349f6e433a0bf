"""Pack stored streams for `replay`, so that a machine with nothing but torch can read them.

    python -m pretraining.pack OUT noaa agr_a rialto ...     # data folder: MILLPOND_DATA

Labels are numbered by the sorted classes, as the library's loop numbers them. Packed streams are
for judging: nothing here is read in training, and none of it belongs in the repository.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from millpond import load_stream


def main(out: Path, names: list[str]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        stream = load_stream(name)
        labels = np.asarray(stream.y)
        _, y = np.unique(labels, return_inverse=True)
        X = np.asarray(stream.X, np.float32)
        np.savez_compressed(out / f"{stream.name}.npz", X=X, y=y.astype(np.int16))
        print(f"{stream.name}: {X.shape[0]:,} x {X.shape[1]}, {y.max() + 1} classes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
