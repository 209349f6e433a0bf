"""Save a classifier, load it, and go on as if nothing had happened."""

import random
import tempfile
from pathlib import Path

from millpond import StreamClassifier

random.seed(1)
stream = [(x := [random.random(), random.random()], x[0] > x[1]) for _ in range(600)]

classifier = StreamClassifier(backbone="knn", policy="cure", tau="auto", budget=100)
for x, y in stream[:300]:
    classifier.learn_one(x, y)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.millpond"
    classifier.save(path)
    loaded = StreamClassifier.load(path)
    print(f"{path.stat().st_size // 1024} KB")

assert loaded.fingerprint() == classifier.fingerprint()
for x, y in stream[300:]:
    assert loaded.predict_proba_one(x) == classifier.predict_proba_one(x)
    classifier.learn_one(x, y)
    loaded.learn_one(x, y)
print("300 rows later both are the same:", loaded.fingerprint() == classifier.fingerprint())
