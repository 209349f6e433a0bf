"""`report.html`: one file, nothing loaded from elsewhere, readable without scripts and on paper."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from millpond.report.banks import banks_figure, classes_figure
from millpond.report.confusion import confusion_figure
from millpond.report.document import document, write_page
from millpond.report.facts import facts_sections, repeat_section, times_table, unscored_sentence
from millpond.report.floors import floors_figure
from millpond.report.formats import count, duration, percent, plural, points
from millpond.report.markup import Markup, element, join
from millpond.report.measures import MEASURES
from millpond.report.reliability import reliability_figure
from millpond.report.run import Run, read
from millpond.report.script import SCRIPT
from millpond.report.style import STYLE
from millpond.report.table import table
from millpond.report.trajectory import trajectory_figure


def write_report(result: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the report of a run, given its `result.json` as a dict, to an HTML file.

    The file appears whole or not at all: one that was there stays until the new one is complete.
    """
    write_page(page(result), Path(path))


def page(result: Mapping[str, Any]) -> str:
    """The whole document."""
    run = read(result)
    title = f"{run.stream_name}, {run.learner_name}: millpond run"
    return document(title, join([_header(run), _main(run)]), STYLE, SCRIPT)


def _header(run: Run) -> Markup:
    what = [
        plural(run.rows, "row"),
        plural(len(run.classes), "class", "classes"),
        "" if run.duration is None else duration(run.duration),
    ]
    return element(
        "header",
        element("p", "millpond", element("span", "prequential run"), class_="brand"),
        element("h1", run.stream_name),
        element("p", run.learner_name, class_="learner"),
        element("p", " · ".join(w for w in what if w), class_="what"),
    )


def _main(run: Run) -> Markup:
    return element(
        "main",
        _section("result", "Result", _pair(_headline(run), floors_figure(run)), _tiles(run)),
        _section(
            "along",
            "Along the stream",
            trajectory_figure(run),
            _pair(banks_figure(run), classes_figure(run)),
        ),
        _section(
            "predictions", "Predictions", _pair(confusion_figure(run), reliability_figure(run))
        ),
        _section("detail", "In detail", _pair(_metrics(run), _times(run))),
        _section("facts", "This run", element("div", *facts_sections(run), class_="columns")),
    )


def _section(key: str, title: str, *children: str | None) -> Markup:
    heading = element("h2", title, id=f"{key}-heading")
    return element("section", heading, *children, id=key, aria_labelledby=f"{key}-heading")


def _pair(*children: Markup | None) -> Markup:
    """Side by side where there is room."""
    return element("div", *children, class_="pair")


def _headline(run: Run) -> Markup:
    if run.accuracy is None:
        return element(
            "div",
            element("p", "No row was scored", class_="big none"),
            element("p", f"{plural(run.rows, 'row')} read; {unscored_sentence(run)}."),
            class_="headline",
        )
    return element(
        "div",
        element("p", percent(run.accuracy), class_="big"),
        element("p", "prequential accuracy", class_="unit"),
        element("p", _beside(run)),
        element(
            "p", f"{plural(run.scored, 'row')} scored; {unscored_sentence(run)}.", class_="note"
        ),
        class_="headline",
    )


def _beside(run: Run) -> Markup | None:
    """The accuracy against the best label-only rule, in a sentence."""
    if run.accuracy is None or run.floor is None:
        return None
    gap = run.accuracy - run.floor.accuracy
    rule = f" the best label-only rule ({run.floor.name}, {percent(run.floor.accuracy)})"
    if abs(gap) < 0.00005:
        return join([element("strong", "Equal"), f" to{rule}."])
    side = "above" if gap > 0 else "below"
    class_ = "gain" if gap > 0 else "loss"
    return join([element("strong", f"{points(gap)} points", class_=class_), f" {side}{rule}."])


def _tiles(run: Run) -> Markup | None:
    if run.accuracy is None:
        return None
    return element(
        "dl",
        *[
            element(
                "div",
                element("dt", m.name),
                element("dd", m.show(run.cumulative.get(m.key))),
            )
            for m in MEASURES[1:]
        ],
        class_="tiles",
    )


def _metrics(run: Run) -> Markup:
    n, last = run.cumulative.get("n"), run.windowed.get("n")
    rows = [
        (
            join([m.name, element("small", m.meaning)]),
            m.show(run.cumulative.get(m.key)),
            m.show(run.windowed.get(m.key)),
        )
        for m in MEASURES
    ]
    head = ["measure", "all scored rows", f"last {count(last)}" if last else "last window"]
    return element(
        "div",
        element("h3", "Measures"),
        table(
            "Metrics over all scored rows and over the last window",
            head,
            [*rows, ("scored rows", count(n if n is not None else run.scored), count(last))],
        ),
    )


def _times(run: Run) -> Markup:
    """With the way to get them again."""
    sentence = plural(run.steps, "step")
    if run.rows_per_second is not None:
        sentence += f" in {duration(run.duration)} with reading, scoring and logging; "
        sentence += f"{count(run.rows_per_second)} rows a second"
    return element(
        "div",
        element("h3", "Time"),
        times_table(run),
        element("p", f"{sentence}.", class_="note"),
        element("h3", "Repeat it"),
        repeat_section(run),
    )
