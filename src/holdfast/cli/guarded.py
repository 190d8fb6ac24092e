"""A command under a lease, on POSIX: signals go to it, and when the lease is lost it is ended.

The loop waits for three things at once and sleeps otherwise: a change of the child, a signal, and the loss of the
lease, which is either told (by the keeper's thread) or due (by the clock, should that thread be stuck).
"""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING

from holdfast.cli.bell import Bell, Handlers, LossHook, numbers_of
from holdfast.cli.child import Child, Status
from holdfast.cli.endings import Outcome
from holdfast.cli.terminal import Terminal

if TYPE_CHECKING:
    from holdfast import Lease

FORWARDED = numbers_of(
    "SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGTSTP", "SIGCONT", "SIGWINCH"
)
BRIEF = 0.05
"""Seconds; the guard is told of a renewal when half of what it knows of has passed, or this."""
LOOK_AGAIN = 0.02
"""Seconds between two looks at a group whose leader has ended: nobody tells of the end of the others."""


class Guarded:
    """One command, from before its lock is asked for until it has ended."""

    def __init__(self, program: str, command: list[str], environment: Mapping[str, str], losses: LossHook) -> None:
        self._child = Child(program, command, environment)
        self._losses = losses
        self._terminal = Terminal()
        self._bell = Bell()
        self._handlers = Handlers()

    def run(self, lease: Lease, grace: float) -> Outcome:
        """Run the command until it ends, or until the lease is lost and it has been ended."""
        self._lease = lease
        self._grace = grace
        self._losses.ring = self._bell.ring
        self._bell.listen()
        self._handlers.set(FORWARDED, _heard)
        self._handlers.set(numbers_of("SIGCHLD"), _heard)
        self._handlers.set(numbers_of("SIGTTOU"), signal.SIG_IGN)
        self._terminal.give(self._child.pid)
        status = Status()
        try:
            self._child.guard.tell(lease.remaining, grace)
            self._child.begin(lease.fence)
            status = self._watch()
            cut_short = status.code is None
            if cut_short:
                status = self._end()
            return Outcome(status.code or 0, cut_short or self._lost, cut_short or status.killed)
        finally:
            if status.code is None:  # by an error of ours: the lock is given back next, so nothing may run on
                self._child.signal(signal.SIGKILL)
            self._child.guard.tell(math.inf, grace)
            self._terminal.take_back(self._child.pid)
            if status.killed:
                self._terminal.restore()
            self._handlers.put_back()

    def close(self) -> None:
        """The command has ended, or will not begin."""
        self._losses.ring = bool
        self._bell.close()
        self._terminal.close()
        self._child.dismiss()

    @property
    def _lost(self) -> bool:
        return self._losses.lost or self._lease.lost is not None

    def _watch(self) -> Status:
        """Until the command ends (with its code) or the lease is lost (without one)."""
        while True:
            status = self._child.status()
            if status.code is not None:
                return status
            if status.stopped_by:
                self._stopped(status.stopped_by)
            if self._lost:
                return Status()
            remaining = self._lease.remaining
            self._child.guard.tell(remaining, self._grace)
            self._forward(self._bell.wait(min(remaining, max(remaining / 2, BRIEF))))

    def _forward(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            if number == signal.SIGCONT:
                self._go_on()
            elif number in FORWARDED:
                self._child.signal(number)

    # --- job control --------------------------------------------------------------------------------------------------

    def _stopped(self, number: int) -> None:
        """The child was stopped: give it the terminal if it wanted that, else stop as well so that the shell sees it."""
        if not self._terminal.present or (number == signal.SIGSTOP and os.getpgrp() == os.getsid(0)):
            return  # somebody stopped the child on purpose, and there is no shell that would want to know
        if number in (signal.SIGTTIN, signal.SIGTTOU) and self._terminal.ours:
            self._terminal.wanted = True
            self._go_on()
            return
        self._terminal.take_back(self._child.pid)
        self._child.guard.tell(math.inf, self._grace)  # nothing runs that would have to be ended
        number = {signal.SIGTTOU: signal.SIGTTIN}.get(signal.Signals(number), number)
        before = signal.getsignal(number)
        if number != signal.SIGSTOP:
            signal.signal(number, signal.SIG_DFL)
        os.killpg(os.getpgrp(), number)  # the whole job, as its shell knows it; we go on here after a SIGCONT
        if number != signal.SIGSTOP:
            signal.signal(number, before)
        self._go_on()

    def _go_on(self) -> None:
        """Continue the child, in the foreground if we are; but not one whose lease did not last the stop."""
        if self._lost:
            return
        self._terminal.give(self._child.pid)
        self._child.signal(signal.SIGCONT)

    # --- the lease is lost --------------------------------------------------------------------------------------------

    def _end(self) -> Status:
        """Ask the whole group to end, and kill after the grace what has not."""
        self._child.guard.tell(math.inf, self._grace)
        until = time.monotonic() + self._grace
        self._child.adopt()
        self._child.signal(signal.SIGTERM)
        self._child.signal(signal.SIGCONT)
        status = Status()
        while (left := until - time.monotonic()) > 0:
            if status.code is None:
                status = self._child.status()
            elif not self._child.outlived():
                return status
            self._forward_last(self._bell.wait(left if status.code is None else min(LOOK_AGAIN, left)))
        self._child.signal(signal.SIGKILL)
        while status.code is None:
            self._bell.wait(LOOK_AGAIN)
            status = self._child.status()
        return status

    def _forward_last(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            if number in FORWARDED and number != signal.SIGTSTP:
                self._child.signal(number)


def _heard(_number: int, _frame: FrameType | None) -> None:
    """A handler that does nothing: that there is one makes the bell ring."""
