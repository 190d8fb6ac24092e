"""Misuses that both type checkers must find: an ignore that one of them does not need is an error there."""

from __future__ import annotations

from datetime import datetime

import holdfast
from holdfast import AsyncClient, AsyncLease, Client, Lease


def connecting() -> None:
    holdfast.connect("memory:", ttl="30")  # type: ignore[arg-type]
    holdfast.connect("memory:", hooks=print)  # type: ignore[arg-type]
    holdfast.connect("memory:", "shop")  # type: ignore[call-arg]
    with holdfast.connect_async("memory:"):  # type: ignore[attr-defined]
        pass


def arguments(locks: Client, when: datetime) -> None:
    locks.mutex(42)  # type: ignore[arg-type]
    locks.mutex("k", 5)  # type: ignore[call-arg]
    locks.mutex("k", payload="text")  # type: ignore[arg-type]
    locks.mutex("k", on_lost="cancel")  # type: ignore[arg-type]
    locks.mutex("k", timeout=5)  # type: ignore[call-arg]
    locks.mutex("k").acquire(timeout=when)  # type: ignore[arg-type]
    locks.semaphore("k")  # type: ignore[call-arg]
    locks.semaphore("k", "3")  # type: ignore[arg-type]
    locks.once("k")  # type: ignore[call-arg]
    locks.once("k", every=1, guarantee="exactly once")  # type: ignore[arg-type]
    locks.pool("k").acquire(where=lambda payload: payload.startswith(b"x"))  # type: ignore[union-attr]


def results(locks: Client) -> None:
    locks.mutex("k").try_acquire().release()  # type: ignore[union-attr]
    locks.inspect("k").holders  # type: ignore[union-attr]
    locks.election("k").leader().name  # type: ignore[union-attr]
    with locks.rwlock("k"):  # type: ignore[attr-defined]
        pass
    with locks.mutex("k") as lease:
        lease.remaining = 5.0  # type: ignore[misc]
        lease.lost = "expired"  # type: ignore[misc]


async def colours(locks: AsyncClient, other: Client) -> None:
    with locks.mutex("k"):  # type: ignore[attr-defined]
        pass
    async with other.mutex("k"):  # type: ignore[attr-defined]
        pass
    locks.all_of(other.mutex("k"))  # type: ignore[arg-type]
    lease: Lease = await locks.mutex("k").acquire()  # type: ignore[assignment]
    later: AsyncLease = locks.mutex("k").acquire()  # type: ignore[assignment]
    lease.ensure()
    later.release()  # type: ignore[unused-coroutine]
    locks.mutex("k", on_lost="raise")  # type: ignore[arg-type]

    @locks.mutex("k")  # type: ignore[arg-type]
    def plain() -> int:
        return 1

    plain()


def decorated(locks: Client) -> None:
    @locks.mutex("{order}")
    def charge(order: int) -> None: ...

    charge("42")  # type: ignore[arg-type]
    charge()  # type: ignore[call-arg]
    charge(1).strip()  # type: ignore[attr-defined]
