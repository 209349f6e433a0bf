"""Coverage-guided fuzzing of what reads files: delimited text, ARFF, checkpoints, saved classifiers.

    make fuzz                                                 # ten minutes each; needs atheris
    python tests/fuzz/fuzz_readers.py csv FINDINGS CORPUS -max_total_time=600

A reader may refuse a file with one of the library's own errors; anything else that it raises is a
finding. Its input is kept in the folder FINDINGS, one for each place it comes from; the fuzzer goes on.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
import traceback
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["millpond"]):
    import millpond
    from millpond.errors import MillpondError
    from readers import READERS

OURS = str(Path(millpond.__file__).parent)


def note(error: Exception, content: bytes, findings: Path) -> None:
    """Keep the first input that leads to an error of this kind at this place."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(OURS)]
    where = f"{Path(frames[-1].filename).stem}-{frames[-1].name}"
    path = findings / f"{type(error).__name__}-{where}"
    if not path.exists():
        path.write_bytes(content)
        print(f"finding: {path.name}: {error}", file=sys.stderr, flush=True)


def main() -> None:
    script, name, findings, *options = sys.argv
    reader = READERS[name]
    warnings.simplefilter("error")

    def one(content: bytes) -> None:
        with contextlib.suppress(MillpondError):
            try:
                reader(content)
            except MillpondError:
                raise
            except Exception as error:
                note(error, content, Path(findings))

    # -merge=1 runs the first argument again, as a command of the shell.
    itself = shlex.join([sys.executable, script, name, findings])
    atheris.Setup([itself, *options], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
