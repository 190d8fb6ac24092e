"""Threads and tasks of one client queue here for an exclusive lock, and only one of them asks the store.

Whoever finds no line for the key becomes the one who asks.  When it leaves, it calls the next: with the grant itself,
passed on by one request that mints a fresh fence, or with the word to go and ask.
"""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import NamedTuple

from holdfast.core.ops import Granted
from holdfast.engine.program import Ear, Micros

BUDGET = 16
"""So many times a grant may go from hand to hand in one client before other clients get their turn."""


class Passed(NamedTuple):
    """The predecessor's grant, now yours."""

    reply: Granted
    asked: Micros
    passes: int


class Place:
    """One who waits in line.  `called` is set, once, by the one in front."""

    __slots__ = ("called", "ear", "holder", "owner", "passed", "ttl")

    def __init__(self, owner: str, holder: str, ttl: Micros, ear: Ear) -> None:
        self.owner: str = owner
        self.holder: str = holder
        self.ttl: Micros = ttl
        self.ear: Ear = ear
        self.called: bool = False
        self.passed: Passed | None = None

    def call(self, passed: Passed | None) -> None:
        """Your turn: here is the grant, or go and ask."""
        self.passed = passed
        self.called = True
        self.ear.ring()


class Lines:
    """The lines of one client, by key.  A key without a line is one that nobody here holds or wants."""

    __slots__ = ("_lines", "_mutex")

    def __init__(self) -> None:
        self._mutex = Lock()
        self._lines: dict[str, deque[Place] | None] = {}

    def open(self, key: str) -> bool:
        """Become the one who asks, if nobody here holds or wants it."""
        with self._mutex:
            if key in self._lines:
                return False
            self._lines[key] = None
            return True

    def join(self, key: str, place: Place) -> None:
        """Stand at the end; called at once if everybody has left meanwhile."""
        with self._mutex:
            if key in self._lines:
                line = self._lines[key]
                if line is None:
                    line = self._lines[key] = deque()
                line.append(place)
                return
            self._lines[key] = None
        place.call(None)

    def quit(self, key: str, place: Place) -> bool:
        """Leave the line; False if the one in front has chosen us already and will call."""
        with self._mutex:
            line = self._lines.get(key)
            if line is None or place not in line:
                return False
            line.remove(place)
            return True

    def next(self, key: str) -> Place | None:
        """Choose the one behind us, who must then be called; None: nobody is, and the line is closed."""
        with self._mutex:
            line = self._lines.get(key)
            if line:
                return line.popleft()
            self._lines.pop(key, None)
            return None


def call_next(lines: Lines, key: str) -> None:
    """Let the one behind us ask."""
    heir = lines.next(key)
    if heir is not None:
        heir.call(None)
