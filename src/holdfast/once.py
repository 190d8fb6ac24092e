"""Once per period, however many processes start it at the same time.

A mutex keeps others away while the function runs, and a mark on it says when it was begun last.  "at most once" writes
the mark before the function runs: if the runner then fails or crashes, that period is skipped.  "at least once" writes
it when the function has returned: if the runner fails or crashes, the next caller runs it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, Generic, Literal, ParamSpec, TypeAlias, TypeVar

from holdfast.core.ops import Amend, Want
from holdfast.decorating import is_async, named, refuse_generator
from holdfast.durations import Seconds, micros
from holdfast.engine.locking import Attempt, Taken, ask
from holdfast.engine.program import TICKS, Micros, Program
from holdfast.errors import ConfigError
from holdfast.lease import AsyncLease, BaseLease, Lease
from holdfast.observe import events
from holdfast.spec import Spec, lease_on

if TYPE_CHECKING:
    from holdfast.client import BaseClient
    from holdfast.client_tasks import AsyncClient
    from holdfast.client_threads import Client

P = ParamSpec("P")
R = TypeVar("R")
L = TypeVar("L", bound=BaseLease)

Guarantee: TypeAlias = Literal["at most once", "at least once"]


class _BaseOnce(Generic[L]):
    """What both colours have in common."""

    _lease: type[L]

    def __init__(self, client: BaseClient, key: str, every: Seconds, guarantee: Guarantee) -> None:
        if guarantee not in ("at most once", "at least once"):
            raise ConfigError(f'guarantee={guarantee!r} is not known: choose "at most once" or "at least once"')
        self._client = client
        self._every = micros(every, "every")
        if not self._every:
            raise ConfigError("every=0 is no period: pass the seconds between two runs")
        self._early = guarantee == "at most once"
        want = Want(ttl=client._ttl)
        self._spec = Spec(key, client.store_key("once", key), "", want, False, False, True, None)

    @property
    def key(self) -> str:
        """The key of the job."""
        return self._spec.key

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.key!r}>"

    def _begin(self) -> Program[tuple[L, Micros] | None]:
        """A lease to run under, and the moment that counts as the start; None: it is not our turn."""
        site, spec = self._client.site, self._spec
        (_, name), owner, now = self._client.who(), site.new_owner(), (yield TICKS)
        site.tell(events.Asked(spec.key, owner))
        taken = yield from ask(site, Attempt(spec.store_key, "", spec.want, owner, name, now, False))
        if type(taken) is not Taken:
            site.tell(events.Denied(spec.key, 0.0))
            return None
        lease = lease_on(self._client, self._lease, spec, owner, taken, "")
        site.tell(events.Granted(spec.key, lease.fence, 0.0))
        last = int(taken.reply.payload or b"0")
        start = taken.reply.now
        try:
            if last and start < last + self._every:
                yield from lease._release()
                return None
            if self._early:
                yield from self._mark(lease, start)
        except GeneratorExit:
            raise
        except BaseException:
            yield from lease._release()
            raise
        return lease, start

    def _mark(self, lease: BaseLease, start: Micros) -> Program[None]:
        yield from lease._ask(Amend(lease.owner, b"%d" % start, start + self._every))

    def _end(self, lease: L, start: Micros, failed: bool) -> Program[None]:
        try:
            if not self._early and not failed:
                yield from self._mark(lease, start)
        finally:
            yield from lease._release()


class Once(_BaseOnce[Lease]):
    """Decorates a function so that it runs once per period; see the module."""

    _lease = Lease
    _client: Client

    def __call__(self, func: Callable[P, R]) -> Callable[P, R | None]:
        """The decorated function returns None when it was not its turn."""
        refuse_generator(func)
        if is_async(func):
            raise ConfigError(f"{named(func)} is a coroutine function: use a client made by connect_async()")

        @wraps(func)
        def run(*args: P.args, **kwargs: P.kwargs) -> R | None:
            begun = self._client.driver.run(self._begin())
            if begun is None:
                return None
            failed = True
            try:
                result = func(*args, **kwargs)
                failed = False
            finally:
                self._client.driver.run(self._end(*begun, failed))
            return result

        return run


class AsyncOnce(_BaseOnce[AsyncLease]):
    """Decorates a coroutine function so that it runs once per period; see the module."""

    _lease = AsyncLease
    _client: AsyncClient

    def __call__(self, func: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R | None]]:
        """The decorated function returns None when it was not its turn."""
        refuse_generator(func)
        if not is_async(func):
            raise ConfigError(f"{named(func)} is no coroutine function: use a client made by connect()")

        @wraps(func)
        async def run(*args: P.args, **kwargs: P.kwargs) -> R | None:
            begun = await self._client.driver.run(self._begin())
            if begun is None:
                return None
            failed = True
            try:
                result = await func(*args, **kwargs)
                failed = False
            finally:
                await self._client.driver.run(self._end(*begun, failed))
            return result

        return run
