"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from holdfast.client import DEFAULTS, BaseClient, DriverMaker, Settings
from holdfast.core.record import MANY
from holdfast.drive.tasks import AsyncDriver
from holdfast.durations import Seconds
from holdfast.engine import forks
from holdfast.engine.keeper import Keeper
from holdfast.errors import ConfigError
from holdfast.info import HOST, LockInfo
from holdfast.lease import AsyncLease, cancel_body
from holdfast.lock import AsyncLock, AsyncRWLock
from holdfast.stores import Backend, Endpoint
from holdfast.url import Address

if TYPE_CHECKING:
    from holdfast.election import AsyncElection
    from holdfast.once import AsyncOnce, Guarantee
    from holdfast.pool import AsyncPool


def task_driver(backend: Backend, endpoint: Endpoint, keeper: Keeper) -> AsyncDriver:
    """The driver of a client in real life."""
    if backend.async_transport is None:
        raise ConfigError(f"{endpoint.address.scheme} works without asyncio only: use connect()")
    return AsyncDriver(backend.async_transport(endpoint), keeper)


class AsyncClient(BaseClient):
    """All the locks of one store, for asyncio; it belongs to the event loop it was made in.  See `Client`."""

    colour = "task"
    driver: AsyncDriver

    def __init__(
        self,
        address: Address,
        users_driver: Any = None,
        settings: Settings = DEFAULTS,
        make_driver: DriverMaker = task_driver,
    ) -> None:
        super().__init__(address, users_driver, settings, make_driver)
        forks.tell(self)

    def who(self) -> tuple[object, str]:
        """This task, and how it is described to others."""
        task = asyncio.current_task()
        return task, f"{HOST} {self._pid} {task.get_name() if task else ''}" if self._metadata else ""

    def after_fork(self) -> None:
        """In a forked child: its event loop is the parent's, so this client is of no use there."""
        self._closed = True

    def mutex(
        self,
        key: str,
        *,
        ttl: Seconds | None = None,
        payload: bytes | None = None,
        fair: bool | None = None,
        reentrant: bool = False,
        renew: bool = True,
        on_lost: Callable[[AsyncLease], object] | Literal["cancel"] | None = None,
    ) -> AsyncLock:
        """A lock that one holds at a time; see `Client.mutex`.

        on_lost="cancel": the body of the `async with` block is cancelled when the lease is lost, and the block ends
        with `LeaseLost`.
        """
        how = {"payload": payload, "fair": fair, "reentrant": reentrant, "on_lost": on_lost}
        return AsyncLock(self, self._mutex(key, "mutex", ttl, renew, **how))

    def _named_reaction(self, name: str) -> Callable[[Any], object]:
        if name != "cancel":
            raise ConfigError(f'on_lost={name!r} is not known: pass "cancel", or a function that takes the lease')
        return cancel_body

    def rwlock(self, key: str, *, ttl: Seconds | None = None, renew: bool = True) -> AsyncRWLock:
        """A lock that many readers hold at once, or one writer; a waiting writer bars new readers."""
        reader, writer = self._rwlock(key, 1, ttl, renew), self._rwlock(key, MANY, ttl, renew)
        return AsyncRWLock(AsyncLock(self, reader), AsyncLock(self, writer))

    def semaphore(
        self,
        key: str,
        permits: int,
        *,
        weight: int = 1,
        ttl: Seconds | None = None,
        fair: bool | None = None,
        renew: bool = True,
    ) -> AsyncLock:
        """A lock of so many permits, of which each acquire takes `weight`."""
        return AsyncLock(self, self._semaphore(key, permits, weight, ttl, fair, renew))

    def pool(self, key: str, *, ttl: Seconds | None = None, renew: bool = True) -> AsyncPool:
        """A set of named members, of which to take any free one."""
        from holdfast.pool import AsyncPool

        return AsyncPool(self, self._spec("mutex", key, 1, 1, ttl, renew))

    def election(self, key: str, *, ttl: Seconds | None = None) -> AsyncElection:
        """A leader among all who ask to lead."""
        from holdfast.election import AsyncElection

        return AsyncElection(self, self._mutex(key, "election", ttl, True, on_lost="cancel"))

    def all_of(self, *locks: AsyncLock) -> AsyncLock:
        """One lock made of several: all of them or none."""
        from holdfast.together import AsyncAllOf

        return AsyncAllOf(self, locks)

    def once(self, key: str, *, every: Seconds, guarantee: Guarantee = "at most once") -> AsyncOnce:
        """A decorator: the function runs once per period, however many processes call it; see `Client.once`."""
        from holdfast.once import AsyncOnce

        return AsyncOnce(self, key, every, guarantee)

    async def inspect(self, key: str) -> LockInfo | None:
        """Who holds the lock, who waits and what it carries; None if nobody, and nothing."""
        return await self.driver.run(self._inspect(key))

    async def list(self, prefix: str = "") -> AsyncIterator[LockInfo]:
        """All locks whose keys start like that, page by page."""
        after = None
        while after != "":
            infos, after = await self.driver.run(self._page(prefix, after or ""))
            for info in infos:
                yield info

    async def break_lock(self, key: str, *, fence: int | None = None, reason: str = "") -> bool:
        """Take the lock from its holders (only from the one with that fence, if given); see `Client.break_lock`."""
        return await self.driver.run(self._break_lock(key, fence, reason))

    async def close(self) -> None:
        """Release what is held, stop renewing, and disconnect.  What the user made, stays open."""
        if self._closed:
            return
        self._closed = True
        self.driver.dismiss()
        try:
            await self.driver.run(self._leave())
        finally:
            await self.driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        await self.close()
        return False
