"""A terminal with the command, or a shell that starts it, in it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from contextlib import suppress

from commanding import AT_MOST

INTERRUPT, SUSPEND, END = "\x03", "\x1a", "\x04"
PROMPT = "@@ "
SHELL = ("bash", "--norc", "--noprofile", "--noediting", "-i")


class Screen:
    """A terminal: type on it, and read what is shown until something expected is."""

    def __init__(self, command: Sequence[str], env: dict[str, str], columns: int = 100) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self.process = subprocess.Popen(
            command,
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - one system call
            env={**env, "TERM": "xterm", "PS1": PROMPT, "COLUMNS": "", "LINES": ""} | {"NO_COLOR": ""},
        )  # fmt: skip
        os.close(slave)
        self._unread = ""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, pattern: str) -> str:
        """Everything up to and with the pattern, which is consumed."""
        deadline = time.monotonic() + AT_MOST
        while (match := re.search(pattern, self._unread)) is None:
            if not select.select([self._master], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise AssertionError((pattern, self._unread, self._who_runs()))
            with suppress(OSError):  # EIO: nobody has the terminal open any more
                if more := os.read(self._master, 65536).decode(errors="replace").replace("\r\n", "\n"):
                    self._unread += more
                    continue
            raise AssertionError((pattern, self._unread))
        seen, self._unread = self._unread[: match.end()], self._unread[match.end() :]
        return seen

    def _who_runs(self) -> str:
        """The processes of this terminal and what they wait for, for whoever must find out why nothing came."""
        look = ("ps", "-s", str(self.process.pid), "-o", "pid,ppid,pgid,tpgid,stat,wchan:20,args")
        return subprocess.run(look, capture_output=True, text=True, check=False).stdout

    def rest(self) -> str:
        """Everything until nobody has the terminal open, and the process has ended."""
        seen = self._unread
        with suppress(OSError):
            while select.select([self._master], [], [], AT_MOST)[0] and (more := os.read(self._master, 65536)):
                seen += more.decode(errors="replace").replace("\r\n", "\n")
        self.process.wait(AT_MOST)
        return seen

    def sh(self, line: str) -> str:
        """A line for a shell, and what is shown until its next prompt."""
        self.type(f"{line}\n")
        self.until(re.escape(line) + "\n")
        return self.until(re.escape(PROMPT))[: -len(PROMPT)]

    def hang_up(self) -> None:
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def close(self) -> None:
        self.hang_up()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(AT_MOST)
