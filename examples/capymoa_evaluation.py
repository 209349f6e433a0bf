"""millpond inside CapyMOA: its evaluation, its drift streams, and one of MOA's trees beside it.

pip install 'millpond[capymoa]'        # needs a Java virtual machine
"""

from capymoa.classifier import HoeffdingTree
from capymoa.evaluation import prequential_evaluation
from capymoa.stream.drift import AbruptDrift, DriftStream
from capymoa.stream.generator import SEA

from millpond import load_stream, prequential
from millpond.adapters.capymoa import CapymoaClassifier, from_capymoa, to_capymoa

ROWS = 1_500

stream = DriftStream(stream=[SEA(function=1), AbruptDrift(ROWS // 2), SEA(function=3)])
schema = stream.get_schema()
for learner in (CapymoaClassifier(schema, policy="cure", budget=300), HoeffdingTree(schema)):
    result = prequential_evaluation(stream, learner, max_instances=ROWS, window_size=500)
    windows = result.windowed.metrics_per_window()["accuracy"]
    print(f"{learner!s:20}{result.cumulative.accuracy():.2f} %", windows.round(1).tolist())

# The same rows in our own loop, with its floors, checkpoints and reports.
result = prequential(from_capymoa(stream, ROWS), policy="cure", budget=300, warmup=0)
print(f"{'our loop':20}{result.accuracy:.2%} of {result.scored} rows")

# And one of our streams in theirs.
stream = to_capymoa(load_stream("agr_a").head(ROWS))
result = prequential_evaluation(stream, HoeffdingTree(stream.get_schema()))
print(f"{'AGR(A), its tree':20}{result.cumulative.accuracy():.2f} %")
