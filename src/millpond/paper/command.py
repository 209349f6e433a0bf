"""``millpond paper``: the paper's tables and figures, computed here, beside the paper's numbers."""

from __future__ import annotations

import argparse
import json
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from millpond.backbones import BACKBONES
from millpond.errors import BadOption, UnknownName
from millpond.evaluate.prequential import Interrupted
from millpond.paper.book import Book, Setup
from millpond.paper.experiments import EXPERIMENTS
from millpond.paper.page import page
from millpond.paper.published import STREAMS, published
from millpond.paper.runner import Place, Step, lacking, run_all, weights_of
from millpond.paper.sheet import Sheet
from millpond.paper.store import Store
from millpond.paper.stored import read_baselines
from millpond.paper.terminal import show
from millpond.paper.units import Unit, together
from millpond.report.document import write_page
from millpond.stopping import stop_on_signal
from millpond.streams.registry import canonical

DEFAULT_BACKBONES = ("rill", "knn")


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """The words of the command."""
    paper = commands.add_parser(
        "paper",
        parents=[common],
        help="the paper's tables and figures, computed here",
        description="Compute the paper's tables and figures on the streams and backbones at hand and "
        "show them beside the paper's numbers. What cannot be run says what is missing. A run that was "
        "stopped goes on where it was when the same command is given again.",
    )
    paper.set_defaults(command=run)
    paper.add_argument(
        "experiments",
        nargs="*",
        metavar="EXPERIMENT",
        help=f"of {', '.join(EXPERIMENTS)}; default all",
    )
    paper.add_argument("--streams", nargs="+", metavar="NAME", help="default: the paper's seven")
    paper.add_argument(
        "--backbone",
        nargs="+",
        metavar="NAME",
        help="the first is the one of most tables; default rill knn",
    )
    paper.add_argument(
        "--quick", action="store_true", help="prefixes of the streams; each number says so"
    )
    paper.add_argument("--show", action="store_true", help="run nothing: show what is finished")
    paper.add_argument("--device", metavar="NAME", help="for backbones on torch: cpu, cuda, cuda:1")
    paper.add_argument("--workers", type=int, default=1, metavar="N", help="processes; default 1")
    paper.add_argument(
        "--baselines", metavar="FILE", help="accuracies that benchmarks/baselines.py has written"
    )
    paper.add_argument("--out", metavar="DIR", help="finished units and tables; default runs/paper")


def run(chosen: argparse.Namespace, errors: Console) -> int:
    """Exit code 0 also where cells are missing: the tables say which and why."""
    wanted = _known(chosen.experiments, "experiment", EXPERIMENTS) or [*EXPERIMENTS]
    streams = _known([canonical(s) for s in chosen.streams or STREAMS], "stream", STREAMS)
    if chosen.workers < 1:
        raise BadOption(f"--workers must be at least 1, not {chosen.workers}")
    setup = Setup(tuple(streams), _backbones(chosen), chosen.quick, chosen.data_dir)
    folder = Path(chosen.out or Path("runs") / "paper")
    store = Store(folder)
    baselines = {} if chosen.baselines is None else read_baselines(Path(chosen.baselines))
    book = Book({**baselines, **store.read()}, store.read_failures())
    if not chosen.show:
        place = Place(folder, chosen.data_dir, chosen.device)
        units = {u: None for name in wanted for u in EXPERIMENTS[name].units(setup)}
        code = _run_missing([*units], book, store, place, chosen, errors)
        if code:
            return code
    parts = {name: EXPERIMENTS[name].sheets(setup, book) for name in wanted}
    if folder.is_dir():
        write_page(page(setup, book, parts), folder / "report.html")
        errors.print(f"wrote {folder}/report.html", style="dim")
    _hand_over([sheet for sheets in parts.values() for sheet in sheets], chosen)
    return 0


def _hand_over(sheets: Sequence[Sheet], chosen: argparse.Namespace) -> None:
    if chosen.json:
        print(json.dumps({sheet.key: sheet.document() for sheet in sheets}, indent=1))
    else:
        show(sheets, Console(highlight=False, markup=False, emoji=False))


def _backbones(chosen: argparse.Namespace) -> tuple[str, ...]:
    """In the order given: the first is the main one."""
    names = list(dict.fromkeys(chosen.backbone or DEFAULT_BACKBONES))
    for name in names:
        if name not in BACKBONES:
            raise UnknownName("backbone", name, BACKBONES)
    return tuple(names)


def _known(names: list[str], kind: str, known: Any) -> list[str]:
    """The names in the order of the paper, each once."""
    for name in names:
        if name not in known:
            raise UnknownName(kind, name, known)
    return [name for name in known if name in names]


def _run_missing(
    units: list[Unit],
    book: Book,
    store: Store,
    place: Place,
    chosen: argparse.Namespace,
    errors: Console,
) -> int:
    """Run what is not finished; the book then holds it, or why it is not there."""
    backbones = {u.backbone for u in units if u.backbone}
    why = {name: lacking(name, place.device) for name in backbones}
    weights = {name: weights_of(name) for name in backbones}
    todo = []
    for unit in units:
        record = book.records.get(unit)
        book.failures.pop(unit, None)
        if unit.backbone and why[unit.backbone]:
            book.failures[unit] = why[unit.backbone]
        elif record is None:
            todo.append(unit)
        elif unit.backbone and record.facts["weights_sha256"] != weights[unit.backbone]:
            todo.append(unit)  # other weights gave it: one table holds one model's numbers
    if not todo:
        return 0
    groups = together(todo, auto_apart=place.device is not None)
    errors.print(
        f"{len(todo)} results to compute in {len(groups)} runs; {len(units) - len(todo)} are there",
        style="dim",
    )
    begin = time.perf_counter()
    with stop_on_signal(errors) as stopping, _bar(errors) as tell:
        try:
            outcomes = run_all(groups, _rows, place, chosen.workers, tell, lambda: bool(stopping))
        except Interrupted:
            words = shlex.join(["millpond", *chosen.words])
            errors.print(f"stopped; what is finished is kept. Go on with: {words}")
            return 1
    for outcome in outcomes:
        if outcome.failure:
            book.failures.update(dict.fromkeys(outcome.group.units, outcome.failure))
    book.records = {**book.records, **store.read()}
    store.keep_failures(book.failures)
    errors.print(
        f"computed in {time.perf_counter() - begin:.0f} s, kept in {place.folder}", style="dim"
    )
    return 0


def _rows(unit: Unit) -> int:
    """About how many rows its run has, to say how far everything is."""
    rows = int(published()["datasets"][unit.stream]["rows"])
    return rows if unit.limit is None else min(rows, unit.limit)


@contextmanager
def _bar(errors: Console) -> Iterator[Any]:
    columns = (
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn("{task.fields[status]}"),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("", total=1, status="")

        def tell(step: Step) -> None:
            bar.update(task, total=step.total, completed=step.done, status=f"{step.done:,} rows")
            if step.ended is not None:
                errors.print(_ended(step), style="dim")

        yield tell


def _ended(step: Step) -> str:
    """One line of a log."""
    assert step.ended is not None
    group, run = step.ended.group, step.ended.group.run
    what = [run.stream, run.backbone or run.learner]
    what += [
        f"{n} {getattr(run, n)}"
        for n in ("chunk", "delay", "shuffle")
        if getattr(run, n) != _PLAIN[n]
    ]
    what += [f"{len(group.units)} lanes"] if len(group.units) > 1 else []
    outcome = f"failed: {step.ended.failure}" if step.ended.failure else "done"
    return f"{100 * step.done / max(step.total, 1):3.0f}%  {', '.join(what)}: {outcome}"


_PLAIN = {"chunk": 1, "delay": 0, "shuffle": None}
