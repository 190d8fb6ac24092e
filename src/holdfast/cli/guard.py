"""The guard: a process that ends a command's whole group when holdfast can't.

It sleeps at a pipe that only holdfast holds, and is told there until when the lease is good.  Two things wake it: the
end of the pipe, because holdfast was killed, by SIGKILL even; and that time going by without news, because holdfast does
not run (it was stopped, or is starved).  It does then what holdfast would have done.
"""

from __future__ import annotations

import math
import os
import select
import signal
import struct
import time
from contextlib import suppress

SLACK = 0.25
"""Seconds after the lease's end that are left to holdfast to act by itself."""
HIGHEST_DESCRIPTOR = 4096
_NEWS = struct.Struct("dd")  # until when the lease is good, on the monotonic clock; from TERM to KILL
_DISMISSED = -1.0


class Guard:
    """The guard of a process group, as holdfast knows it."""

    def __init__(self, group: int) -> None:
        life, self._pipe = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            _watch_over(group, life)
        os.close(life)
        os.set_blocking(self._pipe, False)

    def tell(self, remaining: float, grace: float) -> None:
        """The lease is good for so long yet; `math.inf`: we see to it ourselves."""
        self._tell(time.monotonic() + remaining + SLACK, grace)

    def dismiss(self) -> None:
        """The group is gone, and so may the guard be."""
        self._tell(_DISMISSED, 0.0)
        os.close(self._pipe)
        os.waitpid(self._pid, 0)

    def _tell(self, until: float, grace: float) -> None:
        with suppress(BrokenPipeError, BlockingIOError):  # somebody has killed or stopped the guard
            os.write(self._pipe, _NEWS.pack(until, grace))


# --- in the guard's process ------------------------------------------------------------------------------------------


def _watch_over(group: int, life: int) -> None:
    """Be the guard.  Never returns."""
    try:
        os.setsid()  # no terminal, and out of the way of whatever ends holdfast's own group
        for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
        os.closerange(0, life)
        os.closerange(life + 1, HIGHEST_DESCRIPTOR)
        _keep_watch(group, life)
    finally:
        os._exit(0)


def _keep_watch(group: int, life: int) -> None:
    poller = select.poll()
    poller.register(life, select.POLLIN)
    until, grace, asked = math.inf, 0.0, False
    while True:
        left = until - time.monotonic()
        if left <= 0 and asked:
            os.killpg(group, signal.SIGKILL)
            until = math.inf
        elif left <= 0:
            os.killpg(group, signal.SIGTERM)
            os.killpg(group, signal.SIGCONT)
            until, asked = time.monotonic() + grace, True
        elif poller.poll(None if left == math.inf else int(left * 1000) + 1):
            news = os.read(life, _NEWS.size * 64)
            if not news:
                os.killpg(group, signal.SIGKILL)
                return
            *_, (until, grace) = _NEWS.iter_unpack(news)
            asked = False
            if until == _DISMISSED:
                return
