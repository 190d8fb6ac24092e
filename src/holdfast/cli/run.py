"""`holdfast run`: a command under a lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, Protocol

import click

from holdfast.cli import endings
from holdfast.cli.bell import INTERRUPTING, Handlers, LossHook, interrupt
from holdfast.cli.completion import complete_key
from holdfast.cli.dashes import BehindDashes
from holdfast.cli.durations import Duration, written
from holdfast.cli.endings import Ending, Outcome
from holdfast.cli.programs import find_program
from holdfast.cli.secrets import for_child
from holdfast.cli.settings import Settings, store_options, ttl_from_environment
from holdfast.cli.usage import Number

if TYPE_CHECKING:
    from holdfast import Client, Lease, Lock

HELP = """Run CMD while holding the lock KEY, and exit with CMD's exit code.

\b
  holdfast run nightly-report -- make report
      one at a time, on however many machines; others wait their turn
  holdfast run deploy --timeout 60 -- ./deploy.sh
      wait a minute at most, then exit with 75
  holdfast run sync --timeout 0 --conflict-exit-code 0 -- ./sync.sh
      for cron: skip quietly if the last one still runs
  holdfast run cleanup --once-every 50m -- ./cleanup.sh
      for cron on many machines, every hour: one of them does it
  holdfast run gpu --permits 4 -- ./train.sh
      four at a time
  holdfast run catalogue --shared -- ./read.sh
      many readers at once; --exclusive makes the writer that keeps them out

CMD finds the key in HOLDFAST_KEY and, for whatever it writes to, a number in HOLDFAST_FENCE that is higher than that of
every earlier holder.

If the lease is lost while CMD runs, CMD and everything it started get TERM, and KILL after --grace; the exit code
is 76 then.

\b
Exit codes: CMD's own; 128+n if signal n ended it; 64 usage; 69 store
unreachable; 75 not in time; 76 lease lost; 78 configuration;
126 CMD may not be executed; 127 CMD was not found.
"""


@click.command("run", cls=BehindDashes, help=HELP, short_help="Run a command under a lock.")
@click.argument("key", shell_complete=complete_key)
@click.option("--timeout", type=Duration(), metavar="S", help="Wait so long for the lock; 0: not at all [for ever].")
@click.option(
    "--ttl", type=Duration(positive=True), metavar="S", help="How long the lease outlives us [HOLDFAST_TTL, 30 s]."
)
@click.option("--shared", is_flag=True, help="As one of many readers of a readers-writer lock.")
@click.option("--exclusive", is_flag=True, help="As the one writer of a readers-writer lock.")
@click.option("--permits", type=Number(min=1), metavar="N", help="As one of N at a time.")
@click.option(
    "--once-every", type=Duration(positive=True), metavar="PERIOD", help="Skip if it ran in this period already."
)
@click.option("--at-least-once", is_flag=True, help="With --once-every: a run that fails does not count.")
@click.option(
    "--conflict-exit-code",
    type=Number(0, 255),
    default=endings.CONFLICT,
    show_default=True,
    metavar="N",
    help="Exit code when not acquired in time; 0: say nothing either.",
)
@click.option(
    "--grace", type=Duration(), default=10.0, metavar="S", help="From TERM to KILL when the lease is lost [10 s]."
)
@store_options
@click.pass_context
def run(context: click.Context, /, **options: Any) -> int:
    """See HELP."""
    job = Job(context.ensure_object(Settings), context.meta["command"], options)
    job.check(context)
    return job.run()


class Runner(Protocol):
    """A command on this kind of system; see `guarded` and `plain`."""

    def run(self, lease: Lease, grace: float) -> Outcome: ...

    def close(self) -> None: ...


class Job:
    """One `holdfast run`."""

    def __init__(self, settings: Settings, command: list[str], options: dict[str, Any]) -> None:
        self._settings = settings
        self._command = command
        self._key: str = options["key"]
        self._options = options
        self._losses = LossHook()

    def check(self, context: click.Context) -> None:
        """A usage error for what can't be meant."""
        options = self._options
        kinds = [f"--{name}" for name in ("shared", "exclusive", "permits") if options[name]]
        if len(kinds) > 1:
            raise click.UsageError(f"{' and '.join(kinds)} exclude each other: choose one", context)
        if options["once_every"] and kinds:
            raise click.UsageError(f"--once-every needs the lock alone: leave out {kinds[0]}", context)
        if options["at_least_once"] and not options["once_every"]:
            raise click.UsageError("--at-least-once is about --once-every: say which period", context)
        if not self._command:
            raise click.UsageError("there is no command behind the --: holdfast run KEY -- CMD", context)

    def run(self) -> int:
        """Run the command under the lock, and say how it ended."""
        program = find_program(self._command[0])
        handlers = Handlers()
        handlers.set(INTERRUPTING, interrupt)
        with ExitStack() as stack:
            stack.callback(handlers.put_back)
            runner = stack.enter_context(closing(self._prepare(program)))
            ttl = self._options["ttl"] or ttl_from_environment()
            client = stack.enter_context(self._settings.connect(ttl, (self._losses,)))
            lease = self._acquire(self._lock(client))
            outcome = self._run_once(client, lease, runner)
            if outcome is None:
                self._settings.remark(f"{self._key!r} ran in this period already: skipped")
                return endings.OK
            self._give_back(lease, outcome)
            return outcome.code

    def _prepare(self, program: str) -> Runner:
        if os.name == "posix":
            from holdfast.cli import guarded

            make: Callable[..., Runner] = guarded.Guarded
        else:
            from holdfast.cli import plain

            make = plain.Guarded
        return make(program, self._command, for_child(self._key), self._losses)

    def _lock(self, client: Client) -> Lock:
        if self._options["shared"]:
            return client.rwlock(self._key).reader
        if self._options["exclusive"]:
            return client.rwlock(self._key).writer
        if self._options["permits"]:
            return client.semaphore(self._key, self._options["permits"])
        return client.mutex(self._key)

    def _acquire(self, lock: Lock) -> Lease:
        import holdfast

        try:
            lease = lock.acquire(self._options["timeout"])
        except holdfast.AcquireTimeout as error:
            code = self._options["conflict_exit_code"]
            raise Ending(code, str(error) if code else "") from error
        self._settings.remark(f"holds {self._key!r} (fence {lease.fence}) for {written(lease.remaining)}, renewed")
        return lease

    def _run_once(self, client: Client, lease: Lease, runner: Runner) -> Outcome | None:
        """Run it, unless it ran in this period already.  The mark is looked at while the lock is held, so that those
        who waited for a run to end see its mark, and a lock that was not to be had uses up no period.
        """
        options = self._options

        def work() -> Outcome:
            outcome = runner.run(lease, options["grace"])
            if outcome.code or outcome.lost:
                raise _Failed(outcome)
            return outcome

        try:
            if not options["once_every"]:
                return work()
            guarantee: Any = "at least once" if options["at_least_once"] else "at most once"
            return client.once(self._key, every=options["once_every"], guarantee=guarantee)(work)()
        except _Failed as failed:
            return failed.outcome

    def _give_back(self, lease: Lease, outcome: Outcome) -> None:
        import holdfast

        if outcome.lost:
            fate = "was ended" if outcome.cut_short else "had ended by itself"
            raise Ending(endings.LOST, f"{_reason(lease)}; its command {fate}")
        try:
            lease.release()
        except holdfast.StoreError as error:
            self._settings.say(f"could not give {self._key!r} back, it ends by itself soon: {error}")


class _Failed(Exception):
    """The command did not succeed: to `once`, its function raised."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def _reason(lease: Lease) -> str:
    """Why it was lost: the library's sentence, without the advice at its end."""
    import holdfast

    try:
        lease.ensure()
    except holdfast.LeaseLost as error:
        return str(error).rpartition("; ")[0]
    return f"the mark of {lease.key!r} is lost"
