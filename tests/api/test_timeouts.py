"""How long a caller waits: one grammar everywhere, total, and by a monotonic clock."""

from __future__ import annotations

import copy
from datetime import timedelta
from decimal import Decimal

import pytest
from worlds import seconds

import holdfast
from holdfast import AcquireTimeout, ConfigError, StoreUnavailable


def waits(locks):
    """Everything that takes a timeout."""
    pool = locks.pool("k")
    pool.add("a")
    return {
        "mutex": locks.mutex("k"),
        "reader": locks.rwlock("k").reader,
        "writer": locks.rwlock("k").writer,
        "semaphore": locks.semaphore("k", 2),
        "all_of": locks.all_of(locks.mutex("k"), locks.mutex("l")),
        "pool": pool,
    }


KINDS = ("mutex", "reader", "writer", "semaphore", "all_of", "pool")


def busy(other, kind, ttl=1000):
    """Somebody else holds it, all of it."""
    lock = {
        "reader": lambda: other.rwlock("k", ttl=ttl, renew=False).writer,
        "writer": lambda: other.rwlock("k", ttl=ttl, renew=False).writer,
        "semaphore": lambda: other.semaphore("k", 2, weight=2, ttl=ttl, renew=False),
        "pool": lambda: other.pool("k", ttl=ttl, renew=False),
    }.get(kind, lambda: other.mutex("k", ttl=ttl, renew=False))
    return lock().acquire(0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("timeout", [0, 0.0, timedelta(0)])
def test_0_does_not_wait(locks, other, time, kind, timeout):
    lock = waits(locks)[kind]
    busy(other, kind)
    began = time.ticks()
    assert lock.try_acquire() is None
    assert lock.try_acquire(timeout) is None
    with pytest.raises(AcquireTimeout, match="within 0 s"):
        lock.acquire(timeout)
    assert time.ticks() == began


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("timeout", [7, 7.0, timedelta(seconds=7)])
def test_a_timeout_is_the_whole_of_the_waiting(locks, other, time, kind, timeout):
    lock = waits(locks)[kind]
    busy(other, kind)
    began = time.ticks()
    assert lock.try_acquire(timeout) is None
    assert seconds(time, began) == pytest.approx(7, abs=0.001)
    with pytest.raises(AcquireTimeout, match="within 7 s"):
        lock.acquire(timeout)
    assert seconds(time, began) == pytest.approx(14, abs=0.002)


@pytest.mark.parametrize("kind", KINDS)
def test_none_waits_for_ever(locks, other, time, kind):
    lock = waits(locks)[kind]
    busy(other, kind, ttl=100_000)
    began = time.ticks()
    assert lock.acquire(None) is not None
    assert seconds(time, began) == pytest.approx(100_000, abs=5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("timeout", "sentence"),
    [
        (-1, r"timeout is -1 s: it must be a number of seconds from 0 to 1e9"),
        (timedelta(seconds=-1), "timeout is -1.0 s"),
        (float("nan"), "timeout is nan s"),
        (float("inf"), "timeout is far too many s"),
        (10**400, "timeout is far too many s"),
        ("5", "timeout is a number of seconds or a timedelta, not str"),
        (True, "not bool"),
        (Decimal(5), "not Decimal"),
        (b"5", "not bytes"),
    ],
)
def test_what_is_no_timeout_is_refused_also_if_the_lock_is_free(locks, kind, timeout, sentence):
    lock = waits(locks)[kind]
    with pytest.raises(ConfigError, match=sentence):
        lock.acquire(timeout)
    with pytest.raises(ConfigError, match=sentence):
        lock.try_acquire(timeout)


def test_setting_the_clock_back_or_forth_changes_nothing(locks, other, time, monkeypatch):
    busy(other, "mutex")
    monkeypatch.setattr("time.time", lambda: 0.0)
    began = time.ticks()
    assert locks.mutex("k").try_acquire(5) is None
    assert seconds(time, began) == 5


def test_a_store_that_goes_away_while_one_waits_does_not_make_it_longer(locks, other, time, faults):
    busy(other, "mutex")
    pause = locks.driver.pause

    def go_away(ear, until):
        faults.down = True
        return pause(ear, until)

    locks.driver.pause = go_away
    began = time.ticks()
    with pytest.raises(StoreUnavailable):
        locks.mutex("k", ttl=1000).acquire(timeout=5)
    assert seconds(time, began) == pytest.approx(5, abs=0.001)


def test_the_answer_is_no_though_the_store_went_away_when_asked_who(locks, other, faults):
    busy(other, "mutex")
    faults.plan(None, "lost request")
    with pytest.raises(AcquireTimeout, match="'k' was not acquired within 0 s"):
        locks.mutex("k").acquire(0)


def test_it_says_who_holds_it_since_when_and_for_how_long_yet(locks, other, time):
    lease = other.mutex("k", ttl=100, renew=False).acquire()
    time.advance(40)
    with pytest.raises(AcquireTimeout) as caught:
        locks.mutex("k").acquire(timeout=10)
    error = caught.value
    (holder,) = error.holders
    assert isinstance(error, TimeoutError)
    assert (error.key, holder.fence) == ("k", lease.fence)
    assert (holder.held_for, holder.remaining) == (pytest.approx(50), pytest.approx(50))
    assert f"pid {holder.pid} ({holder.name}) holds it since" in str(error)
    assert "(50.0 s), for 50.0 s yet" in str(error)
    assert copy.copy(error).holders == error.holders


def test_it_counts_those_that_it_does_not_name(locks, other):
    for _ in range(5):
        other.semaphore("k", 5).acquire()
    with pytest.raises(AcquireTimeout, match="and 2 more; wait longer") as caught:
        locks.semaphore("k", 5).acquire(0)
    assert len(caught.value.holders) == 5


async def test_the_same_in_asyncio(world, time):
    locks, other = world.async_client(), world.async_client()
    await other.mutex("k", ttl=1000, renew=False).acquire()
    began = time.ticks()
    assert await locks.mutex("k").try_acquire() is None
    assert time.ticks() == began
    assert await locks.mutex("k").try_acquire(timedelta(seconds=7)) is None
    with pytest.raises(AcquireTimeout, match="within 3 s"):
        await locks.mutex("k").acquire(3)
    assert seconds(time, began) == pytest.approx(10, abs=0.001)
    with pytest.raises(ConfigError, match="timeout is -1 s"):
        await locks.mutex("k").acquire(-1)


@pytest.mark.parametrize(
    ("ttl", "sentence"),
    [
        (0, "a ttl of 0.0 s can't work on memory"),
        (0.0001, "a ttl of 0.0001 s can't work on memory: choose from 0.001 to 604800 s"),
        (8 * 24 * 3600, "choose from"),
        (-1, "ttl is -1 s"),
        ("30", "ttl is a number of seconds or a timedelta, not str"),
    ],
)
def test_a_ttl_has_the_same_grammar(locks, ttl, sentence):
    for make in (locks.mutex, locks.rwlock, locks.pool, locks.election):
        with pytest.raises(ConfigError, match=sentence):
            make("k", ttl=ttl)
    with pytest.raises(ConfigError, match=sentence):
        locks.semaphore("k", 2, ttl=ttl)
    with pytest.raises(ConfigError, match=sentence):
        holdfast.connect("memory:", ttl=ttl)


def test_a_ttl_may_be_a_timedelta(world):
    with world.client(ttl=timedelta(minutes=1)).mutex("k") as lease:
        assert 59 > lease.remaining > 58
    with world.client().mutex("k", ttl=timedelta(minutes=2)) as lease:
        assert 118 > lease.remaining > 117
