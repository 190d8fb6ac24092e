"""How the command ends: its exit codes, and the exceptions that stand for them."""

from __future__ import annotations

from typing import NamedTuple

OK = 0
CLAIM_FAILED = DECLINED = 1
USAGE = 64
UNAVAILABLE = 69
UNWRITABLE = 74
CONFLICT = 75
LOST = 76
CONFIG = 78
NOT_EXECUTABLE = 126
NOT_FOUND = 127
SIGNALLED = 128
"""Ended by signal n: this and n."""


class Ending(Exception):
    """The command ends here, with this exit code and, unless it is empty, this sentence on stderr."""

    def __init__(self, code: int, sentence: str = "") -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class Interrupted(BaseException):
    """A signal has arrived while nothing was held; like `KeyboardInterrupt`, it passes all that catch errors."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Outcome(NamedTuple):
    """How a command under a lock ended."""

    code: int
    lost: bool = False
    """Whether the lease was lost while it ran."""
    cut_short: bool = False
    """Whether it was ended for that."""
