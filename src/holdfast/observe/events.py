"""What happens to a lock, as frozen values given to hooks.

A hook is a callable that takes one event; pass it to `connect(hooks=[…])`.  It is called where the thing happens, so it
should be quick; what it raises is logged and breaks nothing.  No event carries a secret, nor a payload.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias


class Asked(NamedTuple):
    """Somebody wants the lock."""

    key: str
    owner: str


class Waited(NamedTuple):
    """The first answer was no, and the caller began to wait."""

    key: str
    owner: str


class Granted(NamedTuple):
    """The lock was acquired, `waited` seconds after it was asked for."""

    key: str
    fence: int
    waited: float


class Denied(NamedTuple):
    """The caller gave up, `waited` seconds after it asked."""

    key: str
    waited: float


class Renewed(NamedTuple):
    """The lease was extended."""

    key: str
    fence: int


class Released(NamedTuple):
    """The lock was given back, `held` seconds after it was granted."""

    key: str
    fence: int
    held: float


class Lost(NamedTuple):
    """The lease ended while its holder still counted on it."""

    key: str
    fence: int
    reason: str
    held: float


class Broken(NamedTuple):
    """This client took the lock from its holders by force."""

    key: str
    reason: str


class RoundTrip(NamedTuple):
    """One request to the store: what kind, how many seconds, and `ok` or the name of the error."""

    request: str
    seconds: float
    outcome: str


Event: TypeAlias = Asked | Waited | Granted | Denied | Renewed | Released | Lost | Broken | RoundTrip
"""Whatever a hook may be called with."""


class Hook(Protocol):
    """Whatever can be called with an event."""

    def __call__(self, event: Event, /) -> object: ...
