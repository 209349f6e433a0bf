"""How fast MOA runs here against MOA's own command line, on the same rows, in turns.

    python benchmarks/moa_throughput.py         # writes benchmarks/results/baselines/throughput.json

Both figures are CPU seconds of the thread that evaluates, from the first row to the last: MOA's own
"evaluation time" (reading the ARFF file, testing, training, its metrics), and those of the loop of
`prequential` (testing, training, metrics and floors). They hold on a machine that others use as well.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from millpond import Stream, load_stream, prequential
from millpond.baselines import moa_jvm
from millpond.baselines.decimals import shortest_decimals
from millpond.baselines.moa import option_string
from millpond.baselines.options import checked_options
from results import FOLDER, machine, write

REPEATS = 5
CASES = (
    ("agr_a", "vfdt", {"grace_period": 400, "tie_threshold": 0.1}, None),
    ("agr_a", "efdt", {"grace_period": 100, "tie_threshold": 0.1}, None),
    ("noaa", "vfdt", {"grace_period": 400, "tie_threshold": 0.1}, None),
    ("agr_a", "arf", {"grace_period": 100, "tie_threshold": 0.1}, 2000),
)


def ours(case: int) -> None:
    """In a process of its own: print the CPU seconds of one run's loop."""
    name, learner, options, limit = CASES[case]
    stream = load_stream(name)
    moa_jvm.java()
    times: list[float] = []  # the first is taken before the first row, the last after the last
    prequential(
        stream,
        learner=f"moa:{learner}",
        limit=limit,
        seed=1,
        progress=lambda now: times.append(time.thread_time()),
        **options,
    )
    print(json.dumps({"seconds": times[-1] - times[0]}))


def write_arff(stream: Stream, path: Path) -> None:
    names = "".join(f"@attribute x{i} numeric\n" for i in range(stream.X.shape[1]))
    codes = ",".join(map(str, range(len(stream.classes))))
    rows = (
        ",".join(map(repr, x)) + f",{y}"
        for x, y in zip(shortest_decimals(stream.X).tolist(), stream.y.tolist(), strict=True)
    )
    path.write_text(f"@relation s\n{names}@attribute class {{{codes}}}\n@data\n" + "\n".join(rows))


def theirs(arff: Path, learner: str, options: dict[str, Any]) -> float:
    """CPU seconds as MOA's command line reports them."""
    command = option_string(learner, checked_options(f"moa:{learner}", options))
    dump = arff.with_suffix(".csv")
    dump.unlink(missing_ok=True)
    task = (
        f"EvaluatePrequential -l ({command}) -s (ArffFileStream -f {arff}) "
        f"-e BasicClassificationPerformanceEvaluator -f 10000000 -q 10000000 -d {dump}"
    )
    jar = moa_jvm._jar()
    subprocess.run(
        ["java", *moa_jvm.options(), "-cp", str(jar), "moa.DoTask", task],
        check=True,
        capture_output=True,
    )
    header, *_, last = dump.read_text().splitlines()
    return float(dict(zip(header.split(","), last.split(","), strict=False))[_CPU])


_CPU = "evaluation time (cpu seconds)"


def compare(case: int, folder: Path) -> dict[str, Any]:
    name, learner, options, limit = CASES[case]
    stream = load_stream(name)
    stream = stream if limit is None else stream.head(limit)
    arff = folder / f"{name}-{len(stream)}.arff"
    write_arff(stream, arff)
    us, them = [], []
    for _ in range(REPEATS):
        child = [sys.executable, __file__, str(case)]
        said = subprocess.run(child, check=True, capture_output=True, text=True).stdout
        us.append(json.loads(said)["seconds"])
        them.append(theirs(arff, learner, options))
    rows = len(stream)
    return {
        "stream": name,
        "learner": learner,
        "rows": rows,
        "millpond_rows_per_second": round(rows / statistics.median(us)),
        "moa_command_line_rows_per_second": round(rows / statistics.median(them)),
        "ratio": round(statistics.median(them) / statistics.median(us), 2),
        "ratios": sorted(round(b / a, 2) for a, b in zip(us, them, strict=True)),
    }


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
