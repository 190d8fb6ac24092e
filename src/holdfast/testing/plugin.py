"""Fixtures for your own tests, there wherever holdfast is installed.

    def test_order_is_charged_once(holdfast_locks, holdfast_time, holdfast_faults):
        lease = holdfast_locks.mutex("orders/42").acquire()
        holdfast_time.sleep(60)  # the process was stopped for longer than the ttl
        assert lease.lost == "suspended"

`holdfast_locks` is a client on a store in memory that lives in virtual time; `holdfast_client()` makes more clients of
the same store, `holdfast_async_client()` such for asyncio.  `holdfast_time` moves the time; `holdfast_faults` lets
requests fail, and leases be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

pytest.register_assert_rewrite("holdfast.testing.contract")

if TYPE_CHECKING:
    from holdfast import AsyncClient, Client
    from holdfast.testing import TestFaults, VirtualClock


@pytest.fixture
def holdfast_time() -> VirtualClock:
    """The time that the other fixtures live in: `advance(seconds)`, and `sleep(seconds)` for what nobody sees pass."""
    from holdfast.testing import VirtualClock

    return VirtualClock()


@pytest.fixture
def holdfast_faults() -> TestFaults:
    """What is to go wrong with the next requests of every client; `lose(lease)` ends a lease."""
    from holdfast.testing import TestFaults

    return TestFaults()


@pytest.fixture
def holdfast_client(holdfast_time: VirtualClock, holdfast_faults: TestFaults) -> Iterator[Callable[..., Client]]:
    """Makes clients of one store in memory, in virtual time; it takes what `connect()` takes: ttl, namespace, hooks."""
    from holdfast.testing import TestStore

    store = TestStore(holdfast_time, holdfast_faults)
    yield store.client
    store.close()


@pytest.fixture
def holdfast_locks(holdfast_client: Callable[..., Client]) -> Client:
    """A client of a store in memory, in virtual time."""
    return holdfast_client()


@pytest.fixture
def holdfast_async_client(holdfast_time: VirtualClock, holdfast_faults: TestFaults) -> Callable[..., AsyncClient]:
    """Makes clients for asyncio of one store in memory, in virtual time; to be called inside the event loop."""
    from holdfast.testing import TestStore

    return TestStore(holdfast_time, holdfast_faults).async_client
