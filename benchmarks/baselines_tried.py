"""What the trees' accuracies depend on besides the learner: the draw of AGR(A), decimals, coding.

    python benchmarks/baselines_tried.py          # writes benchmarks/results/baselines/tried.json

- AGR(A) with 30 seeds: the paper does not say which one its stream was drawn with.
- AGR(A) with education level, car and zip code as nominal attributes, as MOA's generator has them.
- Streams without `shortest_decimals`: float32 values widened as they are.
- NOMAO with its classes sorted, as the other streams' are, instead of by first appearance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines import PAPER
from millpond import Stream, load_stream
from millpond.baselines import moa_jvm
from millpond.baselines.decimals import shortest_decimals
from millpond.baselines.moa import chosen, option_string
from millpond.baselines.moa_block import Blocks, make_classifier, make_header
from millpond.baselines.options import TREES, checked_options
from millpond.streams import agrawal
from results import machine, write

SEEDS = range(30)
NOMINAL = {3: 5, 4: 20, 5: 9}  # AGR(A)'s column -> its number of values, 0 1 2 ...
READ = ("noaa", "rialto", "posture_no8", "nomao")
WARMUP = 100


def trees(stream: Stream, X: NDArray[np.float64], header: Any = None) -> dict[str, float]:
    """Each tree's accuracy with the paper's hyper-parameters, on (rows, d) values as MOA gets them."""
    jpype, classes = moa_jvm.java(), len(stream.classes)
    header = header or make_header(jpype, X.shape[1], classes)
    found = {}
    for method in TREES:
        paper = PAPER[stream.name][method]
        options = {"grace_period": paper.grace_period, "tie_threshold": paper.tie_threshold}
        command = option_string(method, checked_options(f"moa:{method}", options))
        blocks = Blocks(jpype, make_classifier(jpype, command, header, 1), header, classes)
        guesses = chosen(blocks.test_then_train(np.column_stack([X, stream.y])))
        found[method] = float((guesses == stream.y)[WARMUP:].mean())
    return found


def drawn(seed: int) -> Stream:
    agrawal.SEED = seed  # a constant there: the library's AGR(A) is one stream
    return agrawal.generate_agr_a()


def nominal_header(features: int) -> Any:
    """`make_header` of two classes, with `NOMINAL` columns."""
    jpype = moa_jvm.java()
    package = "com.yahoo.labs.samoa.instances"
    attribute, new_list = jpype.JClass(f"{package}.Attribute"), jpype.JClass("java.util.ArrayList")

    def values(count: int) -> Any:
        listed = new_list()
        for value in range(count):
            listed.add(str(value))
        return listed

    attributes = new_list()
    for feature in range(features):
        numeric = feature not in NOMINAL
        attributes.add(
            attribute(f"x{feature}")
            if numeric
            else attribute(f"x{feature}", values(NOMINAL[feature]))
        )
    attributes.add(attribute("class", values(2)))
    header = jpype.JClass(f"{package}.InstancesHeader")(
        jpype.JClass(f"{package}.Instances")("stream", attributes, 0)
    )
    header.setClassIndex(features)
    return header


def wide(streams: Sequence[str]) -> dict[str, dict[str, float]]:
    """The trees on float32 values that are only widened."""
    found = {}
    for name in streams:
        stream = load_stream(name)
        found[name] = trees(stream, stream.X.astype(np.float64))
        print(name, "widened", found[name], flush=True)
    return found


def main() -> None:
    library = agrawal.SEED
    seeds = {}
    for seed in SEEDS:
        stream = drawn(seed)
        seeds[seed] = trees(stream, shortest_decimals(stream.X))
        print("AGR(A)", seed, seeds[seed], flush=True)
    agr = drawn(library)
    nominal = trees(agr, shortest_decimals(agr.X), nominal_header(agr.X.shape[1]))
    print("AGR(A) nominal", nominal, flush=True)
    nomao = load_stream("nomao")
    other = Stream(nomao.name, nomao.X, 1 - nomao.y, nomao.feature_names, nomao.classes[::-1])
    classes_sorted = trees(other, shortest_decimals(other.X))
    print("NOMAO, classes sorted", classes_sorted, flush=True)
    found = {
        "agr_a": {"library": library, "seeds": seeds, "nominal": nominal},
        "nomao_classes_sorted": classes_sorted,
        "widened": wide(READ),
    }
    write("baselines/tried", {**found, **moa_jvm.versions(), "machine": machine()})


if __name__ == "__main__":
    main()
