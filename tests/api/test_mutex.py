"""A mutex: one holds it at a time."""

from __future__ import annotations

import asyncio
import threading

import pytest
from worlds import seconds, turns, until_waiting

import holdfast


def test_one_holds_it_at_a_time(locks, other):
    with locks.mutex("k"):
        assert other.mutex("k").try_acquire() is None
    with other.mutex("k") as lease:
        assert lease.lost is None


def test_other_keys_are_free(locks, other):
    with locks.mutex("k"):
        assert other.mutex("K").try_acquire() is not None
        assert other.mutex("k ").try_acquire() is not None


def test_every_holder_has_a_greater_fence(locks, other):
    fences = []
    for client in (locks, other, locks, locks, other):
        with client.mutex("k") as lease:
            fences.append(lease.fence)
    assert fences == sorted(set(fences))


def test_it_renews_itself_for_as_long_as_it_is_held(locks, other, time):
    with locks.mutex("k", ttl=5) as lease:
        for _ in range(100):
            time.advance(60)
            lease.ensure()
            assert other.mutex("k").try_acquire() is None


def test_one_that_does_not_renew_ends_after_its_ttl(locks, other, time):
    locks.mutex("k", ttl=5, renew=False).acquire()
    time.advance(4.999)
    assert other.mutex("k").try_acquire() is None
    time.advance(0.001)
    assert other.mutex("k").try_acquire() is not None


def test_who_waits_gets_it_when_a_dead_holders_ttl_has_passed(locks, other, time):
    began = time.ticks()
    other.mutex("k", ttl=5, renew=False).acquire()
    with locks.mutex("k").acquire(timeout=60):
        assert seconds(time, began) == 5


async def test_waiters_are_served_in_the_order_of_asking(world):
    clients = [world.async_client() for _ in range(5)]
    served = []

    async def work(number):
        async with clients[number].mutex("k").acquire(timeout=60):
            served.append(number)

    async with asyncio.TaskGroup() as group, clients[0].mutex("k"):
        for place, number in enumerate((3, 1, 4, 2), 1):
            group.create_task(work(number))
            await until_waiting(clients[0], "k", place)
        assert served == []
    assert served == [3, 1, 4, 2]


async def test_tasks_of_one_client_hand_it_over_in_order_with_fresh_fences(world):
    locks = world.async_client()
    served = []

    async def work(number):
        async with locks.mutex("k").acquire(timeout=60) as lease:
            served.append((lease.fence, number))
            await turns(3)

    async with asyncio.TaskGroup() as group:
        for number in range(40):
            group.create_task(work(number))
    assert [number for _, number in served] == list(range(40))
    assert [fence for fence, _ in served] == sorted({fence for fence, _ in served})


async def test_who_stands_behind_one_that_loses_its_lease_may_ask_at_once(world, faults):
    locks = world.async_client()
    lost = await locks.mutex("k").acquire()
    waiting = asyncio.create_task(locks.mutex("k").try_acquire(3600))
    await turns()
    await other_takes_it_away(world)
    faults.lose(lost, "broken")
    lease = await waiting
    lease.ensure()
    assert lease.born < lost.born + 3600 * 1_000_000


async def other_takes_it_away(world):
    assert await world.async_client().break_lock("k")


async def test_others_get_their_turn_though_one_client_has_a_long_line(world):
    locks, other = world.async_client(), world.async_client()
    served = []

    async def work(client, name):
        async with client.mutex("k").acquire(timeout=60):
            served.append(name)
            await turns(2)

    async with asyncio.TaskGroup() as group:
        for _ in range(60):
            group.create_task(work(locks, "one of many"))
        await turns(3)
        group.create_task(work(other, "alone"))
    assert 0 < served.index("alone") < 50


def test_threads_lose_no_update():
    total = 0
    with holdfast.connect("memory:") as locks:
        lock = locks.mutex("k")

        def work():
            nonlocal total
            for _ in range(100):
                with lock:
                    before = total
                    threading.Event().wait(0)
                    total = before + 1

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert total == 800


def test_a_payload_stays_for_the_next_holder(locks, other):
    with locks.mutex("k", payload=b"left by the first") as lease:
        assert lease.payload == b"left by the first"
    with other.mutex("k") as lease:
        assert lease.payload == b"left by the first"
    with other.mutex("k", payload=b"") as lease:
        assert lease.payload is None
    assert locks.inspect("k") is None


def test_who_waited_at_the_store_brings_its_payload_too(locks, other):
    other.mutex("k", payload=b"theirs", ttl=5, renew=False).acquire()
    with locks.mutex("k", payload=b"ours").acquire(timeout=60) as lease:
        assert lease.payload == b"ours"
        assert other.inspect("k").payload == b"ours"


async def test_who_waited_in_line_brings_its_payload_too(world):
    locks = world.async_client()
    seen = []

    async def work(payload):
        async with locks.mutex("k", payload=payload).acquire(timeout=60) as lease:
            await turns()
            seen.append((payload, lease.payload, (await locks.inspect("k")).payload))

    async with asyncio.TaskGroup() as group:
        for payload in (b"1", b"2", b"3"):
            group.create_task(work(payload))
    assert seen == [(b"1", b"1", b"1"), (b"2", b"2", b"2"), (b"3", b"3", b"3")]


async def test_a_payload_that_could_not_be_left_leaves_no_lease(world, faults):
    locks, other = world.async_client(), world.async_client()
    holder = await other.mutex("k").acquire()
    waiting = asyncio.create_task(locks.mutex("k", payload=b"ours").acquire(timeout=60)._start())
    await until_waiting(other, "k")
    faults.plan(None, None, RuntimeError("in the middle"))  # the release, the question again, and the payload
    await holder.release()
    with pytest.raises(RuntimeError):
        await waiting
    assert await other.mutex("k").try_acquire() is not None


@pytest.mark.parametrize("payload", ["text", 1, bytearray(b"x")])
def test_a_payload_is_bytes(locks, payload):
    with pytest.raises(holdfast.ConfigError, match=f"bytes, not {type(payload).__name__}"):
        locks.mutex("k", payload=payload)


def test_a_lock_is_a_description_that_many_may_use(locks):
    lock = locks.mutex("k")
    first = lock.acquire()
    first.release()
    second = lock.acquire()
    first.release()
    second.ensure()
    assert (lock.key, first.key) == ("k", "k")
    assert first.owner != second.owner
