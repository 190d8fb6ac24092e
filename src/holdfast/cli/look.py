"""`holdfast ls`, `show` and `wait`: looking at locks without touching them."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast.cli import endings, tables
from holdfast.cli.completion import complete_key
from holdfast.cli.durations import Duration, written
from holdfast.cli.endings import Ending
from holdfast.cli.settings import Settings, store_options
from holdfast.cli.usage import Subcommand

if TYPE_CHECKING:
    from holdfast import LockInfo

F = TypeVar("F", bound=Callable[..., Any])

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.5


def json_option(function: F) -> F:
    """Add --json to a subcommand."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, one document per line.")(function)


LS_HELP = """List the locks whose keys begin with PREFIX: those that are held, waited for, or carry a payload.

\b
  holdfast ls
  holdfast ls orders/
  holdfast ls | cut -f1                       only the keys
  holdfast ls --json | jq -r 'select(.waiting > 0).key'

A table in a terminal; when piped, one line per lock, its columns separated by tabs and without a heading.
"""

SHOW_HELP = """Show one lock: who holds it since when, who waits, what it carries.

\b
  holdfast show deploy
  holdfast show deploy --json | jq .holders
"""

WAIT_HELP = """Wait until nobody holds KEY (--free, the default) or somebody does (--held), without taking it.

\b
  holdfast wait deploy && ./after-the-deployment.sh
  holdfast wait server-up --held --timeout 30

A lock that is free now may be held a moment later: to do something while it is free, use `holdfast run`.

Exit codes: 0 it is so; 75 not within --timeout.
"""


@click.command("ls", cls=Subcommand, help=LS_HELP)
@click.argument("prefix", default="", shell_complete=complete_key)
@json_option
@store_options
@click.pass_obj
def list_locks(settings: Settings, prefix: str, as_json: bool) -> int:
    """See LS_HELP."""
    with settings.connect() as client:
        if as_json:
            for info in client.list(prefix):
                tables.print_json(tables.as_json(info))
        else:
            tables.print_rows(tables.row(info) for info in client.list(prefix))
    return endings.OK


@click.command("show", cls=Subcommand, help=SHOW_HELP)
@click.argument("key", shell_complete=complete_key)
@json_option
@store_options
@click.pass_obj
def show(settings: Settings, key: str, as_json: bool) -> int:
    """See SHOW_HELP."""
    with settings.connect() as client:
        info = client.inspect(key)
    if as_json:
        tables.print_json(_document(key, info))
    else:
        for line in _lines(key, info):
            click.echo(line)
    return endings.OK


def _document(key: str, info: LockInfo | None) -> dict[str, Any]:
    if info is None:
        return {
            "key": key,
            "kind": None,
            "limit": None,
            "fence": None,
            "held": False,
            "holders": [],
            "waiting": 0,
            "payload": None,
        }
    payload = None if info.payload is None else base64.b64encode(info.payload).decode()
    return {**tables.as_json(info), "payload": payload}


def _lines(key: str, info: LockInfo | None) -> list[str]:
    """One lock in words."""
    if info is None:
        return [f"{tables.printable(key)} is free: nobody holds it or waits for it."]
    of = f" of {info.limit} permits" if info.kind == "semaphore" else ""
    held = f"held by {len(info.holders)}" if info.holders else "free"
    lines = [f"{tables.printable(key)} is a {info.kind}{of}, {held}, with {info.waiting} waiting."]
    for holder in info.holders:
        weight = f", weight {holder.weight}" if info.kind == "semaphore" and holder.weight > 1 else ""
        lines.append(f"  {tables.printable(str(holder))}, fence {holder.fence}{weight}")
    if info.payload:
        size = f"{len(info.payload)} byte{'s' if len(info.payload) > 1 else ''}"
        lines.append(f"  it carries {size}: {info.payload[:60]!r}")
    return lines


@click.command("wait", cls=Subcommand, help=WAIT_HELP)
@click.argument("key", shell_complete=complete_key)
@click.option("--free/--held", "free", default=True, help="What to wait for [--free].")
@click.option("--timeout", type=Duration(), metavar="S", help="Wait so long; 0: only look [for ever].")
@json_option
@store_options
@click.pass_obj
def wait(settings: Settings, key: str, free: bool, timeout: float | None, as_json: bool) -> int:
    """See WAIT_HELP."""
    begun, pause = time.monotonic(), FIRST_PAUSE
    with settings.connect() as client:
        while True:
            info = client.inspect(key)
            held = info is not None and bool(info.holders)
            waited = time.monotonic() - begun
            reached = held is not free
            if reached or (timeout is not None and waited >= timeout):
                break
            if pause == FIRST_PAUSE:
                settings.remark(f"{key!r} is {'held' if held else 'free'}: waiting")
            left = LONGEST_PAUSE if timeout is None else timeout - waited
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, LONGEST_PAUSE)
    if as_json:
        tables.print_json({"key": key, "held": held, "reached": reached, "waited": round(waited, 6)})
    if reached:
        return endings.OK
    raise Ending(endings.CONFLICT, f"{key!r} is {'held' if held else 'free'} still, after {written(waited)}")
