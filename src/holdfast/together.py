"""All of several locks, or none.

It waits for one lock at a time while holding none of the others, and takes the rest only if they are free at once; if
one is not, everything is given back and that one is waited for next.  So nobody waits for ever while holding
something, whatever the others do; and since all begin in the order of the keys, they rarely meet half-way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from holdfast.core.ops import Want
from holdfast.durations import Seconds
from holdfast.engine.hold import LossReason
from holdfast.engine.program import TICKS, Micros, Program
from holdfast.errors import AcquireTimeout, ConfigError, LeaseLost, LockError
from holdfast.lease import AsyncLease, BaseLease, Cancel, Lease, cancel_body
from holdfast.lock import AsyncLock, BaseLock, Lock
from holdfast.spec import Spec

if TYPE_CHECKING:
    from holdfast.client_tasks import AsyncClient
    from holdfast.client_threads import Client

L = TypeVar("L", bound=BaseLease)


def spec_of(client: Any, locks: Sequence[BaseLock[Any]]) -> tuple[Spec, list[BaseLock[Any]]]:
    """What they are together, and the order in which to begin with them."""
    if not locks:
        raise ConfigError("all_of() of nothing locks nothing: pass at least one lock")
    for lock in locks:
        if not isinstance(lock, BaseLock) or lock._client is not client:
            raise ConfigError("all_of() takes locks of the client it is called on: make them all with this one")
    ordered = sorted(locks, key=lambda lock: lock._spec.store_key)
    for one, other in pairwise(ordered):
        if one.key == other.key:
            raise ConfigError(f"all_of() was given {one.key!r} twice and would wait for itself: pass it once")
    key = " + ".join(lock.key for lock in locks)
    return Spec(key, "", "", Want(), False, False, True, None), ordered


class _Together(BaseLock[L], Generic[L]):
    """What both colours have in common."""

    _parts: list[BaseLock[L]]

    def _take_until(self, until: Micros, now: Micros) -> Program[L | None]:
        first = 0
        while True:
            taken: list[L] = []
            try:
                blocked = yield from self._take_all(first, until, now, taken)
            except GeneratorExit:
                raise
            except BaseException:
                yield from _give_back(taken)
                raise
            if blocked is None:
                return self._made_of(taken)
            yield from _give_back(taken)
            now = yield TICKS
            if now >= until:
                return None
            first = blocked

    def _take_all(self, first: int, until: Micros, now: Micros, taken: list[L]) -> Program[int | None]:
        """Wait for one, take the others at once; the number of the one that could not be had, or None."""
        for number in (first, *(other for other in range(len(self._parts)) if other != first)):
            lease = yield from self._parts[number]._take_until(until if number == first else now, now)
            if lease is None:
                return number
            taken.append(lease)
            now = yield TICKS
        return None

    def _made_of(self, taken: list[L]) -> L:
        one: Any = taken[0]
        made: Any = self._lease(one.site, self.key, "", one.owner, one.ttl, one.born)
        made._driver = one._driver
        made.parts = tuple(sorted(taken, key=lambda lease: lease.store_key))
        made.fence = max(lease.fence for lease in taken)
        return cast("L", made)

    def _timed_out(self, timeout: Seconds | None) -> Program[AcquireTimeout]:
        error = yield from self._parts[0]._timed_out(timeout)
        for lock in self._parts[1:]:
            if error.holders:
                break
            error = yield from lock._timed_out(timeout)
        return error


def _give_back(leases: Sequence[BaseLease]) -> Program[None]:
    for lease in reversed(leases):
        yield from lease._release()


class _SeveralLeases(BaseLease):
    """What both colours of such a lease have in common: what concerns one concerns all."""

    __slots__ = ()

    parts: tuple[Any, ...]

    @property
    def remaining(self) -> float:
        return min(float(part.remaining) for part in self.parts)

    def loss(self) -> LossReason | None:
        for part in self.parts:
            reason: LossReason | None = part.loss()
            if reason is not None:
                self.lost_for: LossReason | None = reason
                return reason
        return None

    def _error(self) -> LeaseLost:
        for part in self.parts:
            if part.loss() is not None:
                error: LeaseLost = part._error()
                return error
        return super()._error()

    def _renew(self, ttl: Seconds | None) -> Program[None]:
        for part in self.parts:
            yield from part._renew(ttl)

    def _amend(self, payload: bytes) -> Program[None]:
        raise ConfigError(f"the lease on {self.key!r} is several leases: amend one of its .parts")
        yield

    def _downgrade(self) -> Program[None]:
        raise ConfigError(f"the lease on {self.key!r} is several leases: downgrade one of its .parts")
        yield

    def _release(self) -> Program[None]:
        self.ended = True
        with suppress(LockError):
            yield from _give_back(self.parts)


class AllLease(_SeveralLeases, Lease):
    """Proof of holding several locks; `parts` are the leases on each, in the order of their keys."""

    __slots__ = ("parts",)


class AsyncAllLease(_SeveralLeases, AsyncLease):
    """Proof of holding several locks, in asyncio; `parts` are the leases on each."""

    __slots__ = ("parts",)

    async def __aenter__(self) -> Self:
        eager = [part for part in self.parts if part.on_lost is cancel_body]
        if eager:
            self.on_lost: Callable[[Any], object] | None = Cancel()
        for part in eager:
            part.on_lost = self.on_lost
        return self


class AllOf(_Together[Lease], Lock):
    """Several locks as one."""

    _lease = AllLease

    def __init__(self, client: Client, locks: Sequence[Lock]) -> None:
        spec, self._parts = spec_of(client, locks)
        Lock.__init__(self, client, spec)


class AsyncAllOf(_Together[AsyncLease], AsyncLock):
    """Several locks as one, in asyncio."""

    _lease = AsyncAllLease

    def __init__(self, client: AsyncClient, locks: Sequence[AsyncLock]) -> None:
        spec, self._parts = spec_of(client, locks)
        AsyncLock.__init__(self, client, spec)
