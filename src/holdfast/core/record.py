"""What a store keeps for one key.

Instants and durations are whole microseconds of the store's clock, so that every port of the rules agrees to the bit
and a fence can be compared with the time it was minted at.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Micros: TypeAlias = int
Kind: TypeAlias = Literal["mutex", "rwlock", "semaphore", "election"]

FOREVER: Micros = (1 << 53) - 1
"""The year 2255: later than anything, and exact wherever numbers are doubles."""

MANY = 1 << 30
"""The limit of a readers-writer lock: a reader weighs 1, a writer weighs all of it."""


class Grant(NamedTuple):
    """Somebody holds (a part of) the lock until `expires`."""

    owner: str
    fence: int
    since: Micros
    expires: Micros
    ttl: Micros
    weight: int
    holder: str
    """Who it is, for people to read; no rule looks at it."""


class Waiter(NamedTuple):
    """Somebody waits in line; whoever does not ask again before `expires` has left it."""

    owner: str
    expires: Micros
    linger: Micros
    ttl: Micros
    weight: int
    holder: str


class Broken(NamedTuple):
    """A grant that was taken away by force, remembered until it would have ended by itself."""

    owner: str
    until: Micros
    by: str
    reason: str
    mark: str
    """The nonce of the break, so that asking for it twice breaks once."""


class Record(NamedTuple):
    fence: int = 0
    kind: Kind = "mutex"
    limit: int = 1
    grants: tuple[Grant, ...] = ()
    queue: tuple[Waiter, ...] = ()
    broken: tuple[Broken, ...] = ()
    payload: bytes | None = None
    kept: Micros = 0
    """Until when the record stays, with its payload, though nobody holds it: members of pools, marks, payloads."""


EMPTY = Record()


def handed(before: Record, after: Record) -> list[str]:
    """The owners who went from the queue to a grant: those whom somebody must wake."""
    if not before.queue:
        return []
    waited = {waiter.owner for waiter in before.queue}
    return [grant.owner for grant in after.grants if grant.owner in waited]
