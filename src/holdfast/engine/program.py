"""What a program may ask of whoever runs it.

A program is a generator.  It yields commands and is sent their results; it does no I/O, reads no clock and never
blocks, so the same text serves threads and asyncio, and a test can run many of them in any order it likes.

    reply = yield from store.apply(key, op)      # a program calls another program
    answer = yield Send(request)                 # one round trip, made by the driver
    rung = yield Pause(ear, until)               # wait for a ring, at most until then; True: it rang
    ticks = yield TICKS                          # monotonic microseconds of this process
    wall = yield WALL                            # microseconds since 1970 by this machine's clock

The drivers promise: a `Send` is never abandoned (if the caller gives up meanwhile, it is finished first, and then the
reason to give up is thrown into the program, whose clean-up may yield more commands); a failed `Send` raises one of
`StoreError`'s family.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from holdfast.core.record import FOREVER, Micros

T = TypeVar("T")

SECOND: Micros = 1_000_000


class Ear(Protocol):
    """What one waiting program listens with."""

    rung: bool
    """Stays true until the program sets it back, so a ring that comes early is not missed."""

    def ring(self) -> None:
        """Wake whoever listens; from any thread."""


class Send(NamedTuple):
    """One round trip to the store."""

    request: Any


class Pause(NamedTuple):
    """Wait until the ear rings (None: nobody rings), or until `until` (in ticks).  The result says whether it rang."""

    ear: Ear | None
    until: Micros


class Ticks(NamedTuple):
    """Ask for the time of this process: monotonic, and counting while the machine sleeps where the system can."""


class Wall(NamedTuple):
    """Ask for the time of day; for stores whose operations use the client's clock, and for nothing else."""


TICKS = Ticks()
WALL = Wall()

Command: TypeAlias = Send | Pause | Ticks | Wall
Program: TypeAlias = Generator[Command, Any, T]

__all__ = [
    "FOREVER",
    "SECOND",
    "TICKS",
    "WALL",
    "Command",
    "Ear",
    "Micros",
    "Pause",
    "Program",
    "Send",
    "Ticks",
    "Wall",
]
