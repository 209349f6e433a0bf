"""The classifiers behind the files in tests/saved, which every later version has to load.

    python tests/saved_made.py      # writes the present release's files, those that are not there

A file that is there is never written again: what was saved once is what has to be read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from millpond import StreamClassifier, __version__, tags
from millpond.backbones.rill.weights import PACKAGED, load

FOLDER = Path(__file__).parent / "saved"


def numbers(rng: np.random.Generator) -> tuple[StreamClassifier, list[Any]]:
    """Sequences of numbers, with missing values, some waiting by row."""
    classifier = StreamClassifier("knn", "cure", budget=30, short_ratio=0.5, tau=0.4, k=5)
    rows = rng.normal(size=(120, 3)).round(2)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    for t, x in enumerate(rows[:100]):
        classifier.predict_one(x)
        if t % 3:
            classifier.learn_one(x, int(np.nansum(x) > 0))
    return classifier, rows[100:].tolist()


def mixed(rng: np.random.Generator) -> tuple[StreamClassifier, list[Any]]:
    """Rows by name, categories, features that come later, labels and keys of all kinds that are saved."""
    labels: list[Any] = ["b", 3, 2.5, False, b"x", ("a", 1), frozenset({"f"}), 2**70]
    classifier = StreamClassifier("knn", "cure_margin", budget=40, tau=0.2, waiting=9, ties="newer")
    rows: list[dict[str, Any]] = []
    for t in range(120):
        row = {"kind": str(rng.choice(list("pqrs"))), "size": round(float(rng.normal()), 2)}
        if t > 50:
            row["later"] = None if t % 7 == 0 else bool(rng.random() < 0.5)
        if t % 11 == 0:
            del row["size"]
        rows.append(row)
    for t, row in enumerate(rows[:100]):
        classifier.predict_one(row, key=("order", t))
        if t % 4:
            classifier.learn_one(y=labels[(len(row["kind"]) * t) % len(labels)], key=("order", t))
        classifier.predict_one({**row, "kind": f"new {t}"})
    return classifier, rows[100:]


def auto(rng: np.random.Generator) -> tuple[StreamClassifier, list[Any]]:
    """tau="auto" and its running quantile."""
    classifier = StreamClassifier("knn", "entropy_only", budget=20, tau="auto", entropy_over="seen")
    rows = rng.integers(0, 4, size=(120, 2)).tolist()
    for x in rows[:100]:
        classifier.learn_one(x, "abc"[sum(x) % 3])
    return classifier, rows[100:]


def rill(rng: np.random.Generator) -> tuple[StreamClassifier, list[Any]]:
    """The embedded backbone with its caches, and a row that waits to be encoded."""
    classifier = StreamClassifier("rill", "cure", budget=14, short_ratio=0.5, tau=0.2)
    rows = [
        {"u": round(u, 2), "kind": "abc"[t % 3]}
        for t, u in enumerate(rng.normal(size=120).tolist())
    ]
    for t, x in enumerate(rows[:100]):
        classifier.predict_one(x)
        classifier.learn_one(x, "yes" if x["u"] > 0.3 * (t % 3) else "no")
    classifier.predict_one(rows[7], key="waits")
    return classifier, rows[100:]


MADE = {"numbers": numbers, "mixed": mixed, "auto": auto, "rill": rill}


def answers(classifier: StreamClassifier, rows: list[Any]) -> list[Any]:
    """Test, then train: every probability, and the fingerprint at the end."""
    found: list[Any] = []
    for t, x in enumerate(rows):
        proba = classifier.predict_proba_one(x)
        found.append([[tags.encode(label, "it"), p] for label, p in proba.items()])
        classifier.learn_one(x, classifier.classes_[t % len(classifier.classes_)])
    return [*found, classifier.fingerprint()]


def weights() -> str:
    """What tells the packaged weights of Rill from others."""
    return load(PACKAGED).sha256


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, made in MADE.items():
        path = FOLDER / f"{name}-{__version__}.millpond"
        if not path.exists():
            classifier, rows = made(np.random.default_rng(1))
            classifier.save(path)
            told = {"fingerprint": classifier.fingerprint(), "rows": rows}
            if name == "rill":
                told["weights"] = weights()
            told["answers"] = answers(classifier, rows)[:-1]
            path.with_suffix(".json").write_text(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
