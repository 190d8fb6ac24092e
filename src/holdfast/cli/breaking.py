"""`holdfast break`: taking a lock from whoever holds it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from holdfast.cli import endings, tables
from holdfast.cli.completion import complete_key
from holdfast.cli.look import json_option
from holdfast.cli.settings import Settings, store_options

if TYPE_CHECKING:
    from holdfast import LockInfo

HELP = """Take KEY from its holders by force.  They are told by whom and why, at their next renewal at the latest; until
then both they and the next holder may be at work, which only their fences tell apart.

\b
  holdfast break deploy --reason "the build host is gone"
  holdfast break deploy --reason cleanup --yes --fence 1795071780717395

Asks before it does so; --yes answers.  With --fence, only the holder with that fence loses it.
"""


@click.command("break", help=HELP, short_help="Take a lock from its holders by force.")
@click.argument("key", shell_complete=complete_key)
@click.option("--reason", required=True, metavar="TEXT", help="Told to the holder, and to whoever looks.")
@click.option("--fence", type=click.IntRange(min=1), metavar="N", help="Only the holder with this fence.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@store_options
@click.pass_context
def break_lock(context: click.Context, key: str, reason: str, fence: int | None, yes: bool, as_json: bool) -> int:
    """See HELP."""
    settings = context.ensure_object(Settings)
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("there is no terminal to ask in: add --yes to break the lock without asking", context)
    with settings.connect() as client:
        info = None if yes else client.inspect(key)
        if not yes and (info is None or not info.holders):
            broken = False
        else:
            if info is not None:
                _ask(key, info)
                fence = fence or (info.holders[0].fence if len(info.holders) == 1 else None)
            broken = client.break_lock(key, fence=fence, reason=reason)
    if as_json:
        tables.print_json({"key": key, "broken": broken})
    else:
        click.echo(
            f"{tables.printable(key)} {'was taken from its holder' if broken else 'was not held: nothing done'}."
        )
    return endings.OK


def _ask(key: str, info: LockInfo) -> None:
    """Whether to take it from those who were seen; what they hold is what is broken then."""
    for holder in info.holders:
        click.echo(f"{tables.printable(key)}: {tables.printable(str(holder))}, fence {holder.fence}", err=True)
    click.confirm("Take it away by force?", abort=True, err=True)
