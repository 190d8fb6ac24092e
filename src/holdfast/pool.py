"""Give me any free one: a set of named members, each a lock of its own, with a payload.

The logic is in `pooling`, as programs; these two only run them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from holdfast.acquiring import Acquiring
from holdfast.durations import Seconds
from holdfast.lease import AsyncLease, Lease
from holdfast.pooling import BasePool, Member, Where

if TYPE_CHECKING:
    from holdfast.client_tasks import AsyncClient
    from holdfast.client_threads import Client


class Pool(BasePool[Lease]):
    """A set of named members, of which to take any free one; see the module."""

    _lease = Lease
    _client: Client

    def add(self, member: str, payload: bytes | None = None) -> None:
        """Make it a member, with this payload; again: replace the payload."""
        self._client.driver.run(self._add(member, payload))

    def remove(self, member: str) -> None:
        """It is a member no more; whoever holds it keeps it until released."""
        self._client.driver.run(self._remove(member))

    def members(self) -> Iterator[Member]:
        """All members in the order of their names, page by page."""
        members, after = self._client.driver.run(self._page(""))
        yield from members
        while after:
            members, after = self._client.driver.run(self._page(after))
            yield from members

    def acquire(
        self, timeout: Seconds | None = None, *, member: str | None = None, where: Where | None = None
    ) -> Lease:
        """A lease on any free member, on the one named `member`, or on any whose payload fits `where`.

        `lease.member` says which.  Waits as a lock's `acquire` does.
        """
        return self._client.driver.run(self._acquire(timeout, member, where))

    def try_acquire(
        self, timeout: Seconds = 0.0, *, member: str | None = None, where: Where | None = None
    ) -> Lease | None:
        """The same, or None if it was not to be had within that time."""
        return self._client.driver.run(self._take(timeout, member, where))


class AsyncPool(BasePool[AsyncLease]):
    """A set of named members, of which to take any free one, in asyncio; see the module."""

    _lease = AsyncLease
    _client: AsyncClient

    async def add(self, member: str, payload: bytes | None = None) -> None:
        """Make it a member, with this payload; again: replace the payload."""
        await self._client.driver.run(self._add(member, payload))

    async def remove(self, member: str) -> None:
        """It is a member no more; whoever holds it keeps it until released."""
        await self._client.driver.run(self._remove(member))

    async def members(self) -> AsyncIterator[Member]:
        """All members in the order of their names, page by page."""
        after = None
        while after != "":
            members, after = await self._client.driver.run(self._page(after or ""))
            for member in members:
                yield member

    def acquire(
        self, timeout: Seconds | None = None, *, member: str | None = None, where: Where | None = None
    ) -> Acquiring:
        """Await it, or `async with` it, for a lease; see `Pool.acquire`."""
        return Acquiring(lambda: self._client.driver.run(self._acquire(timeout, member, where)))

    async def try_acquire(
        self, timeout: Seconds = 0.0, *, member: str | None = None, where: Where | None = None
    ) -> AsyncLease | None:
        """The same, or None if it was not to be had within that time."""
        return await self._client.driver.run(self._take(timeout, member, where))


__all__ = ["AsyncPool", "Member", "Pool", "Where"]
