"""`holdfast break`: taking a lock from whoever holds it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from holdfast.cli import endings, tables
from holdfast.cli.completion import complete_key
from holdfast.cli.endings import Ending
from holdfast.cli.look import json_option
from holdfast.cli.settings import Settings, store_options
from holdfast.cli.usage import Number, Subcommand

if TYPE_CHECKING:
    from holdfast import Holder, LockInfo

HELP = """Take KEY from its holders by force.  They are told by whom and why, at their next renewal at the latest; until
then both they and the next holder may be at work, which only their fences tell apart.

\b
  holdfast break deploy --reason "the build host is gone"
  holdfast break deploy --reason cleanup --yes --fence 1795071780717395

Asks before it does so; --yes answers.  Those who are shown then lose it, and nobody who came after them.  With --fence,
only the holder with that fence loses it.

Exit codes: 0 done, or nobody held it; 1 you said no.
"""


@click.command("break", cls=Subcommand, help=HELP, short_help="Take a lock from its holders by force.")
@click.argument("key", shell_complete=complete_key)
@click.option("--reason", required=True, metavar="TEXT", help="Told to the holder, and to whoever looks.")
@click.option("--fence", type=Number(min=1), metavar="N", help="Only the holder with this fence.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@store_options
@click.pass_context
def break_lock(context: click.Context, key: str, reason: str, fence: int | None, yes: bool, as_json: bool) -> int:
    """See HELP."""
    if not reason.strip():
        raise click.UsageError("--reason is empty: say why, for the holder will be told", context)
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("there is no terminal to ask in: add --yes to break the lock without asking", context)
    with context.ensure_object(Settings).connect() as client:
        if yes:
            broken = client.break_lock(key, fence=fence, reason=reason)
        else:
            seen = _seen(client.inspect(key), fence)
            if seen and not _agreed(key, seen):
                raise Ending(endings.DECLINED, f"{key!r} was left alone")
            taken = [client.break_lock(key, fence=one.fence, reason=reason) for one in seen]
            broken = any(taken)
    if as_json:
        tables.print_json({"key": key, "broken": broken})
    else:
        what = "was taken from its holder" if broken else f"is {_not_held(fence)}: nothing done"
        click.echo(f"{tables.printable(key)} {what}.")
    return endings.OK


def _seen(info: LockInfo | None, fence: int | None) -> list[Holder]:
    """Those who are to lose it; who comes after them is not asked about, and keeps it."""
    return [holder for holder in (info.holders if info else ()) if fence in (None, holder.fence)]


def _agreed(key: str, seen: list[Holder]) -> bool:
    """Whether it may be taken from them."""
    for holder in seen:
        click.echo(f"{tables.printable(key)}: {tables.printable(str(holder))}, fence {holder.fence}", err=True)
    click.echo("Take it away by force? [y/N]: ", nl=False, err=True)
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        click.echo(err=True)
    return answer.strip().lower() in ("y", "yes")


def _not_held(fence: int | None) -> str:
    return "not held" if fence is None else f"not held with fence {fence}"
