"""Figures of significance: the critical-difference diagram, and differences with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from millpond.evaluate.significance import cliques, friedman
from millpond.paper.sheet import Cell, Sheet
from millpond.paper.significance import Ranking
from millpond.report.figure import figure, plain
from millpond.report.formats import decimal
from millpond.report.markup import Markup, element, join
from millpond.report.scale import Scale, ticks
from millpond.report.svg import dot, label, line, picture
from millpond.report.table import behind, table

ROW = 22


def critical(ranking: Ranking) -> Markup:
    """Mean ranks on a line, bars under those that cannot be told apart (Demsar, 2006)."""
    test = friedman(ranking.array)
    order = sorted(range(len(ranking.names)), key=lambda i: test.ranks[i])
    groups = cliques(test.ranks, ranking.difference)
    said = f"Critical difference {ranking.difference:.2f} at 5%, {len(ranking.table)} streams; 1 is best."
    if ranking.prefix:
        said += " Prefixes of the streams only."
    return figure(
        f"cd-{ranking.key.replace('_', '-')}",
        ranking.title,
        said,
        partial(_ranks, ranking, test.ranks, order, groups),
        (360, 520),
        data=behind(
            f"Data: {ranking.title}",
            table(
                f"Mean ranks: {ranking.title}",
                ["method", "mean rank"],
                [(ranking.names[i], decimal(test.ranks[i], 2)) for i in order],
            ),
        ),
    )


def _ranks(
    ranking: Ranking,
    ranks: Sequence[float],
    order: Sequence[int],
    groups: Sequence[tuple[int, ...]],
    width: int,
) -> Markup:
    """A line a method, so that names never collide; bars of groups to the right."""
    lanes = 14 * len(groups)
    x = Scale(1, len(order), 128, width - 48 - lanes)
    top = 26
    parts: list[Markup] = []
    for tick in range(1, len(order) + 1):
        parts += [
            line(x(tick), top, x(tick), top + ROW * len(order), "grid"),
            label(x(tick), top - 8, str(tick), "tick", "middle"),
        ]
    for place, i in enumerate(order):
        y = top + ROW * (place + 0.5)
        own = "own" if i == 0 else "other"
        parts += [
            label(0, y + 4, ranking.names[i], f"rule-name {own}"),
            line(x(1), y, x(ranks[i]), y, f"reach {own}"),
            dot(x(ranks[i]), y, 5, f"mark {own}"),
            label(width - lanes - 6, y + 4, decimal(ranks[i], 2), f"rule-value {own}", "end"),
        ]
    for bar, group in enumerate(groups):
        places = [order.index(i) for i in group]
        at = width - lanes + 14 * bar + 7
        parts.append(
            line(at, top + ROW * min(places) + 4, at, top + ROW * (max(places) + 1) - 4, "clique")
        )
    alike = "; ".join(", ".join(ranking.names[i] for i in group) for group in groups) or "none"
    about = ", ".join(f"{ranking.names[i]} {ranks[i]:.2f}" for i in order)
    return picture(
        f"cd-{ranking.key.replace('_', '-')}-{width}",
        width,
        top + ROW * len(order) + 8,
        f"Mean ranks: {ranking.title}",
        f"{about}. Groups that do not differ: {alike}.",
        join(parts),
    )


def intervals(sheet: Sheet) -> Markup:
    """CURE minus each other policy with its interval, stream by stream: right of zero, CURE is better."""
    rows = [(r.head, r.cells) for r in sheet.rows if not r.cells[0].missing]
    if not rows:
        return plain("intervals", sheet.title, "Nothing of this has been run.")
    ends = [float(c.value or 0.0) for _, cells in rows for c in cells[:3]]
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    air = 0.05 * max(high - low, 0.1)
    said = "Points of accuracy with 95% intervals from blocks of the stream."
    if sheet.prefix:
        said += " Prefixes of the streams only."
    return figure(
        "intervals", sheet.title, said, partial(_forest, rows, low - air, high + air), (360, 640)
    )


def _forest(
    rows: Sequence[tuple[str, tuple[Cell, ...]]], low: float, high: float, width: int
) -> Markup:
    top, row = 26, 20
    x = Scale(low, high, 190 if width >= 640 else 160, width - 12)
    height = top + row * len(rows) + 24
    parts: list[Markup] = []
    for tick in ticks(low, high, 8 if width >= 640 else 4):
        parts += [
            line(x(tick), top, x(tick), top + row * len(rows), "grid"),
            label(x(tick), top - 8, f"{tick:+g}" if tick else "0", "tick", "middle"),
        ]
    parts.append(line(x(0), top, x(0), top + row * len(rows), "base"))
    for place, (name, (value, start, stop, beyond, _)) in enumerate(rows):
        y = top + row * (place + 0.5)
        own = "own" if beyond.text == "yes" else "other"
        at = [x(float(c.value or 0.0)) for c in (value, start, stop)]
        parts += [
            label(0, y + 4, name, f"rule-name {own}"),
            line(at[1], y, at[2], y, f"reach {own}"),
            dot(at[0], y, 4, f"mark {own}"),
        ]
    clear = [name for name, cells in rows if cells[3].text == "yes"]
    about = f"{len(clear)} of {len(rows)} intervals leave zero out: {', '.join(clear) or 'none'}."
    return picture(
        f"intervals-{width}",
        width,
        height,
        "Differences with intervals",
        about,
        element("g", join(parts)),
        label((x.start + x.stop) / 2, height - 4, "CURE better to the right", "axis", "middle"),
    )
