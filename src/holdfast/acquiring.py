"""What `acquire()` gives in asyncio: something to await, or to enter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from types import TracebackType
from typing import Any, Literal

from holdfast.lease import AsyncLease


class Acquiring:
    """An acquire that has not begun: `await` it for the lease, or `async with` it."""

    __slots__ = ("_lease", "_start")

    def __init__(self, start: Callable[[], Awaitable[AsyncLease]]) -> None:
        self._start = start
        self._lease: AsyncLease | None = None

    def __await__(self) -> Generator[Any, None, AsyncLease]:
        return self._start().__await__()

    async def __aenter__(self) -> AsyncLease:
        self._lease = await self._start()
        return await self._lease.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        assert self._lease is not None, "__aenter__ came first"
        return await self._lease.__aexit__(kind, error, trace)
