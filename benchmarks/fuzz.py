"""Fuzz each reader of files for a while; keep a small corpus and the figures.

    python benchmarks/fuzz.py                        # ten minutes each: results/fuzz.json
    python benchmarks/fuzz.py --seconds 60 csv arff

The seeds are the files in tests/fuzz/corpus; beside them, an archive for each reader holds the fewest
inputs that cover all that was ever reached. Findings lie in runs/fuzz; with any, the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

from results import FOLDER, machine, write

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
LONGEST = {"csv": 1_000, "arff": 1_000, "checkpoint": 30_000, "saved": 8_000}
"""bytes of an input"""


def fuzz(reader: str, seconds: int) -> dict[str, Any]:
    work = ROOT / "runs" / "fuzz" / reader
    shutil.rmtree(work, ignore_errors=True)
    found, findings, merged = work / "found", work / "findings", work / "merged"
    for folder in (found, findings, merged):
        folder.mkdir(parents=True)
    archive = CORPUS / f"{reader}.zip"
    if archive.exists():
        shutil.unpack_archive(archive, found)
    script = ROOT / "tests" / "fuzz" / "fuzz_readers.py"
    command = [sys.executable, str(script), reader, str(findings)]
    inputs = [str(found), str(CORPUS / reader)]
    size = f"-max_len={LONGEST[reader]}"
    limits = [size, "-rss_limit_mb=2048", "-timeout=30", f"-max_total_time={seconds}"]
    told = ["-print_final_stats=1", f"-artifact_prefix={findings}/"]  # what stops the fuzzer itself
    done = subprocess.run([*command, *inputs, *limits, *told], stderr=subprocess.PIPE, text=True)
    figures = {
        "seconds": int(_last(r"Done \d+ runs in (\d+) second", done.stderr)),
        "executions": int(_last(r"number_of_executed_units: (\d+)", done.stderr)),
        "coverage": int(_last(r"cov: (\d+)", done.stderr)),
        "features": int(_last(r"ft: (\d+)", done.stderr)),
        "findings": sorted(path.name for path in findings.iterdir()),
    }
    merge = [*command, "-merge=1", size, str(merged), *inputs]
    subprocess.run(merge, stderr=subprocess.DEVNULL, check=True)
    inputs_kept = sorted(merged.iterdir())
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in inputs_kept:
            file.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return {**figures, "inputs_kept": len(inputs_kept)}


def _last(pattern: str, text: str) -> str:
    found = re.findall(pattern, text)
    if not found:
        sys.exit(f"the fuzzer said nothing of {pattern!r}:\n{text[-2000:]}")
    return str(found[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", default=list(LONGEST))
    parser.add_argument("--seconds", type=int, default=600)
    chosen = parser.parse_args()
    path = FOLDER / "fuzz.json"
    figures = json.loads(path.read_text()) if path.exists() else {"readers": {}}
    for reader in chosen.readers:
        found = fuzz(reader, chosen.seconds)
        figures["readers"][reader] = found
        write("fuzz", {**figures, "atheris": metadata.version("atheris"), "machine": machine()})
        print(f"{reader}: {found}", flush=True)
    sys.exit(any(figures["readers"][reader]["findings"] for reader in chosen.readers))


if __name__ == "__main__":
    main()
