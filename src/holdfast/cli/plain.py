"""A command under a lease where there are no process groups (Windows): only the command itself is ended on a loss."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.cli.bell import LossHook
from holdfast.cli.endings import Outcome
from holdfast.cli.programs import failed_to_start

if TYPE_CHECKING:
    from holdfast import Lease

LOOK_AGAIN = 0.1


class Guarded:
    """One command, from before its lock is asked for until it has ended."""

    def __init__(self, program: str, command: list[str], environment: Mapping[str, str], losses: LossHook) -> None:
        self._command = [program, *command[1:]]
        self._environment = dict(environment)
        self._losses = losses

    def run(self, lease: Lease, grace: float) -> Outcome:
        """Run the command until it ends, or until the lease is lost and it has been ended."""
        environment = {**self._environment, "HOLDFAST_FENCE": str(lease.fence)}
        try:
            process = subprocess.Popen(self._command, env=environment)  # noqa: S603 - to run it is the point
        except OSError as error:
            raise failed_to_start(self._command[0], error.errno or 0) from None
        while process.poll() is None:
            if self._losses.lost or lease.lost is not None:
                return Outcome(_end(process, grace), lost=True, cut_short=True)
            _wait(process, min(LOOK_AGAIN, lease.remaining))
        return Outcome(_code(process), self._losses.lost or lease.lost is not None)

    def close(self) -> None:
        """The command has ended, or will not begin."""


def _end(process: subprocess.Popen[bytes], grace: float) -> int:
    until = time.monotonic() + grace
    process.terminate()
    while process.poll() is None and time.monotonic() < until:
        _wait(process, LOOK_AGAIN)
    if process.poll() is None:
        process.kill()
        process.wait()
    return _code(process)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Ctrl-C reaches the command by itself, and what it does about it is its own business."""
    with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        process.wait(seconds)


def _code(process: subprocess.Popen[bytes]) -> int:
    return process.returncode if process.returncode >= 0 else 128 - process.returncode
