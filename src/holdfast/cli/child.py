"""The command as a process: started before the lock is asked for, let go when it is held, never left unguarded.

Three processes, all forked while this one has a single thread:

    holdfast   asks for the lock, keeps the lease, forwards signals
    the child  has a process group of its own; waits at a gate, and becomes the command when the gate opens
    the guard  ends the child's whole group if holdfast can't, see `guard`

The child is forked early so that no thread of the lock's client is about at that time, and so that a command that can't
be started costs no waiting.  On Linux the kernel also kills the child itself when holdfast dies (PR_SET_PDEATHSIG),
should somebody kill the guard as well.  What has left the child's group (setsid) is out of reach of both.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from holdfast.cli import kernel
from holdfast.cli.guard import Guard
from holdfast.cli.programs import failed_to_start


class Status(NamedTuple):
    """What the system says of a child: it goes on, was stopped by a signal, or has ended with an exit code."""

    stopped_by: int = 0
    code: int | None = None
    killed: bool = False


class Child:
    """A command that is ready to run."""

    def __init__(self, program: str, command: list[str], environment: Mapping[str, str]) -> None:
        self._program = program
        self._ended = False
        gate, self._gate = os.pipe()
        self._report, report = os.pipe()
        parent = os.getpid()
        self.pid: int = os.fork()
        if not self.pid:
            os.close(self._gate)
            os.close(self._report)
            _become(program, command, environment, gate, report, parent)
        os.close(gate)
        os.close(report)
        with suppress(PermissionError):  # it has done so itself and runs already
            os.setpgid(self.pid, self.pid)
        self.guard: Guard = Guard(self.pid)

    def begin(self, fence: int) -> None:
        """Open the gate; an `Ending` if the command can't be started."""
        with suppress(BrokenPipeError):  # somebody has killed it; its status will say so
            os.write(self._gate, b"%d\n" % fence)
        os.close(self._gate)
        self._gate = -1
        number = os.read(self._report, 16)
        if number:
            raise failed_to_start(self._program, int(number))

    def status(self) -> Status:
        """How it is now; its end is reported once."""
        pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
        if not pid:
            return Status()
        if os.WIFSTOPPED(status):
            return Status(stopped_by=os.WSTOPSIG(status))
        self._ended = True
        if os.WIFSIGNALED(status):
            return Status(code=128 + os.WTERMSIG(status), killed=True)
        return Status(code=os.WEXITSTATUS(status))

    def signal(self, number: int) -> bool:
        """Send a signal to its whole process group; False if nobody is left there."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # somebody is left whom we may not signal (a set-user-id program)
        return True

    def adopt(self) -> None:
        """Become the parent of those that its end leaves behind, so that they don't linger as zombies, which can't be
        told from the living, where the first process is slow to bury them or never does (many containers).
        """
        kernel.adopt_orphans()

    def outlived(self) -> bool:
        """Whether somebody is left of its group after its own end."""
        with suppress(ChildProcessError):
            while os.waitpid(-self.pid, os.WNOHANG)[0]:
                ...
        return self.signal(0)

    def dismiss(self) -> None:
        """Close everything.  A child that still waits at the gate goes; the guard goes home."""
        if self._gate >= 0:
            os.close(self._gate)
        os.close(self._report)
        if not self._ended:
            os.waitpid(self.pid, 0)
        self.guard.dismiss()


# --- in the child ----------------------------------------------------------------------------------------------------


def _become(
    program: str, command: list[str], environment: Mapping[str, str], gate: int, report: int, parent: int
) -> None:
    """Wait at the gate, and become the command.  Never returns."""
    try:
        os.setpgid(0, 0)
        for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores them; commands expect the default
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        kernel.die_with_parent(parent)
        fence = os.read(gate, 32)
        if fence.endswith(b"\n"):
            os.execve(program, command, {**environment, "HOLDFAST_FENCE": fence[:-1].decode()})  # noqa: S606 - to run it is the point
    except OSError as error:
        os.write(report, b"%d" % (error.errno or 0))
    finally:
        os._exit(127)
