"""What can be seen of a lock: who holds it, who waits, what it carries."""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from holdfast.core.record import Grant, Kind, Micros, Record
from holdfast.engine.program import SECOND


class Holder(NamedTuple):
    """Somebody who holds a lock, as they described themselves."""

    host: str
    pid: int
    name: str
    """The thread's or the task's name."""
    fence: int
    held_for: float
    """Seconds since it was granted, at the moment of looking."""
    remaining: float
    """Seconds until it ends if it is not renewed, at the moment of looking."""
    weight: int

    def __str__(self) -> str:
        who = (
            f"{self.host or 'somebody'}{f' pid {self.pid}' if self.pid else ''}{f' ({self.name})' if self.name else ''}"
        )
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - self.held_for))
        return f"{who} holds it since {since} ({self.held_for:.1f} s), for {max(self.remaining, 0.0):.1f} s yet"


class LockInfo(NamedTuple):
    """A lock at the moment of looking."""

    key: str
    kind: Kind
    limit: int
    fence: int
    """The highest fence given so far."""
    holders: tuple[Holder, ...]
    waiting: int
    payload: bytes | None
    member: str | None = None
    """Which member of the pool `key` this is."""


HOST = (os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")).replace(" ", "-") or "-"


def holder_of(grant: Grant, now: Micros) -> Holder:
    host, _, rest = grant.holder.partition(" ")
    pid, _, name = rest.partition(" ")
    number = int(pid) if pid.isascii() and pid.isdigit() else 0
    held_for, remaining = (now - grant.since) / SECOND, (grant.expires - now) / SECOND
    return Holder(host, number, name, grant.fence, held_for, remaining, grant.weight)


def info_of(key: str, record: Record, now: Micros, member: str | None = None) -> LockInfo:
    holders = tuple(holder_of(grant, now) for grant in record.grants if grant.expires > now)
    waiting = sum(waiter.expires > now for waiter in record.queue)
    return LockInfo(key, record.kind, record.limit, record.fence, holders, waiting, record.payload, member)
