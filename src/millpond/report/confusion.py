"""The confusion matrix as a heat map: counts, coloured by their share of the true class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from millpond.report.figure import Entry, figure, plain, swatch
from millpond.report.formats import compact, count, percent, shorten
from millpond.report.markup import Markup, element, escape, join
from millpond.report.run import Run
from millpond.report.svg import label, picture, rect, text_width
from millpond.report.table import behind, table

MOST = 20
_KEY, _TITLE = "confusion", "Confusion matrix"
_SHADES = 10  # steps of the heat scale: classes heat0 ... heat10


def confusion_figure(run: Run) -> Markup:
    """The whole figure, or a sentence when nothing was scored."""
    if not any(map(any, run.confusion)):
        return plain(_KEY, _TITLE, "No row was scored, so there is nothing to compare.")
    shown = most_frequent(run.confusion)
    classes = len(run.confusion)
    about = "Rows: true class. Columns: predicted class. Colour: share of the true class."
    note = ""
    if len(shown) < classes:
        total = sum(map(sum, run.confusion))
        inside = sum(sum(run.confusion[i]) for i in shown)
        note = (
            f"The {len(shown)} most frequent of {classes} classes; the others hold "
            f"{percent(1 - inside / total)} of the scored rows. Shares are of all predictions."
        )
    return figure(
        _KEY,
        _TITLE,
        about,
        partial(_draw, run, shown),
        (360, 520),
        legend=[Entry(_scale(), "0 to 100% of the row")],
        note=note,
        data=behind("Data: counts, recall and precision", _counts(run, shown), _classes(run)),
    )


def most_frequent(confusion: Sequence[Sequence[int]]) -> list[int]:
    """The classes to show, in their own order: all, or the `MOST` with most scored rows."""
    seen = sorted(range(len(confusion)), key=lambda i: -sum(confusion[i]))
    return sorted(seen[:MOST])


def _shade(share: float) -> int:
    """Any count at all is told from none."""
    return max(round(_SHADES * share), 1) if share > 0 else 0


def _ink(shade: int) -> str:
    """The text colour that stays readable, on light and on dark paper."""
    return "offheat" if shade <= 6 else "midheat" if shade <= 9 else "onheat"


def _scale() -> Markup:
    boxes = [rect(11 * i, 0, 11, 12, f"heat{i}") for i in range(_SHADES + 1)]
    return swatch(*boxes, width=11 * len(boxes))


def _draw(run: Run, shown: Sequence[int], width: int) -> Markup:
    names = [shorten(run.classes[i], 18 if width > 400 else 11) for i in shown]
    longest = max(text_width(name) for name in names)
    left = longest + 14
    side = (width - left - 2) / len(shown)
    upright = longest > side - 6
    top = (longest if upright else 14) + 12
    tall = min(side, 84.0)
    form = _fitting(max(run.confusion[i][j] for i in shown for j in shown), side, tall)
    cells = []
    for r, i in enumerate(shown):
        total = sum(run.confusion[i])
        y = top + r * tall
        cells.append(label(left - 10, y + tall / 2 + 4, names[r], "tick", "end"))
        for c, j in enumerate(shown):
            n = run.confusion[i][j]
            share = n / total if total else 0.0
            cells.append(_box(left + c * side, y, side, tall, share, diagonal=i == j))
            cells.append(_text(left + (c + 0.5) * side, y + tall / 2, n, share, form))
    right = sum(run.confusion[i][i] for i in range(len(run.confusion)))
    return picture(
        f"{_KEY}-{width}",
        width,
        top + tall * len(shown) + 2,
        _TITLE,
        f"{len(shown)} classes; {count(right)} of {count(run.scored)} rows on the diagonal.",
        *[_head(left + (c + 0.5) * side, top - 10, name, upright) for c, name in enumerate(names)],
        join(cells),
    )


def _fitting(most: int, wide: float, tall: float) -> str:
    """How the largest count fits a cell: with its share, alone, small, rounded, or "none"."""
    if tall >= 44 and text_width(count(most), 13) < wide - 8:
        return "shared"
    for form, text, size in (
        ("cell", count(most), 12),
        ("small", count(most), 10),
        ("rounded", compact(most), 9),
    ):
        if text_width(text, size) < wide - 5:
            return form
    return "none"


def _box(x: float, y: float, wide: float, tall: float, share: float, *, diagonal: bool) -> Markup:
    gap = 1.0 if min(wide, tall) > 24 else 0.5
    class_ = f"heat{_shade(share)}{' hit' if diagonal else ''}"
    return rect(x + gap, y + gap, wide - 2 * gap, tall - 2 * gap, class_, rx=2)


def _text(x: float, y: float, n: int, share: float, form: str) -> Markup:
    ink = _ink(_shade(share))
    if form == "shared":
        return join(
            [
                label(x, y - 1, count(n), f"cell {ink}", "middle"),
                label(x, y + 16, percent(share, 1), f"share {ink}", "middle"),
            ]
        )
    # Many small cells: the zeros would only hide the rest.
    if form == "none" or (n == 0 and form != "cell"):
        return Markup()
    text = compact(n) if form == "rounded" else count(n)
    return label(x, y + 4, text, f"{form} {ink}", "middle")


def _head(x: float, y: float, name: str, upright: bool) -> Markup:
    if not upright:
        return label(x, y, name, "tick", "middle")
    # From the bottom upwards: starts at the column, never runs into its neighbour.
    return element(
        "text", escape(name), class_="tick", transform=f"translate({x + 4:.1f} {y:.1f}) rotate(-90)"
    )


def _counts(run: Run, shown: Sequence[int]) -> Markup:
    return table(
        "Counts: true class by predicted class",
        ["true \\ predicted", *[run.classes[j] for j in shown]],
        ([run.classes[i], *[count(run.confusion[i][j]) for j in shown]] for i in shown),
        show_caption=True,
    )


def _classes(run: Run) -> Markup:
    """Recall and precision for every class, the ones not drawn too."""
    columns = [sum(column) for column in zip(*run.confusion, strict=True)]

    def line(i: int) -> list[str]:
        rows, hits = sum(run.confusion[i]), run.confusion[i][i]
        return [
            run.classes[i],
            count(rows),
            percent(hits / rows if rows else None),
            percent(hits / columns[i] if columns[i] else None),
        ]

    return table(
        "Each class",
        ["class", "scored rows", "recall", "precision"],
        (line(i) for i in range(len(run.confusion))),
        show_caption=True,
    )
