"""One store, and all the locks on it: `connect()`, `Client` and their twins for asyncio."""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Sequence
from threading import current_thread, get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self
from weakref import WeakSet

from holdfast.core.ops import Revoke, Revoked, Want
from holdfast.core.record import MANY, Kind
from holdfast.durations import Seconds, micros
from holdfast.engine import forks
from holdfast.engine.keeper import Keeper
from holdfast.engine.locking import insist
from holdfast.engine.program import SECOND, TICKS, Program
from holdfast.engine.site import Site
from holdfast.engine.store import Page
from holdfast.errors import ConfigError
from holdfast.info import HOST, LockInfo, info_of
from holdfast.keys import Area, check_name, head, member_of, shown
from holdfast.lease import AsyncLease, BaseLease, Lease, cancel_body
from holdfast.lock import AsyncLock, AsyncRWLock, BaseLock, Lock, RWLock, Spec
from holdfast.observe import events
from holdfast.stores import Backend, Place
from holdfast.url import Address, backend_for, check_options, locate

if TYPE_CHECKING:
    from holdfast.drive.tasks import AsyncDriver
    from holdfast.drive.threads import Driver
    from holdfast.election import AsyncElection, Election
    from holdfast.observe.events import Hook
    from holdfast.once import AsyncOnce, Guarantee, Once
    from holdfast.pool import AsyncPool, Pool

PAGE = 200
DEFAULT_TTL = 30.0
LONGEST_TTL = 7 * 24 * 3600.0
"""A longer lease is a typing error, or wants to be a `once`."""


class BaseClient:
    """What both colours of a client have in common."""

    colour: str
    driver: Any
    site: Site

    def __init__(
        self, address: Address, driver: Any, namespace: str, ttl: Seconds, hooks: Sequence[Hook], metadata: bool
    ) -> None:
        self._backend = backend_for(address.scheme)
        check_options(address, tuple(self._backend.options))
        if namespace:
            check_name(namespace, "namespace")
        self.address = address
        self.namespace = namespace
        self._users_driver = driver
        self._hooks = tuple(hooks)
        self._metadata = metadata
        self._heads: dict[Area, str] = {area: head(namespace, area) for area in ("lock", "pool", "once")}
        self._store = self._backend.store(address)
        self._min_ttl = micros(self._store.traits.min_ttl, "min_ttl")
        self._ttl = self._check_ttl(ttl)
        self._closed = False

    def _open(self, make_driver: Callable[[Backend, Place, Keeper], Any]) -> Any:
        """Take a name of our own, and connect."""
        place = Place(self.address, os.urandom(10).hex(), self._users_driver)
        keeper = Keeper()
        driver = make_driver(self._backend, place, keeper)
        site = Site(
            place.client,
            self._store,
            ticks=driver.clock.ticks,
            chance=random.random,
            bell=driver.bell,
            keeper=keeper,
        )
        keeper.site = site
        site.hooks = self._hooks
        if self._hooks:
            driver.tell = site.tell
        self.site = site
        self._pid = os.getpid()
        return driver

    def __repr__(self) -> str:
        where = f"{self.address}{f', namespace {self.namespace!r}' if self.namespace else ''}"
        return f"<{type(self).__name__} of {where}{', closed' if self._closed else ''}>"

    def who(self) -> tuple[object, str]:
        """The thread or task that is running, and how it is described to others."""
        raise NotImplementedError

    # --- making locks -------------------------------------------------------------------------------------------------

    def store_key(self, area: Area, key: str) -> str:
        """The key under which a store knows it."""
        return self._heads[area] + check_name(key)

    def _check_ttl(self, ttl: Seconds | None) -> int:
        if ttl is None:
            return self._ttl
        length = micros(ttl, "ttl")
        if not self._min_ttl <= length <= LONGEST_TTL * SECOND:
            raise ConfigError(
                f"a ttl of {length / SECOND} s can't work on {self.address.scheme}: "
                f"choose from {self._min_ttl / SECOND} to {LONGEST_TTL:.0f} s"
            )
        return length

    def _spec(
        self,
        kind: Kind,
        key: str,
        limit: int,
        weight: int,
        ttl: Seconds | None,
        renew: bool,
        *,
        fair: bool | None = None,
        reentrant: bool = False,
        payload: bytes | None = None,
        on_lost: Callable[[Any], object] | str | None = None,
    ) -> Spec:
        if self._closed:
            raise ConfigError(f"this client of {self.address} is closed: connect again")
        if payload is not None and not isinstance(payload, bytes):
            raise ConfigError(f"a payload is bytes, not {type(payload).__name__}: encode it first")
        if isinstance(on_lost, str):
            on_lost = self._named_reaction(on_lost)
        want = Want(kind, limit, weight, self._check_ttl(ttl), payload)
        in_line = self.site.push if fair is None else fair
        store_key = self.store_key("lock", key)
        return Spec(key, store_key, f"{kind} {store_key}", want, in_line, reentrant, renew, on_lost)

    def _named_reaction(self, name: str) -> Callable[[Any], object]:
        raise ConfigError(f"on_lost={name!r} is not known here: pass a function that takes the lease")

    def _mutex(self, key: str, kind: Kind, ttl: Seconds | None, renew: bool, **how: Any) -> Spec:
        return self._spec(kind, key, 1, 1, ttl, renew, **how)

    def _semaphore(
        self, key: str, permits: int, weight: int, ttl: Seconds | None, fair: bool | None, renew: bool
    ) -> Spec:
        for what, number in (("permits", permits), ("weight", weight)):
            if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MANY:
                raise ConfigError(f"{what} is {number!r}: it must be a whole number from 1 to {MANY}")
        if weight > permits:
            raise ConfigError(f"a weight of {weight} never fits into {permits} permits: ask for fewer")
        return self._spec("semaphore", key, permits, weight, ttl, renew, fair=fair)

    def _rwlock(self, key: str, weight: int, ttl: Seconds | None, renew: bool) -> Spec:
        in_line = True if weight > 1 else None
        return self._spec("rwlock", key, MANY, weight, ttl, renew, fair=in_line)

    # --- looking and breaking -----------------------------------------------------------------------------------------

    def _inspect(self, key: str) -> Program[LockInfo | None]:
        store_key = self.store_key("lock", key)
        page = yield from self.site.store.scan(store_key, "", 1)
        for found, record in page.records:
            info = info_of(key, record, page.now)
            if found == store_key and (info.holders or info.waiting or info.payload):
                return info
        return None

    def _page(self, prefix: str, after: str) -> Program[tuple[list[LockInfo], str]]:
        """The locks of one page that are held, waited for or carry something; and where the next page begins."""
        start = self._heads["lock"]
        page: Page = yield from self.site.store.scan(start + prefix, after, PAGE)
        infos = [info_of(key[len(start) :], record, page.now) for key, record in page.records]
        last = page.records[-1][0] if len(page.records) == PAGE else ""
        return [info for info in infos if info.holders or info.waiting or info.payload], last

    def _break_lock(self, key: str, fence: int | None, reason: str) -> Program[bool]:
        by = f"pid {os.getpid()} on {HOST}" if self._metadata else "somebody"
        op = Revoke(self.site.new_owner(), by, reason, fence)
        now = yield TICKS
        reply, _ = yield from insist(self.site, self.store_key("lock", key), op, now + 5 * SECOND)
        broken = type(reply) is Revoked and bool(reply.owners)
        if broken:
            self.site.tell(events.Broken(key, reason))
        return broken


class Client(BaseClient):
    """All the locks of one store, for threads.  Made by `connect()`; one per process is enough."""

    colour = "thread"
    driver: Driver

    def __init__(
        self,
        address: Address,
        driver: Any = None,
        *,
        namespace: str = "",
        ttl: Seconds = DEFAULT_TTL,
        hooks: Sequence[Hook] = (),
        metadata: bool = True,
        make_driver: Callable[[Backend, Place, Keeper], Driver] | None = None,
    ) -> None:
        super().__init__(address, driver, namespace, ttl, hooks, metadata)
        self._make_driver = make_driver or _thread_driver
        self.driver = self._open(self._make_driver)
        _open_clients.add(self)
        forks.tell(self)

    def who(self) -> tuple[object, str]:
        """This thread, and how it is described to others."""
        return get_ident(), f"{HOST} {self._pid} {current_thread().name}" if self._metadata else ""

    def after_fork(self) -> None:
        """In a forked child: hold nothing, and work on our own."""
        if not self._closed:
            self.driver.transport.forget()
            self.driver = self._open(self._make_driver)

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
        for hold in self.site.keeper.holds():
            if isinstance(hold, Lease):
                hold.depth = 1
                hold.release()
        self.driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        self.close()
        return False


class AsyncClient(BaseClient):
    """All the locks of one store, for asyncio; it belongs to the event loop it was made in.  See `Client`."""

    colour = "task"
    driver: AsyncDriver

    def __init__(
        self,
        address: Address,
        driver: Any = None,
        *,
        namespace: str = "",
        ttl: Seconds = DEFAULT_TTL,
        hooks: Sequence[Hook] = (),
        metadata: bool = True,
        make_driver: Callable[[Backend, Place, Keeper], AsyncDriver] | None = None,
    ) -> None:
        super().__init__(address, driver, namespace, ttl, hooks, metadata)
        import asyncio

        self._current_task = asyncio.current_task
        self._make_driver = make_driver or _task_driver
        self.driver = self._open(self._make_driver)
        forks.tell(self)

    def who(self) -> tuple[object, str]:
        """This task, and how it is described to others."""
        task = self._current_task()
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
        for hold in self.site.keeper.holds():
            if isinstance(hold, AsyncLease):
                hold.depth = 1
                await hold.release()
        await self.driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        await self.close()
        return False


# --- connecting ------------------------------------------------------------------------------------------------------


def connect(
    target: str | object | None = None,
    *,
    namespace: str = "",
    ttl: Seconds = DEFAULT_TTL,
    hooks: Sequence[Hook] = (),
    metadata: bool = True,
    **options: object,
) -> Client:
    """A client of the store at a URL, or of a database client that you have already (what you made, you close).

    Without a target: `$HOLDFAST_URL`, else an embedded file in your state directory.  namespace: keeps the keys of
    different applications apart.  ttl: how long a lease lives without being renewed.  hooks: called with every event.
    metadata=False: tell others nothing of this host, process and thread.  options: as in the URL, behind the `?`.
    """
    address, driver = locate(target, options)
    return Client(address, driver, namespace=namespace, ttl=ttl, hooks=hooks, metadata=metadata)


def connect_async(
    target: str | object | None = None,
    *,
    namespace: str = "",
    ttl: Seconds = DEFAULT_TTL,
    hooks: Sequence[Hook] = (),
    metadata: bool = True,
    **options: object,
) -> Connecting:
    """The same for asyncio: `await` it for the client, or `async with` it."""
    address, driver = locate(target, options)
    return Connecting(
        lambda: AsyncClient(address, driver, namespace=namespace, ttl=ttl, hooks=hooks, metadata=metadata)
    )


class Connecting:
    """A connection that has not begun: `await` it, or `async with` it."""

    __slots__ = ("_client", "_make")

    def __init__(self, make: Callable[[], AsyncClient]) -> None:
        self._make = make
        self._client: AsyncClient | None = None

    def __await__(self) -> Generator[Any, None, AsyncClient]:
        return self._connect().__await__()

    async def _connect(self) -> AsyncClient:
        return self._make()

    async def __aenter__(self) -> AsyncClient:
        self._client = self._make()
        return self._client

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        assert self._client is not None, "__aenter__ came first"
        await self._client.close()
        return False


def _thread_driver(backend: Backend, place: Place, keeper: Keeper) -> Driver:
    from holdfast.drive.threads import Driver

    if backend.transport is None:
        raise ConfigError(f"{place.address.scheme} works with asyncio only: use connect_async()")
    return Driver(backend.transport(place), keeper)


def _task_driver(backend: Backend, place: Place, keeper: Keeper) -> AsyncDriver:
    from holdfast.drive.tasks import AsyncDriver

    if backend.async_transport is None:
        raise ConfigError(f"{place.address.scheme} works without asyncio only: use connect()")
    return AsyncDriver(backend.async_transport(place), keeper)


_open_clients: WeakSet[Client] = WeakSet()


def _close_all() -> None:
    """At the interpreter's end: give back what is still held."""
    for client in list(_open_clients):
        client.close()


def _at_exit() -> None:
    import atexit

    atexit.register(_close_all)


_at_exit()

__all__ = ["AsyncClient", "Awaitable", "BaseLease", "BaseLock", "Client", "connect", "connect_async", "member_of", "shown"]
