"""stdin, stdout and stderr as a command may find them: closed, full, or of an encoding that lacks a character."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress


def prepare() -> None:
    """Make all three exist, so that nothing else is opened under their numbers and taken for them.

    One that was closed fails when it is used, as before; and it is still closed in what we start.
    """
    for number, wrong_way in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, wrong_way)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def abandon() -> None:
    """Let Python's last flush of stdout go nowhere; it has failed already, and said so."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
