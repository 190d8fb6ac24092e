"""The command line: its subcommands, and what becomes of an error."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

import holdfast
from holdfast.cli import completion, endings, streams, usage
from holdfast.cli.endings import Ending, Interrupted
from holdfast.cli.settings import Settings, store_options

SUBCOMMANDS = {
    "run": ("holdfast.cli.run", "run", "Run a command under a lock."),
    "ls": ("holdfast.cli.look", "list_locks", "List the locks that are held or waited for."),
    "show": ("holdfast.cli.look", "show", "Show one lock: who holds it, who waits, what it carries."),
    "wait": ("holdfast.cli.look", "wait", "Wait until a lock is free, or held."),
    "break": ("holdfast.cli.breaking", "break_lock", "Take a lock from its holders by force."),
    "demo": ("holdfast.cli.demo", "demo", "See what locks are for, and what happens when things go wrong."),
}
"""Name -> where it is and what it does.  A subcommand is loaded when it is used, so that --version is quick."""

OF_OUTPUTS = (errno.EBADF, errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EINVAL)
"""What goes wrong with stdout; errors of stores are holdfast's own."""

EPILOG = """\b
Examples:
  holdfast run nightly-report -- make report
  holdfast run deploy --timeout 0 --conflict-exit-code 0 -- ./deploy.sh
  holdfast run cleanup --once-every 50m -- ./cleanup.sh
  holdfast ls
  holdfast demo

\b
The store is a URL in HOLDFAST_URL or --url; without one it is a file in your
state directory, shared by your processes on this machine.

\b
Completion, in your shell's start-up file:
  bash:  eval "$(_HOLDFAST_COMPLETE=bash_source holdfast)"
  zsh:   eval "$(_HOLDFAST_COMPLETE=zsh_source holdfast)"
  fish:  _HOLDFAST_COMPLETE=fish_source holdfast | source

\b
Exit codes: 0 done, 64 wrong usage, 69 store unreachable, 75 not in time,
76 lease lost, 78 wrong configuration; `run` otherwise gives its command's.
"""


class Subcommands(click.Group):
    """A group that knows its commands by name, loads one when it is asked for, and suggests one for a typing error."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        module, name, _ = SUBCOMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and args and not args[0].startswith("-") and args[0] not in SUBCOMMANDS:
            raise click.UsageError(f"no such command {args[0]!r} ({usage.nearest(args[0], list(SUBCOMMANDS))})", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, what) for name, (_, _, what) in SUBCOMMANDS.items()])


@click.group(cls=Subcommands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(holdfast.__version__, prog_name="holdfast")
@store_options
def command() -> None:
    """Locks between processes, machines and containers, on the store that you already run."""


def start(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; every error becomes one sentence on stderr."""
    settings = Settings()
    try:
        if os.environ.get(completion.VARIABLE):
            code = completion.complete(command)
        else:
            code = _invoke(list(arguments) or ["--help"], settings)
        sys.stdout.flush()
    except BrokenPipeError:  # what reads our output has closed it (`holdfast ls | head -1`): no reason to complain
        streams.abandon()
        return endings.SIGNALLED + 13
    except Interrupted as signal:
        return endings.SIGNALLED + signal.number
    except (KeyboardInterrupt, click.Abort):
        return endings.SIGNALLED + 2
    except Exception as error:
        return _report(error, settings)
    return code


def _invoke(arguments: list[str], settings: Settings) -> int:
    try:
        with command.make_context("holdfast", arguments, obj=settings) as context:
            return command.invoke(context) or endings.OK
    except click.exceptions.Exit as end:
        return end.exit_code


def _report(error: Exception, settings: Settings) -> int:
    code, sentence = _verdict(error)
    if code == endings.UNWRITABLE:
        streams.abandon()
    if settings.debug and not isinstance(error, (Ending, click.ClickException)):
        import traceback

        click.echo(settings.redact(traceback.format_exc()), err=True, nl=False)
    if sentence:
        settings.say(" ".join(sentence.split()))
    return code


def _verdict(error: Exception) -> tuple[int, str]:
    """The exit code that an error means, and the sentence that says why."""
    if isinstance(error, Ending):
        return error.code, error.sentence
    if isinstance(error, click.ClickException):
        return endings.USAGE, usage.usage(error)
    cases: tuple[tuple[type[Exception], int], ...] = (
        (holdfast.AcquireTimeout, endings.CONFLICT),
        (holdfast.LeaseLost, endings.LOST),
        (holdfast.ConfigError, endings.CONFIG),
        (holdfast.HoldfastError, endings.UNAVAILABLE),
    )
    for kind, code in cases:
        if isinstance(error, kind):
            return code, str(error)
    if isinstance(error, OSError):
        why = (error.strerror or str(error)).lower()
        if error.errno in OF_OUTPUTS and error.filename is None:
            return endings.UNWRITABLE, f"the output could not be written: {why}"
        return endings.UNAVAILABLE, f"{error.filename or 'the store'}: {why}; name another in HOLDFAST_URL or --url"
    return 70, f"this is a bug in holdfast: {type(error).__name__}: {error} (--debug shows where)"
