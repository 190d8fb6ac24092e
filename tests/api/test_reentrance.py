"""Whoever holds a lock and asks for it again is told at once, or counted."""

from __future__ import annotations

import asyncio
import threading

import pytest
from worlds import turns

import holdfast
from holdfast import AcquireTimeout, WouldDeadlock


def test_asking_again_would_deadlock_and_says_so_at_once(locks, faults, time):
    with locks.mutex("k") as lease:
        faults.requests.clear()
        began = time.ticks()
        with pytest.raises(WouldDeadlock, match="this thread already holds 'k' and would wait for itself") as caught:
            locks.mutex("k").acquire()
        with pytest.raises(WouldDeadlock):
            locks.mutex("k").acquire(timeout=10)
        assert (faults.requests, time.ticks()) == ([], began)
        assert caught.value.key == "k"
        lease.ensure()


def test_a_try_that_does_not_wait_is_only_a_no(locks):
    with locks.mutex("k"):
        assert locks.mutex("k").try_acquire() is None
        with pytest.raises(AcquireTimeout):
            locks.mutex("k").acquire(timeout=0)


def test_the_hint_fits_the_kind_of_lock(locks):
    with locks.mutex("k"), pytest.raises(WouldDeadlock, match="reentrant=True"):
        locks.mutex("k").acquire()
    with locks.election("e").lead(), pytest.raises(WouldDeadlock, match=r"use the lease it has$"):
        locks.election("e").lead()
    with locks.semaphore("s", 1), pytest.raises(WouldDeadlock, match=r"use the lease it has$"):
        locks.semaphore("s", 1).acquire()
    with locks.rwlock("r").reader, pytest.raises(WouldDeadlock, match=r"use the lease it has$"):
        locks.rwlock("r").reader.acquire()


def test_a_reentrant_one_is_counted_without_a_trip(locks, other, faults):
    lock = locks.mutex("k", reentrant=True)
    with lock as outer:
        faults.requests.clear()
        with lock as inner, locks.mutex("k", reentrant=True):
            assert inner is outer
        assert faults.requests == []
        assert other.mutex("k").try_acquire() is None
    assert other.mutex("k").try_acquire() is not None


def test_it_is_given_back_at_the_last_release(locks, other):
    lock = locks.mutex("k", reentrant=True)
    leases = [lock.acquire() for _ in range(5)]
    for lease in leases:
        assert other.mutex("k").try_acquire() is None
        lease.release()
    assert other.mutex("k").try_acquire() is not None


def test_other_keys_and_clients_are_no_reentrance(locks, other):
    with locks.mutex("k"), locks.mutex("l"), other.mutex("m"):
        with pytest.raises(AcquireTimeout):
            other.mutex("k").acquire(timeout=1)


def test_after_a_loss_it_is_acquired_anew(locks, faults):
    lock = locks.mutex("k", reentrant=True)
    lost = lock.acquire()
    faults.lose(lost)
    lost.release()
    assert lock.acquire() is not lost


def test_a_loss_that_nobody_has_noticed_yet_is_no_reentrance(locks, time):
    lock = locks.mutex("k", reentrant=True)
    lost = lock.acquire()
    time.sleep(60)
    assert lock.acquire() is not lost
    assert lost.lost == "suspended"


def test_each_thread_counts_for_itself():
    with holdfast.connect("memory:") as locks:
        lock = locks.mutex("k", reentrant=True)
        entered, leave = threading.Event(), threading.Event()
        results = []

        def hold():
            with lock, lock:
                entered.set()
                leave.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        entered.wait()
        results.append(lock.try_acquire())
        leave.set()
        thread.join()
        results.append(lock.try_acquire())
        assert results[0] is None
        assert results[1] is not None


def test_a_thread_is_not_taken_for_one_that_has_ended(locks):
    """The system gives a new thread the number of one that is gone; the lease of that one may be in other hands."""
    numbers, outcomes = [], []

    def acquire():
        numbers.append(threading.get_ident())
        try:
            outcomes.append(locks.mutex("k").acquire(timeout=1))
        except holdfast.HoldfastError as error:
            outcomes.append(type(error))

    for _ in range(5):
        thread = threading.Thread(target=acquire)
        thread.start()
        thread.join()
    assert outcomes[1:] == [AcquireTimeout] * 4
    if len(set(numbers)) == len(numbers):
        pytest.skip("this system reused no number")


async def test_each_task_counts_for_itself(world):
    locks = world.async_client()
    lock = locks.mutex("k", reentrant=True)
    order = []

    async def work(name):
        async with lock.acquire(timeout=60) as outer:
            order.append(name)
            await turns()
            async with lock as inner:
                assert inner is outer
                await turns()
            order.append(name)

    async with asyncio.TaskGroup() as group:
        group.create_task(work("a"))
        group.create_task(work("b"))
    assert order == ["a", "a", "b", "b"]


async def test_a_task_that_asks_again_is_told_at_once(world):
    locks = world.async_client()
    async with locks.mutex("k"):
        with pytest.raises(WouldDeadlock, match="this task already holds 'k'"):
            await locks.mutex("k").acquire()
