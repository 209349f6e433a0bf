"""The command line: ``millpond run``, ``streams``, ``backbones``; other commands have files of their own.

With ``--json`` stdout is exactly one JSON document; progress and messages always go to stderr. Exit
codes: 0, 1 (it ran and failed or was interrupted), 2 (wrong use).
"""

from __future__ import annotations

import argparse
import inspect
import io
import json
import math
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table
from rich.text import Text

from millpond._version import __version__
from millpond.backbones import command as backbones_command
from millpond.backbones.published import own_weights
from millpond.baselines import LEARNERS, grid_command, require
from millpond.errors import BadOption, MillpondError, UnknownName
from millpond.evaluate import prequential as loop
from millpond.learner import DEFAULT_BACKBONE
from millpond.paper import command as paper_command
from millpond.policies import POLICIES
from millpond.progress_bar import Arrivals, progress_bar
from millpond.report import compare_command
from millpond.report.html import write_report
from millpond.report.terminal import summary
from millpond.serve import command as serve_command
from millpond.stopping import stop_on_signal
from millpond.streams import load_stream, registry

FAILED, WRONG_USE = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code. Errors are one sentence on stderr, never a traceback."""
    # What is printed holds paths and labels: none of it is markup.
    errors = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a path's letters that the terminal lacks
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        chosen = _parser().parse_args(words)
        chosen.words = words
        code: int = chosen.command(chosen, errors)
        sys.stdout.flush()
        return code
    except MillpondError as error:
        errors.print(Text.assemble(("millpond: ", "bold red"), str(error)))
        return WRONG_USE if isinstance(error, BadOption | UnknownName) else FAILED
    except KeyboardInterrupt:
        errors.print(Text.assemble(("millpond: ", "bold red"), "interrupted"))
        return FAILED
    except BrokenPipeError:  # the reader of our output has gone, e.g. `| head`
        # Python flushes stdout once more at its exit: into nothing, so that this is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


# -- run -----------------------------------------------------------------------------------------


def _run(chosen: argparse.Namespace, errors: Console) -> int:
    options = _learner_options(chosen)
    if chosen.learner is not None:
        require(chosen.learner)
    stream = load_stream(chosen.stream, target=chosen.target, data_dir=chosen.data_dir)
    for note in stream.notes:
        errors.print(f"{stream.name}: {note}", style="dim")
    with stop_on_signal(errors) as stopping, progress_bar(errors, "rows") as bar:
        try:
            result = loop.prequential(
                stream,
                learner=chosen.learner,
                warmup=chosen.warmup,
                chunk=chosen.chunk,
                delay=chosen.delay,
                missing=chosen.missing,
                limit=chosen.limit,
                shuffle_within=chosen.shuffle_within,
                window=chosen.window,
                seed=chosen.seed,
                out=chosen.out,
                resume=chosen.resume,
                progress=_Teller(bar, errors),
                stop=lambda: bool(stopping),
                **options,
            )
        except loop.Interrupted as stop:
            errors.print(f"{stop}; {_how_to_resume(chosen)}")
            return FAILED
        except KeyboardInterrupt:
            errors.print(f"stopped at once; {_how_to_resume(chosen)}")
            return FAILED
    if chosen.out is not None:
        write_report(result.facts, Path(chosen.out) / "report.html")
        errors.print(f"wrote {chosen.out}/: result.json, steps.npz, report.html", style="dim")
    if chosen.json:
        _print_json(result.facts)
    else:
        Console(highlight=False).print(summary(result.facts))
    return 0


def _learner_options(chosen: argparse.Namespace) -> dict[str, Any]:
    """Keyword options of the learner; those of a context are not given to a baseline."""
    options = dict(_setting(text) for text in chosen.set)
    for name in options:
        if name in _NOT_SETTINGS:
            raise BadOption(
                f"--set is for the learner's own options, {name} is not one: millpond run --help"
            )
    for name in _CONTEXT:
        value = getattr(chosen, name)
        if value is None:
            continue
        if chosen.learner is not None:
            flag = name.replace("_", "-")
            raise BadOption(
                f"--{flag} is for context learners; --learner {chosen.learner} has none"
            )
        options[name] = value
    # The folder that was named holds weights too: `millpond backbones get --data-dir`.
    return own_weights(chosen.backbone, chosen.data_dir) | options


_CONTEXT = ("backbone", "policy", "tau", "budget", "short_ratio")
_NOT_SETTINGS = {*_CONTEXT, *inspect.signature(loop.prequential).parameters}


def threshold(text: str) -> float | str:
    return text if text.startswith("auto") else float(text)


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BadOption(f"--set takes key=value, not {text!r}")
    try:
        return name, json.loads(value)  # numbers, true, false, null
    except ValueError:
        return name, value


def _how_to_resume(chosen: argparse.Namespace) -> str:
    if chosen.out is None:
        return "nothing was kept: give --out DIR to make a run that can be resumed"
    words = chosen.words if chosen.resume else [*chosen.words, "--resume"]
    return f"go on with: millpond {shlex.join(words)}"


class _Teller:
    """Shows a run's progress: rows, running accuracy, rate and remaining time."""

    def __init__(self, bar: Progress, errors: Console) -> None:
        self._bar, self._errors = bar, errors
        self._task: TaskID | None = None

    def __call__(self, now: loop.Progress) -> None:
        if now.note:
            self._errors.print(now.note, style="dim")
        accuracy = "" if math.isnan(now.accuracy) else f"accuracy {100 * now.accuracy:.2f}%"
        if self._task is None:
            self._task = self._bar.add_task("", total=now.rows, completed=now.row, status=accuracy)
        self._bar.update(self._task, completed=now.row, status=accuracy)


# -- streams -------------------------------------------------------------------------------------


def _streams(chosen: argparse.Namespace, errors: Console) -> int:
    if chosen.action == "get":
        return _get_stream(chosen, errors)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, side in (
        ("name", "left"),
        ("rows", "right"),
        ("features", "right"),
        ("classes", "right"),
        ("balance", "left"),
        ("here", "left"),
    ):
        table.add_column(column, justify=side, overflow="fold")  # type: ignore[arg-type]
    found = []
    for entry in registry.entries():
        status = entry.status(chosen.data_dir)
        table.add_row(
            entry.name,
            f"{entry.rows:,}",
            str(entry.features),
            str(entry.classes),
            entry.balance,
            {"present": "yes", "generated": "yes (generated)", "absent": "no"}[status.state],
        )
        found.append(
            {
                "name": entry.name,
                "rows": entry.rows,
                "features": entry.features,
                "classes": entry.classes,
                "balance": entry.balance,
                "state": status.state,
                "path": None if status.path is None else str(status.path),
            }
        )
    if chosen.json:
        _print_json(found)
    else:
        Console(highlight=False).print(table)
    return 0


def _get_stream(chosen: argparse.Namespace, errors: Console) -> int:
    name = chosen.name
    if name is None:
        raise BadOption("millpond streams get needs a name; see: millpond streams list")
    with progress_bar(errors, "bytes") as bar:
        path = registry.get(name, chosen.data_dir, Arrivals(bar))
    where = "generated when it is used: nothing to fetch" if path is None else str(path)
    if chosen.json:
        _print_json({"name": registry.canonical(name), "path": None if path is None else str(path)})
    else:
        print(f"{registry.canonical(name)}: {where}")
    return 0


# -- words ---------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="millpond",
        description="Frozen tabular foundation models that learn from data streams.",
    )
    parser.add_argument("--version", action="version", version=f"millpond {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON document to stdout")
    common.add_argument(
        "--data-dir",
        metavar="DIR",
        help="folder of streams and weights (else MILLPOND_DATA, else a cache)",
    )

    run = commands.add_parser(
        "run",
        parents=[common],
        help="evaluate a learner on a stream: test, then train",
        description="Evaluate a learner on a stream: predict each row, score, then learn its label.",
    )
    run.set_defaults(command=_run)
    run.add_argument("stream", help="a name from `millpond streams list`, or a file")
    run.add_argument("--target", metavar="COL", help="a file's label column; the last by default")

    learner = run.add_argument_group("learner")
    learner.add_argument("--learner", metavar="NAME", help=f"instead: {', '.join(LEARNERS)}")
    learner.add_argument("--backbone", metavar="NAME", help=f"default {DEFAULT_BACKBONE}")
    learner.add_argument("--policy", metavar="NAME", help=f"default cure; of {', '.join(POLICIES)}")
    learner.add_argument(
        "--tau", type=threshold, help="admission threshold in [0, 1], or auto, the default"
    )
    learner.add_argument(
        "--budget", type=int, metavar="B", help="rows in the context; default 1000"
    )
    learner.add_argument(
        "--short-ratio", type=float, metavar="R", help="its short bank; default 0.75"
    )
    learner.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="an option of the learner"
    )

    protocol = run.add_argument_group("protocol")
    whole: dict[str, Any] = {"type": int, "metavar": "N"}
    protocol.add_argument("--limit", **whole, help="use the first N rows, warm-up included")
    protocol.add_argument(
        "--warmup", **whole, default=100, help="rows learned, not predicted; default 100"
    )
    protocol.add_argument(
        "--chunk", **whole, default=1, help="rows predicted before they are learned; default 1"
    )
    protocol.add_argument(
        "--delay", **whole, default=0, help="rows until a label arrives; default 0"
    )
    protocol.add_argument(
        "--missing",
        type=float,
        default=0.0,
        metavar="P",
        help="share of labels that never arrive; default 0",
    )
    protocol.add_argument(
        "--shuffle-within", **whole, help="permute rows within blocks of N: the label-order control"
    )
    protocol.add_argument(
        "--window", **whole, default=1000, help="rows of the windowed metrics; default 1000"
    )
    protocol.add_argument(
        "--seed", **whole, default=0, help="of shuffling and missing labels; default 0"
    )

    output = run.add_argument_group("output")
    output.add_argument(
        "--out", metavar="DIR", help="write result.json, steps.npz, report.html here"
    )
    output.add_argument("--resume", action="store_true", help="go on where a run in --out stopped")

    grid_command.add(commands, common)
    compare_command.add(commands, common)
    paper_command.add(commands, common)
    serve_command.add(commands, common)

    what = "the paper's streams: list them, or get one"
    words = commands.add_parser("streams", parents=[common], help=what, description=what)
    words.add_argument("action", nargs="?", choices=("list", "get"), default="list")
    words.add_argument("name", nargs="?", metavar="NAME")
    words.set_defaults(command=_streams)

    backbones_command.add(commands, common)
    return parser


def _print_json(document: Any) -> None:
    print(json.dumps(document, indent=1, allow_nan=False))  # ASCII: any terminal can take it
