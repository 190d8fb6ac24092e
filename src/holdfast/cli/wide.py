"""The table of `holdfast ls` in a terminal, however narrow."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

IMPORTANCE = ("KEY", "HELD BY", "LEFT", "WAITING", "KIND", "SINCE", "FENCE")
"""What stays longest when there is no room."""
RIGHT = ("SINCE", "LEFT", "WAITING", "FENCE")
BETWEEN = 3
NARROWEST = 12
"""Columns of a terminal in which a table still makes sense."""


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The columns that there is room for; a key is never cut, it goes on in the next line instead."""
    if not rows:
        click.echo("No lock is held or waited for.")
        return
    console = Console()
    if console.width < NARROWEST:
        for cells in rows:
            click.echo(cells[0])
        return
    shown = _fitting(columns, rows, console.width)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for at in shown:
        name = columns[at]
        table.add_column(name, justify="right" if name in RIGHT else "left", no_wrap=name != "KEY", overflow="fold")
    for cells in rows:
        table.add_row(*(Text(cells[at]) for at in shown))
    console.print(table)


def _fitting(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Which columns to show, in their order.  A long key leaves room for others, up to half of the terminal."""
    shown: list[int] = []
    left = width
    for name in IMPORTANCE:
        at = columns.index(name)
        needs = max(cell_len(cells[at]) for cells in (columns, *rows)) + BETWEEN
        if name == "KEY":
            needs = min(needs, width // 2)
        elif needs > left:
            break
        left -= needs
        shown.append(at)
    return sorted(shown)
