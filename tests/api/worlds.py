"""A store in virtual time and what can happen to its clients, for tests of both colours."""

from __future__ import annotations

import asyncio
from itertools import count

from holdfast.client import Settings
from holdfast.client_tasks import AsyncClient
from holdfast.client_threads import Client
from holdfast.core.ops import Acquire, Release, Want
from holdfast.core.record import MANY
from holdfast.stores.memory import AsyncMemoryTransport, MemoryTransport
from holdfast.testing import AsyncFaultyTransport, AsyncVirtualDriver, FaultyTransport, VirtualDriver
from holdfast.url import parse

_names = count(1)


class World:
    """One store, and all its clients, in one time."""

    def __init__(self, time, faults):
        self.time = time
        self.faults = faults
        self._address = parse(f"memory://api-{next(_names)}")
        self._clients = []

    def client(self, **settings):
        made = Client(self._address, None, Settings(**settings), self._driver)
        self._clients.append(made)
        return made

    def async_client(self, **settings):
        return AsyncClient(self._address, None, Settings(**settings), self._async_driver)

    def _driver(self, _backend, endpoint, keeper):
        inner = MemoryTransport(endpoint, self.time.wall)
        return VirtualDriver(FaultyTransport(inner, self.faults), keeper, self.time)

    def _async_driver(self, _backend, endpoint, keeper):
        inner = AsyncMemoryTransport(endpoint, self.time.wall)
        return AsyncVirtualDriver(AsyncFaultyTransport(inner, self.faults), keeper, self.time)

    def close(self):
        self.faults.down = False
        for client in self._clients:
            client.close()


def die(client):
    """What a killed process does from then on: it renews nothing and gives nothing back."""
    for hold in client.site.keeper.holds():
        client.site.keeper.retire(hold)


def steal(lease):
    """Somebody removed the record under the lease."""
    lease._driver.run(lease.site.store.apply(lease.store_key, Release(lease.owner)))


def dead_writer(client, key):
    """Somebody asked to write, stood in line, and was never heard of again."""
    op = Acquire("dead.1", Want("rwlock", MANY, MANY), 10_000_000, "grave 1 MainThread")
    return client.driver.run(client.site.store.apply(client.store_key("lock", key), op))


async def turns(number=10):
    """Let the others run."""
    for _ in range(number):
        await asyncio.sleep(0)


async def until(true):
    """Let the others run until it is."""
    for _ in range(1_000):
        if true():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came true")


async def until_waiting(client, key, number=1):
    """Until so many stand in line at the store."""
    for _ in range(1_000):
        info = await client.inspect(key)
        if info is not None and info.waiting >= number:
            return
        await asyncio.sleep(0)
    raise AssertionError(f"nobody waits for {key}")


def seconds(time, since):
    """How much has passed."""
    return (time.ticks() - since) / 1_000_000
