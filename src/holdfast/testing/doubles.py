"""A store in memory and in virtual time, for tests of code that uses locks."""

from __future__ import annotations

from itertools import count
from typing import Any

from holdfast.client import Settings
from holdfast.client_tasks import AsyncClient
from holdfast.client_threads import Client
from holdfast.engine.hold import Hold, LossReason
from holdfast.engine.keeper import Keeper
from holdfast.stores import Backend, Endpoint
from holdfast.stores.memory import AsyncMemoryTransport, MemoryTransport
from holdfast.testing.clock import AsyncVirtualDriver, VirtualClock, VirtualDriver
from holdfast.testing.faults import AsyncFaultyTransport, Faults, FaultyTransport
from holdfast.url import parse

_names = count(1)


class TestFaults(Faults):
    """What is to go wrong in a test of yours."""

    __test__ = False

    def lose(self, lease: Hold, reason: LossReason = "expired") -> None:
        """This lease is lost now, and its holder is told so."""
        lease.site.keeper.lose(lease, reason)


class TestStore:
    """A store in memory that lives in virtual time, and the clients of it."""

    __test__ = False

    def __init__(self, time: VirtualClock, faults: Faults) -> None:
        self._time = time
        self._faults = faults
        self._address = parse(f"memory://holdfast-test-{next(_names)}")
        self._clients: list[Client] = []

    def client(self, **settings: Any) -> Client:
        """Another client, for threads; `settings` as `connect()` takes them: namespace, ttl, hooks, metadata."""
        made = Client(self._address, None, Settings(**settings), self._driver)
        self._clients.append(made)
        return made

    def async_client(self, **settings: Any) -> AsyncClient:
        """Another client, for asyncio; inside the event loop."""
        return AsyncClient(self._address, None, Settings(**settings), self._async_driver)

    def _driver(self, _backend: Backend, endpoint: Endpoint, keeper: Keeper) -> VirtualDriver:
        inner = MemoryTransport(endpoint, self._time.wall)
        return VirtualDriver(FaultyTransport(inner, self._faults), keeper, self._time)

    def _async_driver(self, _backend: Backend, endpoint: Endpoint, keeper: Keeper) -> AsyncVirtualDriver:
        inner = AsyncMemoryTransport(endpoint, self._time.wall)
        return AsyncVirtualDriver(AsyncFaultyTransport(inner, self._faults), keeper, self._time)

    def close(self) -> None:
        """Close all its clients for threads."""
        self._faults.down = False
        for client in self._clients:
            client.close()
