"""`holdfast demo`: what locks are for, and what happens when things go wrong, on real processes."""

from __future__ import annotations

import signal
import sys
import time
from typing import Any, NamedTuple

import click

from holdfast.cli import endings, tables, worker
from holdfast.cli.bell import Handlers, interrupt, numbers_of
from holdfast.cli.crew import PATIENCE, Crew
from holdfast.cli.endings import Ending
from holdfast.cli.look import json_option
from holdfast.cli.settings import store_options
from holdfast.cli.usage import Subcommand

WORKERS = 4
TIMES = 100
LONG_TTL = 30.0
SHORT_TTL = 1.0

HELP = """See what locks are for, and what happens when things go wrong.

Uses processes and a lock file of its own in a temporary folder, takes a few seconds, and leaves nothing behind.  What
it claims is what it measured: the exit code is 0 only if every claim came true.
"""


class Claim(NamedTuple):
    """Something said, whether it came true, and what was seen."""

    text: str
    true: bool
    saw: dict[str, Any]


@click.command(
    "demo", cls=Subcommand, help=HELP, short_help="See what locks are for, and what happens when things go wrong."
)
@json_option
@store_options
def demo(as_json: bool) -> int:
    """See HELP."""
    from tempfile import TemporaryDirectory

    handlers = Handlers()
    handlers.set(numbers_of("SIGINT", "SIGTERM", "SIGHUP"), interrupt)
    stage = Stage(as_json)
    try:
        with TemporaryDirectory(prefix="holdfast-demo-", ignore_cleanup_errors=True) as folder, Crew(folder) as crew:
            for act in (_without_lock, _with_lock, _killed_holder, _paused_holder):
                act(stage, crew)
    finally:
        handlers.put_back()
    return stage.verdict()


# --- the acts ---------------------------------------------------------------------------------------------------------


def _without_lock(stage: Stage, crew: Crew) -> None:
    total = WORKERS * TIMES
    stage.tell(
        "Without a lock",
        f"{WORKERS} processes each add 1 to the number in a file {TIMES} times: read it, work for half a",
        "millisecond, write it.",
    )
    counted, _ = crew.count(WORKERS, TIMES, "free")
    lost = total - counted
    stage.claim(f"{lost} of {total} updates were lost", lost > 0, updates=total, lost=lost)


def _with_lock(stage: Stage, crew: Crew) -> None:
    total = WORKERS * TIMES
    stage.tell("With a lock", "The same, but each holds the lock from the reading to the writing.")
    counted, seconds = crew.count(WORKERS, TIMES, "locked")
    lost = total - counted
    took = f"in {seconds:.1f} s"
    stage.claim(
        f"{lost or 'none'} of {total} updates {'were' if lost else 'was'} lost, {took}",
        lost == 0,
        updates=total,
        lost=lost,
    )


def _killed_holder(stage: Stage, crew: Crew) -> None:
    stage.tell(
        "A holder is killed",
        f"Its lease lasts {LONG_TTL:.0f} s yet, but its death can be proved: the next one need not wait for that.",
    )
    holder = crew.hire("hold", str(LONG_TTL))
    first = int(crew.answer(holder, "holds")[0])
    heir = crew.hire("take", crew.register)
    crew.answer(heir, "waits")
    crew.wait_for_a_waiter()
    killed = time.monotonic()
    holder.kill()
    fence, taken = crew.answer(heir, "holds")
    milliseconds = (float(taken) - killed) * 1000
    seen = {"milliseconds": round(milliseconds, 3), "ttl": LONG_TTL}
    stage.claim(f"the next holder had the lock {milliseconds:.1f} ms after the kill", milliseconds < 5000, **seen)
    stage.claim("its fence is higher", int(fence) > first, fences=[first, int(fence)])
    crew.answer(heir, "wrote")
    crew.cue(heir)
    heir.wait(PATIENCE)


def _paused_holder(stage: Stage, crew: Crew) -> None:
    if not hasattr(signal, "SIGSTOP"):
        stage.tell("A holder is paused", "This system can't suspend a process, so this is not shown.")
        return
    stage.tell(
        "A holder is paused",
        f"It sleeps, as in a long garbage collection or a frozen machine, longer than its lease of {SHORT_TTL:.0f} s.",
        "Another takes over.  Then the first wakes up, and writes as if nothing had been.",
    )
    sleeper = crew.hire("sleep", str(SHORT_TTL), crew.register)
    old = int(crew.answer(sleeper, "holds")[0])
    sleeper.send_signal(signal.SIGSTOP)
    heir = crew.hire("take", crew.register)
    crew.answer(heir, "waits")
    new = int(crew.answer(heir, "holds")[0])
    crew.answer(heir, "wrote")
    crew.cue(sleeper)
    sleeper.send_signal(signal.SIGCONT)
    told, reason = crew.line(sleeper)
    stage.claim(
        f"on waking, it is told that its lease is lost: {reason}", told == "told" and reason != "None", reason=reason
    )
    (answer,) = crew.line(sleeper)
    fence, text = worker.read(crew.register)
    refused = answer == "refused" and (fence, text) == (new, "the new holder") and old < new
    stage.claim(f"its late write is refused, because its fence {old} is below {fence}", refused, fences=[old, fence])
    crew.cue(heir)


# --- what is seen -----------------------------------------------------------------------------------------------------


class Stage:
    """What the audience sees."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._claims: list[Claim] = []
        utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        self._marks = ("✓", "✗") if utf8 else ("ok", "NOT TRUE")

    def tell(self, title: str, *lines: str) -> None:
        """What is going to happen."""
        if not self._as_json:
            click.secho(f"\n{title}" if self._claims else title, bold=True)
            for line in lines:
                click.echo(f"  {line}")

    def claim(self, text: str, true: bool, **saw: Any) -> None:
        """What has happened, and whether it is what was promised."""
        self._claims.append(Claim(text, true, saw))
        if self._as_json:
            tables.print_json({"claim": text, "true": true, **saw})
        else:
            click.echo(f"  {click.style(self._marks[not true], fg='green' if true else 'red', bold=True)} {text}")
        sys.stdout.flush()

    def verdict(self) -> int:
        """0 if everything that was claimed came true."""
        failed = [claim.text for claim in self._claims if not claim.true]
        if failed:
            raise Ending(endings.CLAIM_FAILED, f"not as promised: {'; '.join(failed)}")
        return endings.OK
