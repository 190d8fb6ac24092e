"""What the tests of the public API share: clients of one store in virtual time, for threads and for asyncio."""

from __future__ import annotations

import asyncio
import inspect

import pytest
from worlds import World

from holdfast.testing import VirtualClock


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """A test that is a coroutine function runs in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def time():
    return VirtualClock()


@pytest.fixture
def faults(holdfast_faults):
    return holdfast_faults


@pytest.fixture
def world(time, faults):
    made = World(time, faults)
    yield made
    made.close()


@pytest.fixture
def locks(world):
    return world.client()


@pytest.fixture
def other(world):
    return world.client()
