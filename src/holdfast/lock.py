"""Something to acquire: a mutex, one side of a readers-writer lock, some permits of a semaphore.

A lock is a description and keeps nothing of who holds it, so one object may be used by many threads and tasks at once;
what is acquired is a lease.  The logic is in `BaseLock`, as programs; its two children only run them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, ParamSpec, TypeVar, cast

from holdfast.acquiring import Acquiring
from holdfast.decorating import filling, is_async, named, refuse_generator
from holdfast.durations import Seconds, deadline
from holdfast.engine.locking import Attempt, Taken, acquire
from holdfast.engine.program import FOREVER, SECOND, TICKS, Micros, Program
from holdfast.engine.store import look
from holdfast.errors import AcquireTimeout, ConfigError, StoreError
from holdfast.info import info_of
from holdfast.lease import AsyncLease, BaseLease, Lease
from holdfast.observe import events
from holdfast.refusals import check_refusal, not_in_time, would_deadlock
from holdfast.spec import Spec, lease_on, line_of

if TYPE_CHECKING:
    from holdfast.client import BaseClient
    from holdfast.client_tasks import AsyncClient
    from holdfast.client_threads import Client

P = ParamSpec("P")
R = TypeVar("R")
L = TypeVar("L", bound=BaseLease)


class BaseLock(Generic[L]):
    """What both colours of a lock have in common."""

    _lease: type[L]

    def __init__(self, client: BaseClient, spec: Spec) -> None:
        self._client = client
        self._spec = spec
        self._entered: dict[object, list[L]] = {}

    @property
    def key(self) -> str:
        """The lock's key."""
        return self._spec.key

    def __repr__(self) -> str:
        want = self._spec.want
        of = f" {want.weight} of {want.limit}" if want.kind in ("semaphore", "rwlock") and want.limit > 1 else ""
        if want.kind == "rwlock":
            of = " writer" if want.weight == want.limit else " reader"
        return f"<{type(self).__name__} {want.kind}{of} {self._spec.key!r}>"

    def _acquire(self, timeout: Seconds | None) -> Program[L]:
        lease = yield from self._take(timeout)
        if lease is None:
            raise (yield from self._timed_out(timeout))
        return lease

    def _timed_out(self, timeout: Seconds | None) -> Program[AcquireTimeout]:
        """Who was in the way, asked once more because only the one who is told pays for it."""
        spec = self._spec
        try:
            record, now = yield from look(self._client.site.store, spec.store_key)
        except StoreError:
            return not_in_time(spec.key, timeout, ())  # the answer was no already; this was for the message only
        return not_in_time(spec.key, timeout, info_of(spec.key, record, now).holders)

    def _take(self, timeout: Seconds | None) -> Program[L | None]:
        """A lease, or None when time was up."""
        now = yield TICKS
        return (yield from self._take_until(FOREVER if timeout is None else deadline(timeout, now), now))

    def _take_until(self, until: Micros, now: Micros) -> Program[L | None]:
        client, spec = self._client, self._spec
        site = client.site
        me, name = client.who()
        again = site.held.get((spec.line, me))
        if again is not None and again.loss() is None:
            if spec.reentrant:
                again.depth += 1
                return cast("L", again)
            if until > now:
                raise would_deadlock(client.colour, spec.key, spec.want, bool(again.line))
            return None
        owner = site.new_owner()
        if site.hooks:
            site.tell(events.Asked(spec.key, owner))
        want = spec.want
        line = spec.line if want.weight >= want.limit else ""
        answer = yield from acquire(
            site, Attempt(spec.store_key, line, want, owner, name, until, spec.fair, spec.key), now
        )
        if isinstance(answer, Taken):
            lease = lease_on(client, self._lease, spec, owner, answer, line)
            if line or want.kind == "rwlock":
                lease.holder = (spec.line, me)
                site.held[lease.holder] = lease
            if site.hooks:
                site.tell(events.Granted(spec.key, lease.fence, (answer.asked - now) / SECOND))
            if want.payload is not None and answer.reply.payload != (want.payload or None):
                yield from _bring(lease, want.payload)
            return lease
        if site.hooks:
            site.tell(events.Denied(spec.key, ((yield TICKS) - now) / SECOND))
        check_refusal(spec.key, want, answer)
        return None

    def _filled(self, func: Callable[..., Any]) -> Callable[..., BaseLock[L]]:
        """For a decorated function: the lock to take, its key filled from the arguments of the call."""
        if "{" not in self._spec.key:
            return lambda *_args, **_kwargs: self
        fill = filling(self._spec.key, func)
        return lambda *args, **kwargs: self._renamed(fill(args, kwargs))

    def _renamed(self, key: str) -> BaseLock[L]:
        store_key = self._client.store_key("lock", key)
        line = line_of(self._spec.want, store_key)
        return type(self)(self._client, self._spec._replace(key=key, store_key=store_key, line=line))


def _bring(lease: BaseLease, payload: bytes) -> Program[None]:
    """Whoever waited was handed the lock as it was: put our own payload there, or don't have the lock at all."""
    try:
        yield from lease._amend(payload)
    except GeneratorExit:
        raise
    except BaseException:
        yield from lease._release()
        raise


class Lock(BaseLock[Lease]):
    """Something to acquire; see the module.  Use it with `with`, as a decorator, or by hand."""

    _lease = Lease
    _client: Client

    def acquire(self, timeout: Seconds | None = None) -> Lease:
        """Wait for the lock: for ever (None), not at all (0), or so long; then raise `AcquireTimeout`."""
        return self._client.driver.run(self._acquire(timeout))

    def try_acquire(self, timeout: Seconds = 0.0) -> Lease | None:
        """A lease, or None if it was not to be had within that time."""
        return self._client.driver.run(self._take(timeout))

    def __enter__(self) -> Lease:
        lease = self.acquire()
        self._entered.setdefault(self._client.who()[0], []).append(lease)
        return lease

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        return _leave(self._entered, self._client.who()[0]).__exit__(kind, error, trace)

    def __call__(self, func: Callable[P, R]) -> Callable[P, R]:
        """Decorate a function: every call holds the lock.  `{name}` in the key is the argument of that name."""
        refuse_generator(func)
        if is_async(func):
            raise ConfigError(
                f"{named(func)} is a coroutine function, and this lock would block its event loop: "
                "use a lock made by connect_async()"
            )
        lock = self._filled(func)

        @wraps(func)
        def locked(*args: P.args, **kwargs: P.kwargs) -> R:
            with cast("Lock", lock(*args, **kwargs)):
                return func(*args, **kwargs)

        return locked


class AsyncLock(BaseLock[AsyncLease]):
    """Something to acquire, in asyncio; see `Lock`."""

    _lease = AsyncLease
    _client: AsyncClient

    def acquire(self, timeout: Seconds | None = None) -> Acquiring:
        """Await it, or `async with` it: wait for ever (None), not at all (0), or so long."""
        return Acquiring(lambda: self._client.driver.run(self._acquire(timeout)))

    async def try_acquire(self, timeout: Seconds = 0.0) -> AsyncLease | None:
        """A lease, or None if it was not to be had within that time."""
        return await self._client.driver.run(self._take(timeout))

    async def __aenter__(self) -> AsyncLease:
        lease = await self._client.driver.run(self._acquire(None))
        self._entered.setdefault(self._client.who()[0], []).append(lease)
        return await lease.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        return await _leave(self._entered, self._client.who()[0]).__aexit__(kind, error, trace)

    def __call__(self, func: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
        """Decorate a coroutine function: every call holds the lock.  `{name}` in the key is that argument."""
        refuse_generator(func)
        if not is_async(func):
            raise ConfigError(
                f"{named(func)} is no coroutine function, and this lock must be awaited: "
                "make it async, or use a lock made by connect()"
            )
        lock = self._filled(func)

        @wraps(func)
        async def locked(*args: P.args, **kwargs: P.kwargs) -> R:
            async with cast("AsyncLock", lock(*args, **kwargs)):
                return await func(*args, **kwargs)

        return locked


class RWLock(NamedTuple):
    """A readers-writer lock: many readers at once, or one writer; a waiting writer bars new readers."""

    reader: Lock
    writer: Lock


class AsyncRWLock(NamedTuple):
    """A readers-writer lock in asyncio; see `RWLock`."""

    reader: AsyncLock
    writer: AsyncLock


def _leave(entered: dict[object, list[L]], me: object) -> L:
    """The lease that this thread or task entered last."""
    stack = entered[me]
    lease = stack.pop()
    if not stack:
        del entered[me]
    return lease
