"""Whatever breaks in wherever it breaks: the caller has a lease in its hand, or the store holds nothing for it.

Each scenario is run once for every point at which its program touches the world (every send, before and after it took
effect, and every pause), with an interruption or a failure at exactly that point.  For asyncio the task is cancelled
after each number of steps of the event loop.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import count

import pytest

from holdfast.client import Settings
from holdfast.client_tasks import AsyncClient
from holdfast.client_threads import Client
from holdfast.engine.program import SECOND
from holdfast.errors import HoldfastError, OutcomeUnknown, StoreUnavailable
from holdfast.stores.memory import AsyncMemoryTransport, MemoryTransport
from holdfast.testing.clock import AsyncVirtualDriver, VirtualClock, VirtualDriver
from holdfast.testing.swapping import AsyncSwappingTransport, SwappingTransport, clockless, swapping
from holdfast.url import parse

numbers = count()

FAILURES = {
    "Ctrl-C": KeyboardInterrupt,
    "exit": SystemExit,
    "unavailable": lambda: StoreUnavailable("gone"),
    "unknown": lambda: OutcomeUnknown("no answer"),
}


class Breaking(VirtualDriver):
    """Breaks at one point: `None` counts them only."""

    at: int | None = None
    failure = None
    when = "before"
    points = 0

    def _point(self):
        self.points += 1
        return self.at == self.points

    def _send(self, request):
        here = self._point()
        if here and self.when == "before":
            raise self.failure()
        answer = super()._send(request)
        if here:
            raise self.failure()
        return answer

    def pause(self, ear, until):
        if self._point() and self.failure in (KeyboardInterrupt, SystemExit):
            raise self.failure
        return super().pause(ear, until)


class World:
    """One store, the client under test and another one."""

    def __init__(self, scheme):
        self.clock = VirtualClock()
        self.scheme = scheme
        self.address = parse(f"{scheme}://points-{next(numbers)}")
        self.client = self.make(Breaking)
        self.other = self.make(VirtualDriver)

    def make(self, driver):
        def make_driver(backend, endpoint, keeper):
            inner = (
                MemoryTransport(endpoint, self.clock.wall) if self.scheme == "memory" else SwappingTransport(endpoint)
            )
            return driver(inner, keeper, self.clock)

        return Client(self.address, None, Settings(), make_driver)

    def held_by_nobody(self):
        """Nothing is left but what goes by itself: no lock is held once the keeper has had its turn."""
        self.clock.advance(2)
        return not [info for info in self.other.list() if info.holders or info.waiting]


@pytest.fixture(autouse=True)
def schemes(monkeypatch):
    import holdfast

    monkeypatch.setattr("holdfast.url._registered", {})
    holdfast.register("swapping", swapping)
    holdfast.register("clockless", clockless)


def take(world):
    return world.client.mutex("k").acquire(timeout=60)


def take_shared(world):
    return world.client.rwlock("k").reader.acquire(timeout=60)


def take_permits(world):
    return world.client.semaphore("k", 3, weight=2).acquire(timeout=60)


def take_all(world):
    locks = world.client
    return locks.all_of(locks.mutex("a"), locks.mutex("b"), locks.mutex("c")).acquire(timeout=60)


def take_after_waiting(world):
    """Somebody has it, and lets it lapse while we wait."""
    world.other.mutex("k", ttl=5, renew=False).acquire()
    return world.client.mutex("k").acquire(timeout=60)


def take_any(world):
    return world.client.pool("p").acquire(timeout=60)


def take_any_after_waiting(world):
    world.other.mutex("filler").acquire().release()
    pool = world.other.pool("p", ttl=5, renew=False)
    pool.acquire(), pool.acquire()
    return world.client.pool("p").acquire(timeout=60)


def run_once(world):
    world.client.once("job", every=60)(lambda: None)()


def take_and_release(world):
    take(world).release()


def downgrade(world):
    lease = world.client.rwlock("k").writer.acquire()
    try:
        lease.downgrade()
    finally:
        lease.release()


SCENARIOS = (
    take,
    take_shared,
    take_permits,
    take_all,
    take_after_waiting,
    take_any,
    take_any_after_waiting,
    run_once,
    take_and_release,
    downgrade,
)


def prepare(scheme, scenario):
    world = World(scheme)
    if scenario in (take_any, take_any_after_waiting):
        pool = world.other.pool("p")
        pool.add("one"), pool.add("two")
    return world


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
@pytest.mark.parametrize("scheme", ["memory", "swapping", "clockless"])
def test_every_point(scheme, scenario, record_property):
    world = prepare(scheme, scenario)
    scenario(world)
    points = world.client.driver.points
    assert points >= 1
    for at in range(1, points + 1):
        for name, failure in FAILURES.items():
            for when in ("before", "after"):
                break_at(scheme, scenario, at, name, failure, when)
    record_property("points", points)


def break_at(scheme, scenario, at, name, failure, when):
    world = prepare(scheme, scenario)
    driver = world.client.driver
    driver.at, driver.failure, driver.when = at, failure, when
    lease = None
    with suppress(HoldfastError, KeyboardInterrupt, SystemExit):
        lease = scenario(world)
    driver.at = None
    if lease is not None:
        lease.ensure()
        lease.release()
    world.clock.advance(6)  # what others let lapse
    assert world.held_by_nobody(), f"{name} {when} point {at} left {list(world.other.list())}"
    assert not world.client.site.keeper.holds(), f"{name} {when} point {at}: renewed for nobody"
    assert world.client.mutex("again").try_acquire() is not None, "the client goes on working"


# --- asyncio: cancelled after every number of steps -----------------------------------------------------------------


class AsyncWorld:
    """The same for asyncio; nothing is answered at once, so every request is a point to be cancelled at."""

    def __init__(self, scheme):
        self.clock = VirtualClock()
        self.address = parse(f"{scheme}://points-{next(numbers)}")
        self.client = self.make()
        self.other = self.make()

    def make(self):
        def make_driver(backend, endpoint, keeper):
            return AsyncVirtualDriver(self.transport(endpoint), keeper, self.clock)

        return AsyncClient(self.address, None, Settings(), make_driver)

    def transport(self, endpoint):
        if self.address.scheme == "memory":
            return Slow(AsyncMemoryTransport(endpoint, self.clock.wall))
        return AsyncSwappingTransport(endpoint)

    async def held_by_nobody(self):
        for client in (self.client, self.other):
            await client.driver.run(client.site.keeper.round())
        return not [info async for info in self.other.list() if info.holders or info.waiting]


class Slow:
    """Every request takes some turns of the loop, before and after it takes effect."""

    def __init__(self, inner):
        self.inner = inner

    async def send(self, request):
        await asyncio.sleep(0)
        answer = self.inner.at_once(request)
        await asyncio.sleep(0)
        return answer

    def listen(self, bell):
        return self.inner.listen(bell)

    async def close(self):
        await self.inner.close()


async def async_take(world):
    return await world.client.mutex("k").acquire(timeout=60)


async def async_take_all(world):
    locks = world.client
    return await locks.all_of(locks.mutex("a"), locks.mutex("b")).acquire(timeout=60)


async def async_take_handed_over(world):
    """Another task of the same client has it, and hands it over."""
    held = asyncio.Event()

    async def hand_over():
        holder = await world.client.mutex("k").acquire()
        held.set()
        await asyncio.sleep(0)
        await holder.release()

    handing = asyncio.create_task(hand_over())
    try:
        await held.wait()
        return await world.client.mutex("k").acquire(timeout=60)
    finally:
        while not handing.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait((handing,))


async def async_take_any(world):
    return await world.client.pool("p").acquire(timeout=60)


async def async_block(world):
    async with world.client.mutex("k"):
        await asyncio.sleep(0)


ASYNC_SCENARIOS = (
    async_take,
    async_take_all,
    async_take_handed_over,
    async_take_any,
    async_block,
)


async def cancelled_after(scheme, scenario, steps):
    """Whether the task was still running after so many steps."""
    world = AsyncWorld(scheme)
    if scenario is async_take_any:
        await world.other.pool("p").add("one")
    task = asyncio.create_task(scenario(world))
    for _ in range(steps):
        await asyncio.sleep(0)
    unfinished = not task.done()
    task.cancel()
    lease = None
    with suppress(asyncio.CancelledError):
        lease = await task
    if lease is not None:
        lease.ensure()
        await lease.release()
    assert await world.held_by_nobody(), f"cancelled after {steps} steps"
    assert not world.client.site.keeper.holds(), f"cancelled after {steps} steps: renewed for nobody"
    assert await world.client.mutex("k").try_acquire() is not None, f"cancelled after {steps} steps"
    await world.client.close()
    await world.other.close()
    return unfinished


@pytest.mark.parametrize("scenario", ASYNC_SCENARIOS, ids=lambda scenario: scenario.__name__)
@pytest.mark.parametrize("scheme", ["memory", "swapping", "clockless"])
def test_cancelled_at_every_await(scheme, scenario, record_property):
    steps = 0
    while asyncio.run(cancelled_after(scheme, scenario, steps)):
        steps += 1
        assert steps < 1_000
    record_property("awaits", steps)
    assert steps > 2


def test_a_release_forgotten_on_cancellation_is_found(monkeypatch):
    """The search sees a ghost, if one is left."""
    from holdfast.engine import locking

    def leave_it(_site, _key, _owner):
        return
        yield

    monkeypatch.setattr(locking, "abandon", leave_it)
    with pytest.raises(AssertionError, match="cancelled after"):
        test_cancelled_at_every_await("memory", async_take, lambda *_: None)


def test_the_clock_is_virtual():
    """None of these tests waits for a ttl."""
    world = World("memory")
    assert world.clock.ticks() == VirtualClock().ticks()
    take_after_waiting(world)
    assert world.clock.ticks() >= VirtualClock().ticks() + 5 * SECOND
