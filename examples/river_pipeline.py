"""millpond inside River: a pipeline under River's own evaluation, against one of River's trees.

pip install 'millpond[river]'
"""

from river import compose, drift, evaluate, metrics, preprocessing, tree
from river.datasets import synth

from millpond import prequential
from millpond.adapters.river import RiverClassifier, from_river

ROWS = 600

# SEA moves its border in the middle: a drift that a bounded context simply forgets its way through.
stream = synth.ConceptDriftStream(
    stream=synth.SEA(variant=0, seed=1),
    drift_stream=synth.SEA(variant=3, seed=2),
    position=ROWS // 2,
    width=50,
    seed=3,
)
models = {
    "millpond": RiverClassifier(policy="cure", budget=150),
    "millpond, scaled": preprocessing.StandardScaler() | RiverClassifier(budget=150),
    "millpond, two features": compose.Select(0, 1) | RiverClassifier(budget=150),
    "restarted by DDM": drift.DriftRetrainingClassifier(
        RiverClassifier(policy="fifo", budget=150), drift_detector=drift.binary.DDM()
    ),
    "Hoeffding tree": tree.HoeffdingTreeClassifier(),
}
for name, model in models.items():
    metric = metrics.Accuracy() + metrics.LogLoss()
    evaluate.progressive_val_score(stream.take(ROWS), model, metric)
    print(f"{name:24}{str(metric).replace(chr(10), '  ')}")

# The same rows in our own loop, with its floors, checkpoints and reports.
result = prequential(from_river(stream, ROWS), policy="cure", budget=150, warmup=0)
print(f"{'our loop':24}Accuracy: {result.accuracy:.2%} of {result.scored} rows")
