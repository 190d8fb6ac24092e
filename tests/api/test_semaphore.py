"""A semaphore: so many permits, of which each takes some."""

from __future__ import annotations

import asyncio

import pytest
from worlds import until_waiting

from holdfast import ConfigError


def test_so_many_at_once_and_no_more(locks, other):
    leases = [client.semaphore("k", 3).acquire() for client in (locks, other, locks)]
    assert other.semaphore("k", 3).try_acquire() is None
    leases[1].release()
    assert other.semaphore("k", 3).try_acquire() is not None


def test_a_weight_takes_several(locks, other):
    with locks.semaphore("k", 5, weight=3):
        assert other.semaphore("k", 5, weight=3).try_acquire() is None
        with other.semaphore("k", 5, weight=2):
            assert locks.semaphore("k", 5).try_acquire() is None
    assert [holder.weight for holder in _held(other, "k", 5, 5)] == [5]


def _held(client, key, permits, weight):
    with client.semaphore(key, permits, weight=weight):
        return client.inspect(key).holders


async def test_the_heavy_are_not_starved_by_the_light(world):
    a, b, c = (world.async_client() for _ in range(3))
    async with asyncio.TaskGroup() as group:
        light = await a.semaphore("k", 3).acquire()
        heavy = group.create_task(b.semaphore("k", 3, weight=3).try_acquire(60))
        await until_waiting(a, "k")
        assert await c.semaphore("k", 3).try_acquire() is None, "it would fit, but somebody heavier was first"
        await light.release()
    assert heavy.result() is not None


def test_a_permit_of_somebody_dead_comes_back(locks, other, time):
    other.semaphore("k", 2, ttl=5, renew=False).acquire()
    with locks.semaphore("k", 2):
        assert locks.semaphore("k", 2).acquire(timeout=6) is not None


def test_every_permit_has_its_own_fence(locks):
    fences = [locks.semaphore("k", 3).acquire().fence for _ in range(3)]
    assert len(set(fences)) == 3


@pytest.mark.parametrize("timeout", [0, 10])
def test_contenders_that_disagree_on_permits_are_told_both(locks, other, timeout):
    with locks.semaphore("k", 3), pytest.raises(ConfigError) as caught:
        other.semaphore("k", 5).acquire(timeout)
    assert "'k' is in use as a semaphore of 3 permits, and was asked for as a semaphore of 5 permits" in str(
        caught.value
    )
    assert caught.value.key == "k"


def test_contenders_that_disagree_on_the_kind_are_told_both(locks, other):
    with locks.semaphore("k", 1), pytest.raises(ConfigError, match=r"as a semaphore of 1 permit, .* as a mutex"):
        other.mutex("k").try_acquire()
    with locks.mutex("k"), pytest.raises(ConfigError, match=r"as a mutex, .* as a readers-writer lock"):
        other.rwlock("k").reader.try_acquire()
    with locks.rwlock("k").writer, pytest.raises(ConfigError, match=r"as a readers-writer lock, .* as an election"):
        other.election("k").lead(0)


async def test_tasks_of_one_client_that_disagree_are_told_too(world):
    """Both are exclusive, so both would stand in line in this client."""
    locks = world.async_client()
    async with locks.semaphore("k", 1):
        asking = asyncio.create_task(locks.semaphore("k", 2, weight=2).try_acquire(60))
        with pytest.raises(ConfigError, match=r"a semaphore of 1 permit, .* a semaphore of 2 permits"):
            await asking


def test_a_free_key_may_change_its_meaning(locks, other):
    for lock in (locks.mutex("k"), other.semaphore("k", 3), locks.rwlock("k").writer, other.semaphore("k", 5)):
        lock.acquire().release()


@pytest.mark.parametrize(
    ("permits", "weight", "sentence"),
    [
        (0, 1, "permits is 0"),
        (-1, 1, "permits is -1"),
        (2.0, 1, "permits is 2.0"),
        (True, 1, "permits is True"),
        ("3", 1, "permits is '3'"),
        (1 << 31, 1, "whole number from 1 to"),
        (3, 0, "weight is 0"),
        (3, None, "weight is None"),
        (3, 4, "a weight of 4 never fits into 3 permits"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(locks, permits, weight, sentence):
    with pytest.raises(ConfigError, match=sentence):
        locks.semaphore("k", permits, weight=weight)
