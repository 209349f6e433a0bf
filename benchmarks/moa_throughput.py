"""How fast MOA runs here against MOA's own command line, on the same rows, in turns.

    python benchmarks/moa_throughput.py              # writes benchmarks/results/baselines/throughput.json
    python benchmarks/moa_throughput.py agr_a:arf    # does one case anew

Three measures, all in CPU seconds, which hold on a machine that others use as well:

- the evaluation, from the first row to the last, of the thread that evaluates: MOA's own "evaluation
  time" (reading the ARFF file, testing, training, its metrics) and the loop of `prequential` (testing,
  training, metrics and floors). Start-up is in neither.
- with reading: MOA's as above; ours with `load_stream`, which unpacks, checks and reads a file before the
  first row. AGR(A) is drawn, not read.
- the whole process with all its threads: the Java machine's start, its compiler and collector in both;
  Python's start in ours.
"""

from __future__ import annotations

import json
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


class Case(NamedTuple):
    """What is run, with the paper's hyper-parameters."""

    stream: str
    learner: str
    options: dict[str, Any]
    rows: int | None = None  # the first of the stream

    def load(self) -> Stream:
        stream = load_stream(self.stream)
        return stream if self.rows is None else stream.head(self.rows)


CASES = {
    f"{case.stream}:{case.learner}": case
    for case in (
        Case("poker", "vfdt", {"grace_period": 400, "tie_threshold": 0.1}),
        Case("poker", "efdt", {"grace_period": 100, "tie_threshold": 0.1}),
        Case("posture_no8", "vfdt", {"grace_period": 100, "tie_threshold": 0.1}),
        Case("rialto", "vfdt", {"grace_period": 400, "tie_threshold": 0.1}),
        Case("agr_a", "vfdt", {"grace_period": 400, "tie_threshold": 0.1}),
        Case("agr_a", "efdt", {"grace_period": 100, "tie_threshold": 0.1}),
        Case("agr_a", "arf", {"grace_period": 100, "tie_threshold": 0.1}, rows=3000),
    )
}


class Times(NamedTuple):
    """CPU seconds of one run."""

    evaluation: float
    with_reading: float
    whole_process: float


def ours(case: Case) -> None:
    """In a process of its own: print the CPU seconds of one run's loop, and with reading."""
    begin = time.thread_time()
    stream = case.load()
    reading = time.thread_time() - begin
    moa_jvm.java()
    times: list[float] = []  # the first is taken before the first row, the last after the last
    prequential(
        stream,
        learner=f"moa:{case.learner}",
        seed=1,
        progress=lambda now: times.append(time.thread_time()),
        **case.options,
    )
    loop = times[-1] - times[0]
    print(loop, loop + reading)


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
    evaluation = float(said["evaluation time (cpu seconds)"])
    return Times(evaluation, evaluation, whole)


def timed(command: list[str]) -> tuple[str, float]:
    """What a command prints, and the CPU seconds of its process with all threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(name: str) -> dict[str, Any]:
    case = CASES[name]
    stream = case.load()
    us, them = [], []
    with tempfile.TemporaryDirectory() as folder:
        arff = Path(folder) / "rows.arff"
        write_arff(stream, arff)
        for _ in range(REPEATS):
            said, whole = timed([sys.executable, __file__, "--ours", name])
            us.append(Times(*map(float, said.split()), whole))
            them.append(theirs(arff, case.learner, case.options))
    found: dict[str, Any] = {"stream": case.stream, "learner": case.learner, "rows": len(stream)}
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
    if sys.argv[1:2] == ["--ours"]:
        ours(CASES[sys.argv[2]])
        return
    path = FOLDER / "baselines" / "throughput.json"
    kept = json.loads(path.read_text())["cases"] if path.exists() and sys.argv[1:] else []
    cases = {f"{case['stream']}:{case['learner']}": case for case in kept}
    path.parent.mkdir(parents=True, exist_ok=True)
    java = {"jvm_options": moa_jvm.options(), **moa_jvm.versions()}
    for name in sys.argv[1:] or CASES:
        cases[name] = compare(name)
        print(cases[name], flush=True)
        found = [cases[each] for each in CASES if each in cases]
        facts = {"cases": found, "repeats": REPEATS, **java, "machine": machine()}
        write("baselines/throughput", facts)


if __name__ == "__main__":
    main()
