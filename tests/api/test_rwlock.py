"""A readers-writer lock: many read at once, one writes alone, and nobody is starved."""

from __future__ import annotations

import asyncio

import pytest
from worlds import dead_writer, seconds, turns, until_waiting

from holdfast import ConfigError, WouldDeadlock


def test_readers_share(locks, other):
    with locks.rwlock("k").reader, other.rwlock("k").reader:
        assert len(locks.inspect("k").holders) == 2


def test_a_writer_is_alone(locks, other):
    with locks.rwlock("k").writer:
        assert other.rwlock("k").reader.try_acquire() is None
        assert other.rwlock("k").writer.try_acquire() is None
    with locks.rwlock("k").reader:
        assert other.rwlock("k").writer.try_acquire() is None
    assert other.rwlock("k").writer.try_acquire() is not None


def test_its_sides_say_which_they_are(locks):
    reader, writer = locks.rwlock("k")
    assert (reader.key, writer.key) == ("k", "k")
    assert "reader" in repr(reader)
    assert "writer" in repr(writer)


async def test_a_waiting_writer_bars_the_readers_that_come_after_it(world):
    a, b, c = (world.async_client() for _ in range(3))
    served = []

    async def work(name, lock):
        async with lock.acquire(timeout=60):
            served.append(name)
            await turns()

    async with asyncio.TaskGroup() as group:
        async with a.rwlock("k").reader:
            group.create_task(work("writer", b.rwlock("k").writer))
            await until_waiting(a, "k")
            assert await c.rwlock("k").reader.try_acquire() is None
            group.create_task(work("reader", c.rwlock("k").reader))
            await until_waiting(a, "k", 2)
    assert served == ["writer", "reader"]


async def test_a_stream_of_readers_does_not_starve_a_writer(world):
    """There is always a reader: each begins before the last one ends."""
    clients = [world.async_client() for _ in range(3)]
    reads, wrote = 0, asyncio.Event()

    async def read(client):
        nonlocal reads
        while not wrote.is_set():
            async with client.rwlock("k").reader.acquire(timeout=60):
                reads += 1
                assert reads < 100, "the writer never got its turn"
                await turns(7)

    async def write():
        await turns(20)
        async with clients[2].rwlock("k").writer.acquire(timeout=60):
            wrote.set()

    async with asyncio.TaskGroup() as group:
        group.create_task(read(clients[0]))
        await turns(3)
        group.create_task(read(clients[1]))
        group.create_task(write())
    assert reads > 2


def test_a_dead_pending_writer_bars_nobody_for_long(locks, other, time):
    """Its place in the queue ends after 10 s, which those behind it see when they ask again, within 10/3 s."""
    with locks.rwlock("k").reader:
        dead_writer(locks, "k")
        assert other.rwlock("k").reader.try_acquire() is None
        began = time.ticks()
        with other.rwlock("k").reader.acquire(timeout=60):
            assert seconds(time, began) <= 13.4


def test_a_dead_writer_that_was_served_bars_nobody_for_long(locks, other, time):
    with locks.rwlock("k").reader:
        dead_writer(locks, "k")
    assert other.rwlock("k").reader.try_acquire() is None
    began = time.ticks()
    with other.rwlock("k").reader.acquire(timeout=60):
        assert seconds(time, began) <= 10.1


async def test_downgrade_lets_no_writer_between(world):
    a, b, c = (world.async_client() for _ in range(3))
    async with asyncio.TaskGroup() as group:
        lease = await a.rwlock("k").writer.acquire()
        fence = lease.fence
        writing = group.create_task(b.rwlock("k").writer.try_acquire(60))
        await until_waiting(a, "k")
        await lease.downgrade()
        await turns(20)
        assert not writing.done()
        assert (lease.lost, lease.fence) == (None, fence)
        assert await c.rwlock("k").reader.try_acquire() is None, "the writer waits already"
        await lease.release()
    assert writing.result().fence > fence


def test_after_a_downgrade_others_may_read(locks, other):
    with locks.rwlock("k").writer as lease:
        lease.downgrade()
        assert other.rwlock("k").writer.try_acquire() is None
        with other.rwlock("k").reader:
            lease.ensure()


async def test_a_downgrade_lets_the_readers_of_its_own_client_in(world):
    locks = world.async_client()
    lease = await locks.rwlock("k").writer.acquire()
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(locks.rwlock("k").reader.try_acquire(60))
        await until_waiting(locks, "k")
        await lease.downgrade()
    assert reading.result() is not None
    lease.ensure()


async def test_a_writer_behind_one_that_downgraded_writes_alone(world):
    """It must not be handed the reader's grant."""
    locks, other = world.async_client(), world.async_client()
    async with asyncio.TaskGroup() as group:
        lease = await locks.rwlock("k").writer.acquire()
        writing = group.create_task(locks.rwlock("k").writer.try_acquire(60))
        await turns()
        await lease.downgrade()
        await until_waiting(other, "k")
        await lease.release()
    (holder,) = (await other.inspect("k")).holders
    assert (holder.fence, holder.weight) == (writing.result().fence, 1 << 30)
    assert await other.rwlock("k").reader.try_acquire() is None


def test_an_upgrade_is_refused_and_says_why(locks):
    sides = locks.rwlock("k")
    with sides.reader as lease:
        with pytest.raises(WouldDeadlock, match="a reader that becomes a writer waits for all readers, itself among"):
            sides.writer.acquire()
        lease.ensure()


def test_a_writer_that_wants_to_read_is_told_of_downgrade(locks):
    sides = locks.rwlock("k")
    with sides.writer, pytest.raises(WouldDeadlock, match=r"downgrade\(\)"):
        sides.reader.acquire()


async def test_an_upgrade_is_refused_in_asyncio(world):
    sides = world.async_client().rwlock("k")
    async with sides.reader:
        with pytest.raises(WouldDeadlock, match="a reader that becomes a writer"):
            await sides.writer.acquire()


def test_only_a_writer_has_something_to_become(locks):
    for lock in (locks.mutex("m"), locks.semaphore("s", 3, weight=2)):
        with (
            lock as lease,
            pytest.raises(ConfigError, match="only the writer of an rwlock can become a reader"),
        ):
            lease.downgrade()
