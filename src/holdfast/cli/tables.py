"""What the command prints about locks: a table in a terminal, columns of text when piped, JSON when asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.durations import written

if TYPE_CHECKING:
    from holdfast import Holder, LockInfo

COLUMNS = ("KEY", "KIND", "HELD BY", "SINCE", "LEFT", "WAITING", "FENCE")


def as_json(info: LockInfo) -> dict[str, Any]:
    """A lock in the form that `ls --json` documents."""
    return {
        "key": info.key,
        "kind": info.kind,
        "limit": info.limit,
        "fence": info.fence,
        "held": bool(info.holders),
        "holders": [_holder_as_json(holder) for holder in info.holders],
        "waiting": info.waiting,
    }


def _holder_as_json(holder: Holder) -> dict[str, Any]:
    return {
        "host": holder.host,
        "pid": holder.pid,
        "name": holder.name,
        "fence": holder.fence,
        "held_for": round(holder.held_for, 6),
        "remaining": round(max(holder.remaining, 0.0), 6),
        "weight": holder.weight,
    }


def print_json(document: dict[str, Any]) -> None:
    """One document on one line."""
    click.echo(escaped(json.dumps(document, ensure_ascii=False)))


def row(info: LockInfo) -> tuple[str, ...]:
    """A lock in the columns of `COLUMNS`."""
    first = info.holders[0] if info.holders else None
    more = f" and {len(info.holders) - 1} more" if len(info.holders) > 1 else ""
    kind = f"{info.kind} of {info.limit}" if info.kind == "semaphore" else info.kind
    who = f"{_who(first)}{more}" if first else "-"
    since = written(max(holder.held_for for holder in info.holders)) if info.holders else "-"
    left = written(max(0.0, *(holder.remaining for holder in info.holders))) if info.holders else "-"
    return (printable(info.key), kind, who, since, left, str(info.waiting), str(info.fence))


def _who(holder: Holder) -> str:
    return printable(f"{holder.host or 'somebody'}{f':{holder.pid}' if holder.pid else ''}")


def printable(text: str) -> str:
    """Text that others have chosen, with nothing in it that moves the cursor or starts a new line or column."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def escaped(text: str) -> str:
    """JSON without a character that a terminal might obey; it may stand in texts alone, where it is written as an escape."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def print_rows(rows: Iterable[Sequence[str]]) -> None:
    """A table in a terminal; when piped, the same without a heading, its columns separated by tabs."""
    if sys.stdout.isatty():
        from holdfast.cli.wide import print_table

        print_table(COLUMNS, list(rows))
        return
    for cells in rows:
        click.echo("\t".join(cells))
