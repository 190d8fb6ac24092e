"""A leader among all who ask to lead; the others can see who it is, and follow the changes.

To lead is to hold a mutex.  Leadership ends as a lease does: by leaving the block, or by being lost, which the leader
is told at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from holdfast.acquiring import Acquiring
from holdfast.durations import Seconds, micros
from holdfast.engine.program import TICKS, Micros, Pause, Program
from holdfast.errors import ConfigError
from holdfast.info import Holder
from holdfast.lease import Lease
from holdfast.lock import AsyncLock, BaseLock, Lock
from holdfast.spec import Spec

if TYPE_CHECKING:
    from holdfast.client import BaseClient
    from holdfast.client_tasks import AsyncClient
    from holdfast.client_threads import Client


def pause_between(poll: Seconds) -> Micros:
    """How long to pause before looking again."""
    pause = micros(poll, "poll")
    if not pause:
        raise ConfigError("poll=0 would ask without end: pass the seconds between two looks")
    return pause


class _BaseElection:
    """What both colours of an election have in common."""

    def __init__(self, client: BaseClient, lock: BaseLock[Any]) -> None:
        self._client = client
        self._lock = lock

    @property
    def key(self) -> str:
        """The election's key."""
        key: str = self._lock.key
        return key

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.key!r}>"

    def _leader(self) -> Program[Holder | None]:
        info = yield from self._client._inspect(self.key)
        return info.holders[0] if info is not None and info.holders else None

    def _change(self, leader: Holder | None, poll: Micros) -> Program[Holder | None]:
        """Wait until the leader is another one than this."""
        fence = leader.fence if leader else 0
        while True:
            leader = yield from self._leader()
            if (leader.fence if leader else 0) != fence:
                return leader
            now = yield TICKS
            yield Pause(None, now + poll)


class Election(_BaseElection):
    """A leader among all who ask to lead; see the module."""

    _client: Client
    _lock: Lock

    def __init__(self, client: Client, spec: Spec) -> None:
        super().__init__(client, Lock(client, spec))

    def lead(self, timeout: Seconds | None = None) -> Lease:
        """Wait to become the leader; use the lease with `with`: leaving the block resigns.

        If leadership is lost meanwhile, `lease.lost` says so at once and the block ends with `LeaseLost`.
        """
        return self._lock.acquire(timeout)

    def leader(self) -> Holder | None:
        """Who leads now."""
        return self._client.driver.run(self._leader())

    def follow(self, *, poll: Seconds = 0.5) -> Iterator[Holder | None]:
        """Who leads now, and then every change as it is seen; None: nobody does.  It never ends by itself."""
        pause = pause_between(poll)
        leader = self.leader()
        while True:
            yield leader
            leader = self._client.driver.run(self._change(leader, pause))


class AsyncElection(_BaseElection):
    """A leader among all who ask to lead, in asyncio; see the module."""

    _client: AsyncClient
    _lock: AsyncLock

    def __init__(self, client: AsyncClient, spec: Spec) -> None:
        super().__init__(client, AsyncLock(client, spec))

    def lead(self, timeout: Seconds | None = None) -> Acquiring:
        """`async with` it to lead: the body is cancelled when leadership is lost, and the block ends with `LeaseLost`."""
        return self._lock.acquire(timeout)

    async def leader(self) -> Holder | None:
        """Who leads now."""
        return await self._client.driver.run(self._leader())

    async def follow(self, *, poll: Seconds = 0.5) -> AsyncIterator[Holder | None]:
        """Who leads now, and then every change as it is seen; None: nobody does.  It never ends by itself."""
        pause = pause_between(poll)
        leader = await self.leader()
        while True:
            yield leader
            leader = await self._client.driver.run(self._change(leader, pause))
