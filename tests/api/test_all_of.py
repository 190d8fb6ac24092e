"""Several locks as one: all of them or none."""

from __future__ import annotations

import asyncio
import threading

import pytest
from worlds import seconds, turns

import holdfast
from holdfast import AcquireTimeout, ConfigError, LeaseLost, WouldDeadlock


def held(client):
    return [info.key for info in client.list() if info.holders]


def test_all_are_held_and_given_back(locks, other):
    together = locks.all_of(locks.mutex("b"), locks.rwlock("a").reader, locks.semaphore("c", 2))
    with together as lease:
        assert held(other) == ["a", "b", "c"]
        assert [part.key for part in lease.parts] == ["a", "b", "c"]
        assert lease.key == together.key == "b + a + c"
    assert held(other) == []


def test_they_are_taken_in_the_order_of_their_keys(locks, faults):
    for names in ("cab", "bca", "abc"):
        faults.requests.clear()
        with locks.all_of(*(locks.mutex(name) for name in names)):
            assert [request.key[-1] for request in faults.requests] == ["a", "b", "c"]


@pytest.mark.parametrize("busy", ["a", "b", "c"])
def test_if_one_is_not_to_be_had_none_is_held(locks, other, busy):
    other.mutex(busy).acquire()
    together = locks.all_of(*(locks.mutex(name) for name in "abc"))
    assert together.try_acquire() is None
    assert held(locks) == [busy]
    with pytest.raises(AcquireTimeout, match=f"'{busy}' was not acquired within 3 s: .* holds it"):
        together.acquire(timeout=3)
    assert held(locks) == [busy]


def test_nothing_is_held_while_it_waits(locks, other, time):
    """What is free stays free for others until all are."""
    other.mutex("c", ttl=20, renew=False).acquire()
    seen = []
    pause = locks.driver.pause

    def look(ear, until):
        seen.append(held(other))
        return pause(ear, until)

    locks.driver.pause = look
    locks.all_of(*(locks.mutex(name) for name in "abc")).acquire(timeout=60).release()
    assert seen
    assert all(keys == ["c"] for keys in seen)


def test_all_share_one_deadline(locks, other, time):
    for name, ttl in (("a", 4), ("b", 8), ("c", 12)):
        other.mutex(name, ttl=ttl, renew=False).acquire()
    together = locks.all_of(*(locks.mutex(name) for name in "abc"))
    began = time.ticks()
    assert together.try_acquire(10) is None
    assert seconds(time, began) == pytest.approx(10, abs=0.01)
    assert together.try_acquire(10) is not None
    assert seconds(time, began) == pytest.approx(12, abs=0.01)


async def test_a_pair_that_would_deadlock_does_not(world):
    """Two clients take the same two locks in opposite order, again and again."""
    clients = world.async_client(), world.async_client()
    inside, rounds = 0, 0

    async def work(client, names):
        nonlocal inside, rounds
        for _ in range(20):
            async with client.all_of(*(client.mutex(name) for name in names)).acquire(timeout=600):
                inside += 1
                assert inside == 1
                await turns(3)
                inside -= 1
                rounds += 1

    async with asyncio.TaskGroup() as group:
        group.create_task(work(clients[0], "ab"))
        group.create_task(work(clients[1], "ba"))
    assert rounds == 40


async def test_one_that_takes_them_by_hand_in_the_other_order_does_not_deadlock_it(world):
    """Whoever holds b waits for a; it never holds a while it waits for b."""
    locks, other = world.async_client(), world.async_client()
    async with asyncio.TaskGroup() as group:
        async with other.mutex("b"):
            both = group.create_task(locks.all_of(locks.mutex("a"), locks.mutex("b")).try_acquire(60))
            await turns(30)
            async with other.mutex("a").acquire(timeout=5):
                pass
    assert both.result() is not None


def test_threads_take_crossing_sets():
    with holdfast.connect("memory:") as locks:
        total = 0

        def work(names):
            nonlocal total
            for _ in range(30):
                with locks.all_of(*(locks.mutex(name) for name in names)):
                    before = total
                    threading.Event().wait(0)
                    total = before + 1

        threads = [threading.Thread(target=work, args=(names,)) for names in ("ab", "ba", "cab", "bca")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert total == 120


def test_it_is_lost_when_one_of_them_is(locks, faults):
    with pytest.raises(LeaseLost, match=r"'b' .* is lost") as caught:
        with locks.all_of(locks.mutex("a"), locks.mutex("b")) as lease:
            assert lease.remaining > 0
            faults.lose(lease.parts[1], "stolen")
            assert (lease.lost, lease.remaining) == ("stolen", 0.0)
            with pytest.raises(LeaseLost):
                lease.ensure()
    assert caught.value.key == "b"
    assert held(locks) == []


def test_renewing_renews_each(locks, time):
    lease = locks.all_of(locks.mutex("a", ttl=5, renew=False), locks.mutex("b", ttl=9, renew=False)).acquire()
    time.advance(4)
    lease.renew()
    time.advance(4)
    lease.ensure()
    time.advance(1)
    assert lease.lost == "expired"


def test_its_fence_is_above_those_of_its_parts(locks):
    lease = locks.all_of(locks.mutex("a"), locks.mutex("b")).acquire()
    assert lease.fence == max(part.fence for part in lease.parts)


def test_what_concerns_one_is_refused_for_all(locks):
    with locks.all_of(locks.mutex("a"), locks.mutex("b")) as lease:
        with pytest.raises(ConfigError, match=r"amend one of its .parts"):
            lease.amend(b"x")
        with pytest.raises(ConfigError, match=r"downgrade one of its .parts"):
            lease.downgrade()
        lease.parts[0].amend(b"x")


def test_one_that_this_thread_holds_already_is_told_of(locks):
    for name in "ab":
        with locks.mutex(name), pytest.raises(WouldDeadlock, match=f"already holds '{name}'"):
            locks.all_of(locks.mutex("a"), locks.mutex("b")).acquire()
    assert held(locks) == []


def test_what_can_never_be_is_refused(locks, other):
    with pytest.raises(ConfigError, match="at least one lock"):
        locks.all_of()
    with pytest.raises(ConfigError, match="given 'a' twice"):
        locks.all_of(locks.mutex("a"), locks.mutex("b"), locks.mutex("a"))
    with pytest.raises(ConfigError, match="locks of the client it is called on"):
        locks.all_of(locks.mutex("a"), other.mutex("b"))
    with pytest.raises(ConfigError, match="locks of the client it is called on"):
        locks.all_of("a")


async def test_in_asyncio_the_body_is_cancelled_when_one_that_says_so_is_lost(world, faults):
    locks = world.async_client()
    reached = []
    with pytest.raises(LeaseLost, match="'b'"):
        async with locks.all_of(locks.mutex("a"), locks.mutex("b", on_lost="cancel")) as lease:
            faults.lose(lease.parts[1], "stolen")
            await asyncio.sleep(20)  # it is cancelled at once
            reached.append("after")
    assert reached == []
    assert asyncio.current_task().cancelling() == 0
