"""Where a run's numbers come from: stream, learner, protocol, times, versions, how to repeat it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any

from millpond.report.command import command
from millpond.report.formats import (
    count,
    duration,
    milliseconds,
    percent,
    plural,
    shorten,
)
from millpond.report.markup import Markup, element, join
from millpond.report.run import Run, number
from millpond.report.table import facts, table

PARTS = ("fit", "predict", "evict")


def unscored_sentence(run: Run) -> str:
    """Which rows were not scored, and why: "103 not scored: 100 warm-up, 3 one class ..."."""
    if not run.unscored:
        return "every row was scored" if run.scored else "no row was read"
    why = ", ".join(f"{count(n)} {reason}" for reason, n in run.unscored_why.items())
    return f"{count(run.unscored)} not scored" + (f": {why}" if why else "")


def times_table(run: Run) -> Markup:
    """Seconds, milliseconds a step and share, as the paper takes them apart."""
    total = run.seconds.get("total")
    return table(
        "Time by part of a step",
        ["", "time", "ms a step", "share"],
        (
            (
                part,
                duration(run.seconds.get(part)),
                milliseconds(run.per_step(part)),
                _share(run.seconds.get(part), total),
            )
            for part in (*PARTS, "total")
        ),
        class_="sum",
    )


def _share(seconds: float | None, total: float | None) -> str:
    return percent(None if seconds is None or not total else seconds / total, 1)


def facts_sections(run: Run) -> list[Markup]:
    """Each a heading and a list."""
    return [
        _part("Stream", _stream(run)),
        _part("Learner", _options(run.learner)),
        _part("Protocol", _options(run.protocol)),
        _part("Machine and versions", _options({**run.machine, **run.versions})),
    ]


def repeat_section(run: Run) -> Markup:
    """The command line, and the fingerprint its predictions must have."""
    command_line = element(
        "pre",
        element("code", join(join([element("span", p), " "]) for p in command(run))),
        tabindex="0",
    )
    if not run.sha256:
        return command_line
    digest = element("code", run.sha256)
    return element(
        "div", command_line, element("p", "SHA-256 of the predictions: ", digest, class_="note")
    )


def _part(title: str, pairs: Iterable[tuple[str, str]]) -> Markup:
    return element("section", element("h3", title), facts(pairs))


def _stream(run: Run) -> list[tuple[str, str]]:
    stream = run.stream
    features = stream.get("features")
    many = len(features) if isinstance(features, Sized) else number(features)
    dropped = number(stream.get("dropped"))
    notes = stream.get("notes") or ()
    return [
        ("name", str(stream.get("name") or "")),
        ("rows", count(number(stream.get("rows")))),
        ("rows in this run", count(run.rows) if run.rows != stream.get("rows") else ""),
        ("features", "" if many is None else count(many)),
        ("classes", f"{plural(len(run.classes), 'class', 'classes')}: {_names(run.classes)}"),
        ("malformed rows dropped", count(dropped) if dropped else ""),
        ("notes", notes if isinstance(notes, str) else "; ".join(map(str, notes))),
        ("resumed from row", "" if run.resumed_from is None else count(run.resumed_from)),
        ("fingerprint", str(stream.get("fingerprint") or "")),
    ]


def _names(classes: list[str], most: int = 12) -> str:
    shown = ", ".join(shorten(name, 40) for name in classes[:most])
    return shown + (", …" if len(classes) > most else "")


def _options(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    # A seed is a name, not a quantity.
    return [
        (str(key).replace("_", " "), str(value) if key == "seed" else _plain(value))
        for key, value in options.items()
    ]


def _plain(value: object) -> str:
    """None, True and numbers in words and digits as people write them."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_plain(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return str(value)
