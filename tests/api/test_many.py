"""Ten thousand leases: one extra thread, and few requests."""

from __future__ import annotations

import gc
import threading

import pytest

import holdfast
from holdfast.stores.here import ApplyMany

MANY = 10_000
BATCH = 512


def renewals(faults):
    """How many leases each request renewed."""
    assert all(type(request) is ApplyMany for request in faults.requests)
    return [len(request.ops) for request in faults.requests]


def test_they_are_renewed_in_few_batches(locks, time, faults, record_property):
    leases = [locks.mutex(f"k{number}", ttl=30).acquire() for number in range(MANY)]
    for _ in range(3):
        faults.requests.clear()
        time.advance(10)
        sizes = renewals(faults)
        assert sum(sizes) == MANY
        assert len(sizes) == -(-MANY // BATCH)
    assert all(lease.lost is None for lease in leases)
    record_property("requests for a round of 10,000 renewals", len(sizes))


def test_those_that_are_due_about_the_same_time_share_a_batch(locks, time, faults):
    """Spread over a third of the ttl, they take as many requests as there are slots, not as there are leases."""
    for number in range(2_000):
        locks.mutex(f"k{number}", ttl=30).acquire()
        time.advance(0.005)
    faults.requests.clear()
    time.advance(10)
    assert 2_000 <= sum(renewals(faults)) <= 2_400
    assert len(faults.requests) <= 10 / 0.05 + 1


def test_closing_gives_them_back_in_few_batches(locks, other, faults):
    for number in range(MANY):
        locks.mutex(f"k{number}").acquire()
    faults.requests.clear()
    locks.close()
    assert len(renewals(faults)) == -(-MANY // BATCH)
    assert list(other.list()) == []


def test_they_take_one_extra_thread():
    before = threading.active_count()
    with holdfast.connect("memory:") as locks:
        leases = [locks.mutex(f"k{number}").acquire() for number in range(MANY)]
        assert threading.active_count() == before + 1
        assert [thread.name for thread in threading.enumerate()].count("holdfast-keeper") == 1
        for lease in leases:
            lease.release()
        assert locks.site.keeper.holds() == []
    assert threading.active_count() == before


def test_the_thread_looks_again_when_something_is_due_sooner():
    looked = threading.Event()
    with holdfast.connect("memory:") as locks:
        locks.mutex("long", ttl=3000).acquire()
        keeper = locks.site.keeper
        while keeper.planned > locks.driver.clock.ticks() + 3000 * 1_000_000:
            looked.wait(0.001)
        plan = keeper.plan

        def plan_and_tell():
            looked.set()
            return plan()

        keeper.plan = plan_and_tell
        locks.mutex("short", ttl=300).acquire()
        assert looked.wait(30)


def test_without_a_lease_there_is_no_extra_thread():
    before = threading.active_count()
    with holdfast.connect("memory:") as locks:
        locks.inspect("k")
        list(locks.list())
        assert locks.mutex("k").try_acquire(0).release() is None
        assert threading.active_count() <= before + 1
    with holdfast.connect("memory:") as locks:
        locks.inspect("k")
        assert threading.active_count() == before


async def test_they_take_one_batch_after_the_other_in_asyncio(world, time, faults):
    locks = world.async_client()
    leases = [await locks.mutex(f"k{number}").acquire() for number in range(2_000)]
    faults.requests.clear()
    await time.elapse(10)
    assert renewals(faults) == [BATCH, BATCH, BATCH, 2_000 - 3 * BATCH]
    assert all(lease.lost is None for lease in leases)


def test_what_was_released_leaves_nothing_behind(locks, time):
    lock = locks.mutex("k")
    for _ in range(100):
        with lock:
            pass
    site = locks.site
    assert (site.held, site.orphans, site.keeper.holds(), lock._entered) == ({}, {}, [], {})
    assert site.bell.listening == 0
    assert not site.lines._lines
    time.advance(60)
    assert sum(len(slot) for slot in site.keeper._slots.values()) == 0


@pytest.mark.parametrize("attempts", [1, 500])
def test_attempts_that_failed_leave_nothing_behind(locks, other, attempts):
    other.mutex("k", ttl=1e5, renew=False).acquire()
    for _ in range(attempts):
        assert locks.mutex("k").try_acquire(0.001) is None
    site = locks.site
    assert (site.held, site.orphans, site.keeper.holds()) == ({}, {}, [])
    assert (site.bell.listening, site.bell._early) == (0, set())
    assert not site.lines._lines
    gc.collect()
    assert other.inspect("k").waiting == 0
