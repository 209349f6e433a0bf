"""How fast MOA runs here against MOA's own command line, on the same rows, in turns.

    python benchmarks/moa_throughput.py         # writes benchmarks/results/baselines/throughput.json

Two measures, both in CPU seconds, which hold on a machine that others use as well:

- the evaluation, from the first row to the last, of the thread that evaluates: MOA's own "evaluation
  time" (reading the ARFF file, testing, training, its metrics) and the loop of `prequential` (testing,
  training, metrics and floors; the stream is in memory). Start-up is in neither.
- the whole process with all its threads: the Java machine's start, its compiler and collector in both;
  the ARFF file in MOA's; Python's start and the stream's own file in ours.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from millpond import Stream, load_stream, prequential
from millpond.baselines import moa_jvm
from millpond.baselines.decimals import shortest_decimals
from millpond.baselines.moa import option_string
from millpond.baselines.options import checked_options
from results import FOLDER, machine, write

REPEATS = 5
CASES = (
    ("poker", "vfdt", {"grace_period": 400, "tie_threshold": 0.1}),
    ("poker", "efdt", {"grace_period": 100, "tie_threshold": 0.1}),
    ("posture_no8", "vfdt", {"grace_period": 100, "tie_threshold": 0.1}),
    ("rialto", "vfdt", {"grace_period": 400, "tie_threshold": 0.1}),
    ("agr_a", "vfdt", {"grace_period": 400, "tie_threshold": 0.1}),
    ("agr_a", "efdt", {"grace_period": 100, "tie_threshold": 0.1}),
    ("agr_a", "arf", {"grace_period": 100, "tie_threshold": 0.1}),
)


class Times(NamedTuple):
    """CPU seconds of one run."""

    evaluation: float
    whole_process: float


def ours(case: int) -> None:
    """In a process of its own: print the CPU seconds of one run's loop."""
    name, learner, options = CASES[case]
    stream = load_stream(name)
    moa_jvm.java()
    times: list[float] = []  # the first is taken before the first row, the last after the last
    prequential(
        stream,
        learner=f"moa:{learner}",
        seed=1,
        progress=lambda now: times.append(time.thread_time()),
        **options,
    )
    print(times[-1] - times[0])


def write_arff(stream: Stream, path: Path) -> None:
    names = "".join(f"@attribute x{i} numeric\n" for i in range(stream.X.shape[1]))
    codes = ",".join(map(str, range(len(stream.classes))))
    rows = (
        ",".join(map(repr, x)) + f",{y}"
        for x, y in zip(shortest_decimals(stream.X).tolist(), stream.y.tolist(), strict=True)
    )
    path.write_text(f"@relation s\n{names}@attribute class {{{codes}}}\n@data\n" + "\n".join(rows))


def theirs(arff: Path, learner: str, options: dict[str, Any]) -> Times:
    command = option_string(learner, checked_options(f"moa:{learner}", options))
    dump = arff.with_suffix(".csv")
    dump.unlink(missing_ok=True)
    task = (
        f"EvaluatePrequential -l ({command}) -s (ArffFileStream -f {arff}) "
        f"-e BasicClassificationPerformanceEvaluator -f 10000000 -q 10000000 -d {dump}"
    )
    jar = str(moa_jvm._jar())
    _, whole = timed(["java", *moa_jvm.options(), "-cp", jar, "moa.DoTask", task])
    header, *_, last = dump.read_text().splitlines()
    said = dict(zip(header.split(","), last.split(","), strict=False))
    return Times(float(said["evaluation time (cpu seconds)"]), whole)


def timed(command: list[str]) -> tuple[str, float]:
    """What a command prints, and the CPU seconds of its process with all threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(case: int, folder: Path) -> dict[str, Any]:
    name, learner, options = CASES[case]
    stream = load_stream(name)
    arff = folder / f"{name}.arff"
    if not arff.exists():
        write_arff(stream, arff)
    us, them = [], []
    for _ in range(REPEATS):
        said, whole = timed([sys.executable, __file__, str(case)])
        us.append(Times(float(said), whole))
        them.append(theirs(arff, learner, options))
    found: dict[str, Any] = {"stream": name, "learner": learner, "rows": len(stream)}
    for measure in Times._fields:
        mine = [getattr(each, measure) for each in us]
        other = [getattr(each, measure) for each in them]
        found[measure] = {
            "millpond_rows_per_second": round(len(stream) / statistics.median(mine)),
            "moa_command_line_rows_per_second": round(len(stream) / statistics.median(other)),
            "ratio": round(statistics.median(other) / statistics.median(mine), 2),
            "ratios": sorted(round(b / a, 2) for a, b in zip(mine, other, strict=True)),
        }
    return found


def main() -> None:
    if len(sys.argv) > 1:
        ours(int(sys.argv[1]))
        return
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for case in range(len(CASES)):
            found.append(compare(case, Path(folder)))
            print(found[-1], flush=True)
    (FOLDER / "baselines").mkdir(parents=True, exist_ok=True)
    java = {"jvm_options": moa_jvm.options(), **moa_jvm.versions()}
    write(
        "baselines/throughput", {"cases": found, "repeats": REPEATS, **java, "machine": machine()}
    )


if __name__ == "__main__":
    main()
