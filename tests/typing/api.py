"""Uses of the API as they should be: never run, read by type checkers only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Protocol, assert_type

import holdfast
from holdfast import (
    AcquireTimeout,
    AsyncClient,
    AsyncElection,
    AsyncLease,
    AsyncLock,
    AsyncOnce,
    AsyncPool,
    AsyncRWLock,
    BadRecord,
    Client,
    ConfigError,
    Contended,
    Election,
    Event,
    Holder,
    HoldfastError,
    Hook,
    Lease,
    LeaseLost,
    Lock,
    LockError,
    LockInfo,
    LossReason,
    Member,
    NotHeld,
    Once,
    OutcomeUnknown,
    Pool,
    RWLock,
    Seconds,
    StoreError,
    StoreUnavailable,
    WouldDeadlock,
)
from holdfast.acquiring import Acquiring
from holdfast.connecting import Connecting
from holdfast.observe.events import Granted, Lost
from holdfast.stores import Backend

# --- connecting -------------------------------------------------------------------------------------------------------


def count(event: Event) -> None:
    if isinstance(event, Granted):
        assert_type(event.waited, float)
    if isinstance(event, Lost):
        assert_type(event.reason, str)


class Counter:
    """An object that can be called is a hook as well."""

    def __call__(self, event: Event, /) -> int:
        return len(event)


def connecting(url: str, driver: object, hook: Hook) -> None:
    assert_type(holdfast.connect(), Client)
    assert_type(holdfast.connect(url, namespace="shop", ttl=30, hooks=[count, Counter(), hook], metadata=False), Client)
    assert_type(holdfast.connect(driver, ttl=timedelta(minutes=1), busy_timeout=5), Client)
    with holdfast.connect(url) as locks:
        assert_type(locks, Client)
        locks.close()


async def connecting_async(url: str) -> None:
    assert_type(holdfast.connect_async(url, ttl=30), Connecting)
    assert_type(await holdfast.connect_async(url), AsyncClient)
    async with holdfast.connect_async(url) as locks:
        assert_type(locks, AsyncClient)
        await locks.close()


def registering(backend: Backend) -> None:
    holdfast.register("mine", backend)


def length(of: Seconds) -> float:
    return of.total_seconds() if isinstance(of, timedelta) else of


# --- threads ----------------------------------------------------------------------------------------------------------


def told(lease: Lease) -> None:
    print(lease.key)


def locks_of_each_kind(locks: Client) -> None:
    assert_type(locks.mutex("k"), Lock)
    assert_type(
        locks.mutex("k", ttl=5, payload=b"x", fair=True, reentrant=True, renew=False, on_lost=told),
        Lock,
    )
    assert_type(locks.rwlock("k"), RWLock)
    reader, writer = locks.rwlock("k", ttl=timedelta(seconds=5))
    assert_type(reader, Lock)
    assert_type(writer, Lock)
    assert_type(locks.semaphore("k", 3, weight=2), Lock)
    assert_type(locks.all_of(locks.mutex("a"), reader), Lock)
    assert_type(locks.pool("k"), Pool)
    assert_type(locks.election("k"), Election)
    assert_type(locks.once("k", every=60), Once)
    assert_type(locks.once("k", every=timedelta(days=1), guarantee="at least once"), Once)


def leases(lock: Lock) -> None:
    assert_type(lock.acquire(), Lease)
    assert_type(lock.acquire(timeout=timedelta(seconds=1)), Lease)
    assert_type(lock.try_acquire(), Lease | None)
    with lock as lease:
        assert_type(lease, Lease)
    with lock.acquire(5) as lease:
        assert_type(lease.key, str)
        assert_type(lease.owner, str)
        assert_type(lease.fence, int)
        assert_type(lease.member, str | None)
        assert_type(lease.payload, bytes | None)
        assert_type(lease.remaining, float)
        assert_type(lease.lost, LossReason | None)
        lease.ensure()
        lease.renew()
        lease.renew(ttl=60)
        lease.amend(b"x")
        lease.downgrade()
        lease.release()


def after_the_block_is_reachable(lock: Lock) -> int:
    """A block of ours swallows no exception, so checkers know that what follows a return in it is not reached."""
    with lock:
        return 1


class Priced(Protocol):
    """A function whose keywords must survive being decorated."""

    def __call__(self, order: int, *, cents: int = ...) -> str: ...


def decorated(locks: Client) -> None:
    @locks.mutex("orders/{order}")
    def charge(order: int, *, cents: int = 0) -> str:
        return f"{order} {cents}"

    same: Priced = charge
    assert_type(charge(1, cents=2), str)
    assert_type(same(1), str)

    @locks.once("report", every=3600)
    def report(day: str) -> int:
        return len(day)

    assert_type(report("monday"), int | None)


def pools(pool: Pool) -> None:
    pool.add("m", b"payload")
    pool.remove("m")
    assert_type(pool.members(), Iterator[Member])
    for member in pool.members():
        assert_type(member.name, str)
        assert_type(member.payload, bytes | None)
        assert_type(member.info, LockInfo)
    assert_type(pool.acquire(5, member="m"), Lease)
    assert_type(pool.try_acquire(where=lambda payload: payload is not None and payload.startswith(b"x")), Lease | None)


def elections(election: Election) -> None:
    with election.lead(timeout=5) as lease:
        assert_type(lease, Lease)
    assert_type(election.leader(), Holder | None)
    assert_type(election.follow(poll=1), Iterator[Holder | None])


def looking(locks: Client) -> None:
    assert_type(locks.inspect("k"), LockInfo | None)
    assert_type(locks.list("prefix"), Iterator[LockInfo])
    for info in locks.list():
        assert_type(info.holders, tuple[Holder, ...])
        assert_type(info.waiting, int)
    assert_type(locks.break_lock("k", fence=5, reason="stuck"), bool)


# --- asyncio ----------------------------------------------------------------------------------------------------------


async def told_async(lease: AsyncLease) -> None:
    """Whatever a callback returns is not looked at."""


def async_locks_of_each_kind(locks: AsyncClient) -> None:
    assert_type(locks.mutex("k", on_lost="cancel"), AsyncLock)
    assert_type(locks.mutex("k", on_lost=print, reentrant=True), AsyncLock)
    assert_type(locks.rwlock("k"), AsyncRWLock)
    reader, writer = locks.rwlock("k")
    assert_type(reader, AsyncLock)
    assert_type(locks.semaphore("k", 3), AsyncLock)
    assert_type(locks.all_of(reader, writer), AsyncLock)
    assert_type(locks.pool("k"), AsyncPool)
    assert_type(locks.election("k"), AsyncElection)
    assert_type(locks.once("k", every=60), AsyncOnce)


async def async_leases(lock: AsyncLock) -> None:
    assert_type(lock.acquire(timeout=5), Acquiring)
    assert_type(await lock.acquire(), AsyncLease)
    assert_type(await lock.try_acquire(), AsyncLease | None)
    async with lock as lease:
        assert_type(lease, AsyncLease)
    async with lock.acquire(timeout=None) as lease:
        assert_type(lease, AsyncLease)
        assert_type(lease.lost, LossReason | None)
        lease.ensure()
        await lease.renew(ttl=timedelta(seconds=1))
        await lease.amend(b"x")
        await lease.downgrade()
        await lease.release()


def async_decorated(locks: AsyncClient) -> None:
    @locks.mutex("orders/{order}")
    async def charge(order: int) -> str:
        return f"{order}"

    assert_type(charge(1), Awaitable[str])

    @locks.once("report", every=3600)
    async def report() -> int:
        return 1

    assert_type(report(), Awaitable[int | None])


async def async_rest(locks: AsyncClient) -> None:
    pool = locks.pool("k")
    await pool.add("m")
    async for member in pool.members():
        assert_type(member, Member)
    async with pool.acquire(member="m") as lease:
        assert_type(lease, AsyncLease)
    assert_type(await pool.try_acquire(), AsyncLease | None)
    async with locks.election("k").lead() as lease:
        assert_type(lease, AsyncLease)
    assert_type(await locks.election("k").leader(), Holder | None)
    assert_type(locks.election("k").follow(), AsyncIterator[Holder | None])
    assert_type(await locks.inspect("k"), LockInfo | None)
    assert_type(locks.list(), AsyncIterator[LockInfo])
    assert_type(await locks.break_lock("k"), bool)


# --- errors -----------------------------------------------------------------------------------------------------------


def errors(call: Callable[[], None]) -> str:
    try:
        call()
    except AcquireTimeout as error:
        assert_type(error.key, str)
    except LeaseLost as error:
        assert_type(error.reason, str)
        assert_type(error.fence, int)
    except BadRecord as error:
        assert_type(error.key, str)
    except (NotHeld, WouldDeadlock, Contended, OutcomeUnknown, StoreUnavailable) as error:
        assert_type(error, NotHeld | WouldDeadlock | Contended | OutcomeUnknown | StoreUnavailable)
    except LockError as error:
        return error.key
    except (StoreError, ConfigError):
        return "store or configuration"
    except HoldfastError as error:
        return str(error)
    return ""
