"""Who is to be woken: one ear for each owner that waits.

A ring is a hint.  It may come early (before its owner listens: it is kept), late or not at all (every pause has an
end); whoever is woken asks the store what is true.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.engine.program import Ear


class Bell:
    """All the ears of one client, by owner."""

    __slots__ = ("__weakref__", "_early", "_ears", "_new_ear", "deaf")

    def __init__(self, new_ear: Callable[[], Ear]) -> None:
        self._new_ear = new_ear
        self._ears: dict[str, Ear] = {}
        self._early: set[str] = set()
        self.deaf: bool = False
        """No hint can reach us from other processes; waiters must ask now and then."""

    def expect(self, owner: str) -> None:
        """From now on a ring for this owner is kept until it listens or is forgotten."""
        self._early.add(owner)

    def listen(self, owner: str) -> Ear:
        """The ear of this owner; it has rung already if it was rung for since `expect`."""
        ear = self._new_ear()
        self._ears[owner] = ear
        if owner not in self._early:
            ear.rung = True
        return ear

    def forget(self, owner: str) -> None:
        """Nobody waits under this name any more."""
        self._early.discard(owner)
        self._ears.pop(owner, None)

    def ring(self, owner: str) -> None:
        """Wake that owner, if it is one of ours."""
        self._early.discard(owner)
        ear = self._ears.get(owner)
        if ear is not None:
            ear.ring()

    def ring_all(self) -> None:
        """Wake everybody: something happened of which it is not known whom it concerns."""
        for owner in list(self._ears):
            self.ring(owner)

    def ear(self) -> Ear:
        """An ear that no owner's name rings."""
        return self._new_ear()

    @property
    def listening(self) -> int:
        """How many wait."""
        return len(self._ears)
