"""How far Rill's engines are apart: the same 3,000 replayed deltas with CURE's evictions, B = 1000.

    python benchmarks/rill_engines.py            # writes benchmarks/results/rill_engines.json

The NumPy engine's answers decide what the context keeps; the torch engine follows its deltas, in
float32 and in bfloat16 (matrices and caches), by default on the CPU, with `--device cuda` on a GPU.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from millpond import Stream, load_stream
from millpond.backbones.rill import Rill
from millpond.backbones.rill.weights import PACKAGED, load
from millpond.context import Contexts
from results import machine, write

ROWS = 3000
STREAMS = {"noaa": 0.4, "rialto": 0.1}
DTYPES = ("float32", "bfloat16")


def compare(stream: Stream, tau: float, device: str) -> dict[str, Any]:
    contexts, lane = Contexts(1, policy="cure", tau=tau), np.array([0])
    numpy = Rill().open(contexts)
    others = {d: Rill(engine="torch", device=device, dtype=d).open(contexts) for d in DTYPES}
    worst, sums, flips = (dict.fromkeys(DTYPES, 0.0) for _ in range(3))
    answered = evicted = 0
    for x, y in stream:
        (want,) = numpy.predict(x[None, None], lane)
        if len(want.classes) > 1:
            answered += 1
            for dtype, session in others.items():
                (got,) = session.predict(x[None, None], lane)
                apart = float(np.abs(got.proba - want.proba).max())
                worst[dtype], sums[dtype] = max(worst[dtype], apart), sums[dtype] + apart
                flips[dtype] += int(got.best()[0] != want.best()[0])
        score = contexts.score_of(0, want.proba)
        deltas = contexts.observe(x[None], np.array([y]), score, [0])
        evicted += int(deltas.evicted[0] >= 0)
        for session in (numpy, *others.values()):
            session.update(deltas)
    apart_by = {
        dtype: {
            "largest_difference": worst[dtype],
            "mean_of_largest": sums[dtype] / answered,
            "labels_that_flip": int(flips[dtype]),
        }
        for dtype in DTYPES
    }
    return {"answers": answered, "evictions": evicted, "tau": tau, "torch": apart_by}


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args().device
    torch.set_num_threads(1)
    found = {}
    for name, tau in STREAMS.items():
        found[name] = case = compare(load_stream(name).head(ROWS), tau, device)
        for dtype, apart in case["torch"].items():
            print(
                f"{name:8} {dtype:9} largest difference {apart['largest_difference']:.1e}, "
                f"{apart['labels_that_flip']} of {case['answers']} labels flip",
                flush=True,
            )
    about = {"rows": ROWS, "budget": 1000, "sha256": load(PACKAGED).sha256}
    about |= {"device": device, "torch": torch.__version__}
    suffix = "" if device == "cpu" else f"_{device}"
    write(f"rill_engines{suffix}", {**about, "streams": found, "machine": machine()})


if __name__ == "__main__":
    main()
