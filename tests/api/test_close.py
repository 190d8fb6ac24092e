"""Closing a client: everything is given back, who waits is sent away, and whoever asks again is told."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest
from worlds import turns, until_waiting

import holdfast
from holdfast import ConfigError, HoldfastError, NotHeld, StoreError


def test_everything_is_given_back(locks, other):
    locks.mutex("a").acquire()
    locks.rwlock("b").reader.acquire()
    locks.semaphore("c", 3, weight=2).acquire()
    pool = locks.pool("p")
    pool.add("m")
    pool.acquire()
    locks.all_of(locks.mutex("d"), locks.mutex("e")).acquire()
    locks.election("f").lead()
    assert len(list(other.list())) == 6
    locks.close()
    assert list(other.list()) == []
    assert other.pool("p").try_acquire() is not None


def test_its_leases_are_of_no_use_and_not_lost(locks):
    lease = locks.mutex("k").acquire()
    locks.close()
    assert (lease.lost, lease.remaining) == (None, 0.0)
    with pytest.raises(NotHeld, match="was released"):
        lease.ensure()
    lease.release()


def test_closing_inside_a_block_ends_it_quietly(locks, other):
    with locks.mutex("k"):
        locks.close()
        assert other.mutex("k").try_acquire() is not None


def test_closing_twice_is_once(locks):
    locks.close()
    locks.close()
    assert repr(locks).endswith(", closed>")


def test_use_after_close_is_a_clear_error(locks):
    lock, pool, election = locks.mutex("k"), locks.pool("p"), locks.election("e")
    reader = locks.rwlock("r").reader
    once = locks.once("o", every=1)(print)
    locks.close()
    for use in (
        lambda: locks.mutex("k"),
        lambda: locks.rwlock("k"),
        lambda: locks.semaphore("k", 2),
        lambda: locks.pool("k"),
        lambda: locks.election("k"),
    ):
        with pytest.raises(ConfigError, match=r"this client of memory://.* is closed: connect again"):
            use()
    for use in (
        lock.acquire,
        lock.try_acquire,
        lock.__enter__,
        reader.acquire,
        pool.acquire,
        lambda: pool.add("m"),
        lambda: list(pool.members()),
        election.lead,
        election.leader,
        once,
        lambda: locks.inspect("k"),
        lambda: list(locks.list()),
        lambda: locks.break_lock("k"),
    ):
        with pytest.raises(StoreError, match="this client was closed meanwhile: connect again"):
            use()


def test_a_store_that_is_away_does_not_keep_it_open(locks, time, faults):
    locks.mutex("k").acquire()
    faults.down = True
    began = time.ticks()
    locks.close()
    assert time.ticks() - began <= 6_000_000


def test_threads_that_wait_are_sent_away():
    outcomes = []
    with holdfast.connect("memory://close") as other, other.mutex("k"):
        with holdfast.connect("memory://close") as locks:

            def wait():
                try:
                    locks.mutex("k").acquire()
                except HoldfastError as error:
                    outcomes.append(str(error))

            threads = [threading.Thread(target=wait) for _ in range(5)]
            for thread in threads:
                thread.start()
            while len(locks.driver._sleepers) < 5:
                threading.Event().wait(0.001)
        for thread in threads:
            thread.join()
        assert outcomes == ["this client was closed meanwhile: connect again"] * 5
        assert other.inspect("k").waiting == 0


async def test_tasks_that_wait_are_sent_away(world):
    locks, other = world.async_client(), world.async_client()
    async with other.mutex("k"), other.mutex("l"):
        waiting = [asyncio.create_task(locks.mutex(key).try_acquire(60)) for key in "kkl"]
        await until_waiting(other, "k")
        await turns()
        await locks.close()
        for outcome in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(outcome, StoreError)
            assert "closed meanwhile" in str(outcome)
        assert (await other.inspect("k")).waiting == 0


async def test_the_same_in_asyncio(world):
    locks, other = world.async_client(), world.async_client()
    lock = locks.mutex("k")
    async with locks:
        lease = await lock.acquire()
    assert await other.inspect("k") is None
    with pytest.raises(NotHeld):
        await lease.renew()
    with pytest.raises(ConfigError, match="is closed: connect again"):
        locks.mutex("k")
    with pytest.raises(StoreError, match="closed meanwhile"):
        await lock.acquire()
    await locks.close()
    assert repr(locks).endswith(", closed>")


async def test_nothing_runs_on_after_close():
    before = asyncio.all_tasks()
    async with holdfast.connect_async("memory:") as locks:
        await locks.mutex("k").acquire()
        assert len(asyncio.all_tasks()) == len(before) + 1
    assert asyncio.all_tasks() == before


FORGOTTEN = """
import sys, holdfast
locks = holdfast.connect(sys.argv[1])
locks.mutex("k").acquire()
"""


def test_a_client_that_nobody_closes_gives_back_at_the_interpreters_end(tmp_path):
    url = f"sqlite:///{tmp_path}/locks.db"
    done = subprocess.run([sys.executable, "-c", FORGOTTEN, url], capture_output=True, timeout=60, check=True)
    assert done.stderr == b""
    with holdfast.connect(url) as locks:
        assert locks.inspect("k") is None
