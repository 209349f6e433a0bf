"""Tables in a terminal: rich, at most 100 columns, plain words below."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from millpond.paper.sheet import Row, Sheet

WIDEST = 100
STYLES = {"ours": "", "paper": "dim italic", "sum": "bold"}
MARKS = {"": "", "best": "bold", "second": "underline"}


def show(sheets: Iterable[Sheet], console: Console) -> None:
    """One below the other, within the terminal and at most 100 columns."""
    width = min(console.width, WIDEST)
    for sheet in sheets:
        console.print(Text(sheet.title, "bold"), width=width)
        console.print(table(sheet, width), width=width)
        for said in sheet.sentences():
            console.print(Text(said, "dim"), width=width)
        console.print()


def table(sheet: Sheet, width: int) -> Table:
    made = Table(
        box=None,
        pad_edge=False,
        padding=(0, 1 if width < WIDEST else 2, 0, 0),
        header_style="bold",
    )
    for index, name in enumerate(sheet.head):
        numeric = index > 0 and _numeric(sheet.rows, index - 1)
        made.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in sheet.rows:
        cells = [Text(cell.shown, MARKS[cell.mark]) for cell in row.cells]
        made.add_row(Text(row.head), *cells, style=STYLES[row.kind])
    return made


def _numeric(rows: Iterable[Row], column: int) -> bool:
    return any(isinstance(row.cells[column].value, float) for row in rows)
