"""Hooks and the log: everything that happens is told, and whoever listens breaks nothing."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys

import pytest
from worlds import turns, until_waiting

import holdfast
from holdfast import AcquireTimeout, LeaseLost
from holdfast.observe.events import (
    Asked,
    Broken,
    Denied,
    Event,
    Granted,
    Lost,
    Released,
    Renewed,
    RoundTrip,
    Waited,
)


class Heard(list):
    """A hook that remembers what it was told, but for the trips."""

    def __call__(self, event):
        if not isinstance(event, RoundTrip):
            self.append(event)

    def names(self):
        return [type(event).__name__ for event in self]


@pytest.fixture
def heard():
    return Heard()


@pytest.fixture
def watched(world, heard):
    return world.client(hooks=[heard])


def test_a_lock_from_asking_to_giving_back(watched, heard, time):
    with watched.mutex("k") as lease:
        time.advance(11)
    asked, granted, renewed, released = heard
    assert asked == Asked("k", lease.owner)
    assert granted == Granted("k", lease.fence, 0.0)
    assert renewed == Renewed("k", lease.fence)
    assert released == Released("k", lease.fence, 11.0)


def test_waiting_is_told_once_when_it_begins(watched, heard, other):
    lease = other.mutex("k", ttl=50, renew=False).acquire()
    mine = watched.mutex("k").acquire(timeout=60)
    assert mine.fence > lease.fence
    assert heard == [
        Asked("k", mine.owner),
        Waited("k", mine.owner),
        Granted("k", mine.fence, pytest.approx(50, abs=4)),
    ]


def test_giving_up_is_told(watched, heard, other):
    other.mutex("k", ttl=500, renew=False).acquire()
    assert watched.mutex("k").try_acquire() is None
    assert heard.names() == ["Asked", "Denied"]
    assert heard[1] == Denied("k", 0.0)
    heard.clear()
    with pytest.raises(AcquireTimeout):
        watched.mutex("k").acquire(timeout=5)
    assert heard.names() == ["Asked", "Waited", "Denied"]
    assert heard[2] == Denied("k", pytest.approx(5))


async def test_waiting_in_the_line_of_one_client_is_told_once_too(world, heard):
    locks = world.async_client(hooks=[heard])
    lease = await locks.mutex("k").acquire()
    waiting = asyncio.create_task(locks.mutex("k").try_acquire(60))
    await turns()
    assert heard.names() == ["Asked", "Granted", "Asked", "Waited"]
    await lease.release()
    second = await waiting
    assert [event for event in heard if event[1] == second.owner or type(event) is Granted][-1].fence == second.fence
    assert heard.names().count("Waited") == 1


async def test_who_waits_in_line_and_then_at_the_store_is_told_of_once(world, heard, monkeypatch):
    monkeypatch.setattr("holdfast.engine.releasing.BUDGET", 0)
    locks, other = world.async_client(hooks=[heard]), world.async_client()
    lease = await locks.mutex("k").acquire()
    waiting = asyncio.create_task(locks.mutex("k").try_acquire(60))
    await turns()
    theirs = asyncio.create_task(other.mutex("k").try_acquire(60))
    await until_waiting(other, "k")
    await lease.release()
    await until_waiting(other, "k")
    await (await theirs).release()
    assert await waiting is not None
    assert heard.names().count("Waited") == 1


async def test_every_kind_of_lock_tells_of_waiting(world, heard):
    locks, other = world.async_client(hooks=[heard]), world.async_client()
    sides = other.rwlock("r")
    for theirs, ours in (
        (sides.writer, locks.rwlock("r").reader),
        (sides.reader, locks.rwlock("r").writer),
        (other.semaphore("s", 2, weight=2), locks.semaphore("s", 2)),
        (other.election("e")._lock, locks.election("e")._lock),
    ):
        heard.clear()
        async with theirs:
            waiting = asyncio.create_task(ours.try_acquire(60))
            await until_waiting(other, ours.key)
        lease = await waiting
        assert heard.names() == ["Asked", "Waited", "Granted"]
        assert Waited(ours.key, lease.owner) in heard
        await lease.release()


def test_what_is_taken_from_a_pool_or_for_a_job_is_told_as_well(watched, heard, other, time):
    """Whoever counts what is granted, given back and lost knows what is held."""
    pool = watched.pool("p")
    pool.add("m")
    with pool.acquire() as lease:
        assert watched.pool("p").try_acquire() is None
    assert heard.names() == ["Asked", "Granted", "Asked", "Denied", "Released"]
    assert heard[1:] == [Granted("p", lease.fence, 0.0), heard[2], Denied("p", 0.0), Released("p", lease.fence, 0.0)]
    other.pool("p", ttl=5, renew=False).acquire()
    heard.clear()
    lease = pool.acquire(timeout=60, member="m")
    assert heard[1:] == [Granted("p", lease.fence, 5.0)]
    lease.release()
    other.pool("p", ttl=5, renew=False).acquire()
    heard.clear()
    pool.acquire(timeout=60)
    assert heard.names() == ["Asked", "Waited", "Granted"]
    assert heard[0].owner == heard[1].owner
    heard.clear()
    watched.once("job", every=60)(lambda: time.advance(3))()
    assert heard.names() == ["Asked", "Granted", "Released"]
    assert heard[2].held == 3.0


def test_renewing_by_hand_is_told(watched, heard):
    with watched.mutex("k", renew=False) as lease:
        lease.renew()
        assert heard[-1] == Renewed("k", lease.fence)


def test_a_loss_is_told_once_and_nothing_is_released_then(watched, heard, faults, time):
    with pytest.raises(LeaseLost), watched.mutex("k") as lease:
        time.advance(3)
        faults.lose(lease, "stolen")
        faults.lose(lease, "expired")
    assert heard[2:] == [Lost("k", lease.fence, "stolen", 3.0)]


def test_breaking_is_told_by_whoever_breaks(watched, heard, other):
    other.mutex("k").acquire()
    assert watched.break_lock("k", reason="why") is True
    assert watched.break_lock("k", reason="again") is False
    assert heard == [Broken("k", "why")]


def test_closing_tells_of_each_that_is_given_back(watched, heard):
    fences = [watched.mutex(key).acquire().fence for key in "abc"]
    heard.clear()
    watched.close()
    assert heard == [Released(key, fence, 0.0) for key, fence in zip("abc", fences, strict=True)]


def test_every_trip_is_told_with_its_outcome(world, faults):
    trips = []
    locks = world.client(hooks=[trips.append])
    lease = locks.mutex("k").acquire()
    faults.down = True
    with pytest.raises(holdfast.StoreUnavailable):
        locks.inspect("k")
    faults.down = False
    faults.lose_reply()
    lease.release()
    told = [(event.request, event.outcome) for event in trips if isinstance(event, RoundTrip)]
    assert told == [("Apply", "ok"), ("Scan", "StoreUnavailable"), ("Apply", "OutcomeUnknown"), ("Apply", "ok")]
    assert all(event.seconds >= 0 for event in trips if isinstance(event, RoundTrip))


def test_every_event_there_is_is_tested_here():
    assert set(Event.__args__) == {Asked, Waited, Granted, Denied, Renewed, Released, Lost, Broken, RoundTrip}


def test_events_can_not_be_changed(watched, heard):
    with watched.mutex("k"):
        pass
    for event in heard:
        with pytest.raises(AttributeError):
            event.key = "other"


# --- hooks that raise -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Asked, Waited, Granted, Denied, Renewed, Released, Lost, Broken, RoundTrip])
def test_a_hook_that_raises_breaks_no_lock(world, faults, time, kind, caplog):
    def hook(event):
        if isinstance(event, kind):
            raise RuntimeError("yours")

    heard = Heard()
    locks, other = world.client(hooks=[hook, heard]), world.client()
    other.mutex("k", ttl=5, renew=False).acquire()
    assert locks.mutex("k").try_acquire() is None
    with locks.mutex("k").acquire(timeout=60):
        time.advance(11)
    with pytest.raises(LeaseLost), locks.mutex("k") as lease:
        faults.lose(lease)
    other.mutex("b").acquire()
    locks.break_lock("b")
    assert locks.inspect("k") is None
    assert not locks.site.keeper.holds()
    assert "a hook or callback raised; the lock is not affected" in caplog.messages
    assert kind is RoundTrip or kind.__name__ in heard.names(), "the next hook is told nevertheless"


def test_an_on_lost_that_raises_breaks_nothing(locks, faults, caplog):
    def broken(_lease):
        raise RuntimeError("yours")

    lease = locks.mutex("k", on_lost=broken).acquire()
    faults.lose(lease, "stolen")
    assert lease.lost == "stolen"
    assert "a hook or callback raised; the lock is not affected" in caplog.messages


# --- the log ----------------------------------------------------------------------------------------------------------


def test_a_lost_lease_is_a_warning_with_key_reason_and_how_long_it_was_held(locks, other, time, caplog):
    locks.mutex("k").acquire()
    time.advance(5)
    other.break_lock("k", reason="stuck")
    time.advance(6)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("holdfast", logging.WARNING)
    assert record.getMessage().startswith("lost the lease on 'k': broken by pid ")
    assert record.getMessage().endswith("stuck, after it was held for 9.450 s")


QUIET = """
import sys, holdfast
with holdfast.connect("memory:") as locks:
    for _ in range(3):
        with locks.mutex("k"):
            assert locks.mutex("k").try_acquire() is None
    locks.break_lock("k")
print("logging" in sys.modules)
"""


def test_it_is_quiet_and_does_not_even_load_the_log():
    done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_it_brings_no_handler_and_no_level():
    assert logging.getLogger("holdfast").handlers == []
    assert logging.getLogger("holdfast").level == logging.NOTSET


def test_one_hook_is_written_as_several():
    with pytest.raises(holdfast.ConfigError, match="write hooks="):
        holdfast.connect("memory:", hooks=print)
