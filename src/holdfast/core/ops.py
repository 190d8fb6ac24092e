"""What can be asked of a record, and what it can answer."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from holdfast.core.record import Broken, Grant, Kind, Micros


class Want(NamedTuple):
    """What a lock is and how much of it is wanted; the same for every attempt on one lock."""

    kind: Kind = "mutex"
    limit: int = 1
    weight: int = 1
    ttl: Micros = 30_000_000
    payload: bytes | None = None


class Acquire(NamedTuple):
    """Give me a grant.  `owner` is a nonce made before the first try: asking again is harmless and also renews."""

    owner: str
    want: Want
    linger: Micros = 0
    """How long to keep a place in the queue when the answer is no; 0: do not queue."""
    holder: str = ""


class Renew(NamedTuple):
    """Let my grant live at least another `ttl`; it never lives shorter for it."""

    owner: str
    ttl: Micros


class Pass(NamedTuple):
    """Give my grant to `heir`, under a fresh fence, with nobody in between."""

    owner: str
    heir: str
    ttl: Micros
    holder: str = ""


class Shrink(NamedTuple):
    """Keep only `weight` of my grant: a writer becomes a reader without a gap."""

    owner: str
    weight: int


class Amend(NamedTuple):
    """Replace the payload; only a holder may.  The record is kept for its sake until `keep`."""

    owner: str
    payload: bytes | None
    keep: Micros


class Release(NamedTuple):
    """I hold nothing and wait for nothing here any more, whatever became of my earlier requests."""

    owner: str


class Revoke(NamedTuple):
    """Take the lock from its holders (from the one with `fence`, if given), who will be told by whom and why."""

    mark: str
    by: str
    reason: str
    fence: int | None = None


class Enrol(NamedTuple):
    """Make this record a member of a pool: it stays when idle."""

    payload: bytes | None = None


class Dismiss(NamedTuple):
    """It is a member no more; it goes once nobody holds it."""


Op: TypeAlias = Acquire | Renew | Pass | Shrink | Amend | Release | Revoke | Enrol | Dismiss


class Granted(NamedTuple):
    """Yours, under `fence`, until `expires`."""

    now: Micros
    fence: int
    since: Micros
    expires: Micros
    payload: bytes | None
    waiting: int
    """How many wait in the queue behind you."""


class Denied(NamedTuple):
    """Not now.  `free_at`: when it can be free at the earliest, if nobody renews, releases or breaks anything."""

    now: Micros
    free_at: Micros
    grants: tuple[Grant, ...]
    ahead: tuple[str, ...]
    """The owners who are served before you."""


class Released(NamedTuple):
    """It was yours, or your place in the queue was; now it is not."""

    now: Micros


class NotHeld(NamedTuple):
    """You hold nothing here.  `broken` says who took it by force, if that is why."""

    now: Micros
    broken: Broken | None


class Mismatch(NamedTuple):
    """The others who hold it or wait for it mean another kind of lock by this key."""

    now: Micros
    kind: Kind
    limit: int


class Revoked(NamedTuple):
    """These owners lost their grants; none means that there was nothing to take."""

    now: Micros
    owners: tuple[str, ...]


class Noted(NamedTuple):
    """Done."""

    now: Micros


Reply: TypeAlias = Granted | Denied | Released | NotHeld | Mismatch | Revoked | Noted
