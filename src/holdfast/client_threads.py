"""The client for threads."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from threading import current_thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self
from weakref import WeakSet

from holdfast.client import DEFAULTS, BaseClient, DriverMaker, Settings
from holdfast.core.record import MANY
from holdfast.drive.threads import Driver
from holdfast.durations import Seconds
from holdfast.engine import forks
from holdfast.engine.keeper import Keeper
from holdfast.errors import ConfigError
from holdfast.info import HOST, LockInfo
from holdfast.lease import Lease
from holdfast.lock import Lock, RWLock
from holdfast.stores import Backend, Endpoint
from holdfast.url import Address

if TYPE_CHECKING:
    from holdfast.election import Election
    from holdfast.once import Guarantee, Once
    from holdfast.pool import Pool


def thread_driver(backend: Backend, endpoint: Endpoint, keeper: Keeper) -> Driver:
    """The driver of a client in real life."""
    if backend.transport is None:
        raise ConfigError(f"{endpoint.address.scheme} works with asyncio only: use connect_async()")
    return Driver(backend.transport(endpoint), keeper)


class Client(BaseClient):
    """All the locks of one store, for threads.  Made by `connect()`; one per process is enough."""

    colour = "thread"
    driver: Driver

    def __init__(
        self,
        address: Address,
        users_driver: Any = None,
        settings: Settings = DEFAULTS,
        make_driver: DriverMaker = thread_driver,
    ) -> None:
        super().__init__(address, users_driver, settings, make_driver)
        _open_clients.add(self)
        forks.tell(self)

    def who(self) -> tuple[object, str]:
        """This thread, and how it is described to others; its number would be another thread's once it has ended."""
        thread = current_thread()
        return thread, f"{HOST} {self._pid} {thread.name}" if self._metadata else ""

    def after_fork(self) -> None:
        """In a forked child: hold nothing, and work on our own."""
        if not self._closed:
            self.driver.transport.forget()
            self._open()

    def mutex(
        self,
        key: str,
        *,
        ttl: Seconds | None = None,
        payload: bytes | None = None,
        fair: bool | None = None,
        reentrant: bool = False,
        renew: bool = True,
        on_lost: Callable[[Lease], object] | None = None,
    ) -> Lock:
        """A lock that one holds at a time.

        payload: what the lock is to carry once it is acquired.  fair: served in order of asking (the default where the
        store can wake a waiter).  reentrant: the same thread may enter again.  renew: the lease renews itself until it
        is released.  on_lost: called, from the keeper's thread, when it is lost.
        """
        how = {"payload": payload, "fair": fair, "reentrant": reentrant, "on_lost": on_lost}
        return Lock(self, self._mutex(key, "mutex", ttl, renew, **how))

    def rwlock(self, key: str, *, ttl: Seconds | None = None, renew: bool = True) -> RWLock:
        """A lock that many readers hold at once, or one writer; a waiting writer bars new readers."""
        reader, writer = self._rwlock(key, 1, ttl, renew), self._rwlock(key, MANY, ttl, renew)
        return RWLock(Lock(self, reader), Lock(self, writer))

    def semaphore(
        self,
        key: str,
        permits: int,
        *,
        weight: int = 1,
        ttl: Seconds | None = None,
        fair: bool | None = None,
        renew: bool = True,
    ) -> Lock:
        """A lock of so many permits, of which each acquire takes `weight`."""
        return Lock(self, self._semaphore(key, permits, weight, ttl, fair, renew))

    def pool(self, key: str, *, ttl: Seconds | None = None, renew: bool = True) -> Pool:
        """A set of named members, of which to take any free one."""
        from holdfast.pool import Pool

        return Pool(self, self._spec("mutex", key, 1, 1, ttl, renew))

    def election(self, key: str, *, ttl: Seconds | None = None) -> Election:
        """A leader among all who ask to lead."""
        from holdfast.election import Election

        return Election(self, self._mutex(key, "election", ttl, True))

    def all_of(self, *locks: Lock) -> Lock:
        """One lock made of several: all of them or none."""
        from holdfast.together import AllOf

        return AllOf(self, locks)

    def once(self, key: str, *, every: Seconds, guarantee: Guarantee = "at most once") -> Once:
        """A decorator: the function runs once per period, however many processes call it.

        "at most once": a period in which the runner fails or crashes is skipped.  "at least once": somebody else runs
        it again.
        """
        from holdfast.once import Once

        return Once(self, key, every, guarantee)

    def inspect(self, key: str) -> LockInfo | None:
        """Who holds the lock, who waits and what it carries; None if nobody, and nothing."""
        return self.driver.run(self._inspect(key))

    def list(self, prefix: str = "") -> Iterator[LockInfo]:
        """All locks whose keys start like that, page by page."""
        infos, after = self.driver.run(self._page(prefix, ""))
        yield from infos
        while after:
            infos, after = self.driver.run(self._page(prefix, after))
            yield from infos

    def break_lock(self, key: str, *, fence: int | None = None, reason: str = "") -> bool:
        """Take the lock from its holders (only from the one with that fence, if given); they are told by whom and why.

        True: something was taken.
        """
        return self.driver.run(self._break_lock(key, fence, reason))

    def close(self) -> None:
        """Release what is held, stop renewing, and disconnect.  What the user made, stays open."""
        if self._closed:
            return
        self._closed = True
        _open_clients.discard(self)
        self.driver.dismiss()
        try:
            self.driver.run(self._leave())
        finally:
            self.driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        self.close()
        return False


_open_clients: WeakSet[Client] = WeakSet()


def _close_all() -> None:
    """At the interpreter's end: give back what is still held."""
    for client in list(_open_clients):
        client.close()


atexit.register(_close_all)
