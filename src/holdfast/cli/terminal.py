"""The terminal's foreground: who may read from it, and gets its Ctrl-C and Ctrl-Z."""

from __future__ import annotations

import os
import stat
import termios
from contextlib import suppress


class Terminal:
    """The controlling terminal of this process, if it has one.

    The child gets the foreground as a shell's job would.  If our stdout is a pipe, what reads it (a pager, say) may
    need the terminal as well, so the child then gets it only when it asks, by being stopped for touching it.
    """

    def __init__(self) -> None:
        self._group = os.getpgrp()
        self._modes: list[int | list[bytes | int]] | None = None
        try:
            self._file = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
        except OSError:
            self._file = -1
        self.wanted: bool = self.present and not _is_pipe(1)
        """Whether the child is to have the foreground whenever we have it."""

    @property
    def present(self) -> bool:
        """Whether there is a terminal at all."""
        return self._file >= 0

    @property
    def ours(self) -> bool:
        """Whether our own process group is in the foreground."""
        return self._foreground() == self._group

    def give(self, group: int) -> None:
        """Put the child in the foreground, if that is ours to give and the child wants it."""
        if self.wanted and self.ours:
            with suppress(termios.error, OSError):
                if self._modes is None:
                    self._modes = termios.tcgetattr(self._file)
                os.tcsetpgrp(self._file, group)

    def take_back(self, group: int) -> None:
        """Be in the foreground again, if the child was; SIGTTOU must be ignored meanwhile."""
        if self._foreground() == group:
            with suppress(OSError):
                os.tcsetpgrp(self._file, self._group)

    def restore(self) -> None:
        """Undo what a child that was killed has left: no echo, no line editing."""
        if self._modes is not None and self.ours:
            with suppress(termios.error, OSError):
                termios.tcsetattr(self._file, termios.TCSADRAIN, self._modes)

    def close(self) -> None:
        """Let go of it."""
        if self.present:
            os.close(self._file)
            self._file = -1

    def _foreground(self) -> int:
        if not self.present:
            return -1
        try:
            return os.tcgetpgrp(self._file)
        except OSError:
            return -1


def _is_pipe(file: int) -> bool:
    try:
        mode = os.fstat(file).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
