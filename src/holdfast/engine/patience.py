"""How long to sleep before asking again.

Where a store pushes, asking again is only the net under a lost hint.  Where it does not, it is how a waiter learns of
anything: soon after somebody else was seen to change something, ever later while nothing happens, never in step with
the others.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.engine.program import SECOND, Micros

LINGER: Micros = 10 * SECOND
"""How long a place in a queue outlives the last sign of life of whoever waits there."""

NET: Micros = LINGER // 3
"""How often a waiter that will be woken asks anyway; it also keeps its place."""

FIRST: Micros = 10_000
LONGEST: Micros = SECOND


class Patience:
    """The pauses of one waiter."""

    __slots__ = ("_chance", "_next", "_push")

    def __init__(self, push: bool, chance: Callable[[], float]) -> None:
        self._push = push
        self._chance = chance
        self._next = FIRST

    def pause(self) -> Micros:
        """How long to wait for a ring before asking again."""
        if self._push:
            return NET
        length, self._next = self._next, min(self._next * 2, LONGEST)
        return self.jitter(length)

    def jitter(self, length: Micros) -> Micros:
        """Somewhere between half of it and one and a half."""
        return int(length * (0.5 + self._chance()))

    def reset(self) -> None:
        """Something moved: be quick again."""
        self._next = FIRST
