"""`connect()` and `connect_async()`: from a URL, or a database client that is there already, to a client of ours."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from holdfast.client import DEFAULT_TTL, Settings
from holdfast.durations import Seconds
from holdfast.url import locate

if TYPE_CHECKING:
    from holdfast.client_tasks import AsyncClient
    from holdfast.client_threads import Client
    from holdfast.observe.events import Hook


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
    from holdfast.client_threads import Client

    address, users_driver = locate(target, options)
    return Client(address, users_driver, Settings(namespace, ttl, hooks, metadata))


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
    from holdfast.client_tasks import AsyncClient

    address, users_driver = locate(target, options)
    return Connecting(lambda: AsyncClient(address, users_driver, Settings(namespace, ttl, hooks, metadata)))


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
