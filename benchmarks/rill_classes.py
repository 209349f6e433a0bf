"""Rill with 15 and 40 classes against 1-NN on the same context (FIFO, B = 1000).

    python benchmarks/rill_classes.py            # writes benchmarks/results/rill_classes.json

Three kinds of streams written down here, none drawn from the training prior: moving Gaussian centroids
of unequal width (as MOA's RandomRBF), sectors of rotating rings in a rotated plane among noise columns,
and binary codes with flipped bits (as the LED generator, with more classes).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from millpond import Stream, prequential
from millpond.backbones.rill.weights import PACKAGED, load
from paired import difference
from results import machine, write

ROWS, CLASSES, SEED = 4000, (15, 40), 0
MARGIN = 4.0
"""Points by which Rill may be below 1-NN"""


def centroids(classes: int, rng: np.random.Generator) -> tuple[Any, Any]:
    columns, many = 10, 3 * classes
    centre, step = rng.random((many, columns)), rng.standard_normal((many, columns)) * 1e-4
    width, weight = rng.uniform(0.02, 0.15, many), rng.random(many)
    which = rng.choice(many, ROWS, p=weight / weight.sum())
    moved = centre[which] + step[which] * np.arange(ROWS)[:, None]
    return moved + rng.standard_normal((ROWS, columns)) * width[which, None], which % classes


def rings(classes: int, rng: np.random.Generator) -> tuple[Any, Any]:
    columns, circles = 6, 3 if classes < 20 else 5
    sectors = classes // circles
    radius, angle = rng.random(ROWS) * circles, rng.random(ROWS)
    turned = (angle + np.arange(ROWS) / (4 * ROWS)) % 1  # a quarter turn over the stream
    y = np.floor(radius).astype(int) * sectors + np.floor(turned * sectors).astype(int)
    X = rng.standard_normal((ROWS, columns)) * 0.05
    X[:, 0] = (radius + 0.5) * np.cos(2 * np.pi * angle)
    X[:, 1] = (radius + 0.5) * np.sin(2 * np.pi * angle)
    rotation, _ = np.linalg.qr(rng.standard_normal((columns, columns)))
    return np.concatenate([X @ rotation, rng.standard_normal((ROWS, 2)) * 0.1], axis=1), y


def codes(classes: int, rng: np.random.Generator) -> tuple[Any, Any]:
    bits = rng.random((classes, 24)) < 0.5
    y = rng.integers(0, classes, ROWS)
    return bits[y] ^ (rng.random((ROWS, 24)) < 0.1), y


def streams() -> list[Stream]:
    made = []
    for kind in (centroids, rings, codes):
        for classes in CLASSES:
            X, y = kind(classes, np.random.default_rng([SEED, classes]))
            names = tuple(f"x{i}" for i in range(X.shape[1]))
            label = tuple(range(classes))
            made.append(Stream(f"{kind.__name__} {classes}", X, y, names, label))
    return made


def compare() -> dict[str, Any]:
    these = streams()
    rill = prequential(these, backbone="rill", policy="fifo", warmup=100)
    nearest = prequential(these, backbone="knn", k=1, policy="fifo", warmup=100)
    found = {}
    for stream, ours, theirs in zip(these, rill, nearest, strict=True):
        found[stream.name] = {
            "rill": round(100 * ours.accuracy, 2),
            "one_nearest": round(100 * theirs.accuracy, 2),
            "rill_minus_one_nearest": difference(ours.predictions, theirs.predictions, stream.y),
            "classes": len(stream.classes),
            "fingerprint": stream.fingerprint(),
        }
    return found


def main() -> None:
    found = compare()
    for name, case in found.items():
        gain = case["rill_minus_one_nearest"]["points"]
        verdict = "holds" if gain >= -MARGIN else "falls short"
        print(
            f"{name:14} Rill {case['rill']:6.2f}  1-NN {case['one_nearest']:6.2f}  "
            f"{gain:+6.2f} {verdict}"
        )
    sha256 = load(PACKAGED).sha256
    about = {"rows": ROWS, "budget": 1000, "seed": SEED, "margin": MARGIN, "sha256": sha256}
    write("rill_classes", {**about, "streams": found, "machine": machine()})


if __name__ == "__main__":
    main()
