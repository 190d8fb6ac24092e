"""What wakes the command while its child runs: signals, and the loss of a lease."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, TypeAlias

from holdfast.cli.endings import Interrupted

if TYPE_CHECKING:
    from holdfast import Event

Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None


class LossHook:
    """A hook for `connect` that remembers the first loss and rings, from whatever thread it is told."""

    def __init__(self) -> None:
        self.lost: bool = False
        self.ring: Callable[[], object] = bool

    def __call__(self, event: Event) -> None:
        from holdfast.observe.events import Lost

        if isinstance(event, Lost):
            self.lost = True
            self.ring()


class Handlers:
    """Signal handlers that are put back at the end.  A signal that we were started with ignored stays ignored."""

    def __init__(self) -> None:
        self._before: dict[int, Handler] = {}

    def set(self, numbers: Iterable[int], handler: Handler) -> None:
        """Handle these signals so from now on."""
        for number in numbers:
            before = self._before.get(number, signal.getsignal(number))
            if before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, handler)

    def put_back(self) -> None:
        """Handle every signal as before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()


def numbers_of(*names: str) -> list[int]:
    """The numbers of those signals that this system has."""
    return [int(getattr(signal, name)) for name in names if hasattr(signal, name)]


INTERRUPTING: list[int] = numbers_of("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")


def interrupt(number: int, _frame: FrameType | None) -> None:
    """A handler: give up waiting, and let go of what is held.  It, and its like, may come again meanwhile."""
    for other in INTERRUPTING:
        signal.signal(other, signal.SIG_IGN)
    raise Interrupted(number)


class Bell:
    """A pipe that signals and losses write to; POSIX only."""

    LOSS = 0

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._before: int | None = None

    def listen(self) -> None:
        """Hear of every signal that has a handler; in the main thread."""
        self._before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)

    def ring(self) -> None:
        """A lease was lost; from any thread."""
        with suppress(OSError):  # full: it rings already
            os.write(self._write, bytes((self.LOSS,)))

    def wait(self, seconds: float) -> list[int]:
        """The numbers of the signals that have come, after at most so long."""
        import select

        poller = select.poll()
        poller.register(self._read, select.POLLIN)
        poller.poll(min(max(int(seconds * 1000) + 1, 1), 3_600_000))
        try:
            return [number for number in os.read(self._read, 4096) if number != self.LOSS]
        except BlockingIOError:
            return []

    def close(self) -> None:
        """Hear nothing any more."""
        if self._before is not None:
            signal.set_wakeup_fd(self._before)
        os.close(self._read)
        os.close(self._write)
