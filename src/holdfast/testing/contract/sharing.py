"""Locks that several may hold: readers beside each other, and permits."""

from __future__ import annotations

import pytest

from holdfast.core.ops import Acquire, Want
from holdfast.core.record import MANY
from holdfast.errors import ConfigError, WouldDeadlock
from holdfast.testing.contract.stage import LONG, Scene, case, done


class RWLockCases:
    """What a readers-writer lock must do."""

    @case("rwlock")
    async def test_readers_share_and_a_writer_is_alone(self, scene: Scene) -> None:
        """Many readers, or one writer."""
        ours, theirs = scene.client().rwlock("k"), scene.client().rwlock("k")
        one, two = await done(ours.reader.acquire(timeout=0)), await done(theirs.reader.acquire(timeout=0))
        assert await done(theirs.writer.try_acquire()) is None
        await done(one.release())
        assert await done(ours.writer.try_acquire()) is None
        await done(two.release())
        writer = await done(ours.writer.acquire(timeout=0))
        assert writer.fence > max(one.fence, two.fence)
        assert await done(theirs.reader.try_acquire()) is None
        assert await done(theirs.writer.try_acquire()) is None

    @case("rwlock")
    async def test_a_waiting_writer_bars_new_readers(self, scene: Scene) -> None:
        """So it is not starved; and the readers get it when it is done."""
        clients = [scene.client() for _ in range(3)]
        reader, writer, late = (client.rwlock("k") for client in clients)
        first = await done(reader.reader.acquire(timeout=0))
        waiting = scene.start(lambda: writer.writer.acquire(timeout=LONG))
        await scene.in_line(clients[0], "k")
        assert await done(late.reader.try_acquire()) is None
        then = scene.start(lambda: late.reader.acquire(timeout=LONG))
        await scene.within(scene.start(first.release))
        written = await scene.within(waiting)
        await scene.within(scene.start(written.release))
        assert (await scene.within(then)).fence > written.fence

    @case("rwlock")
    async def test_a_pending_writer_that_died_bars_nobody(self, scene: Scene) -> None:
        """Its place in line is a lease like any other."""
        ours, theirs = scene.client(), scene.client()
        first = await done(ours.rwlock("k").reader.acquire(timeout=0))
        want = Want("rwlock", MANY, MANY, 30_000_000)
        linger = int(scene.brief * 1_000_000)
        await scene.apply(theirs, first.store_key, Acquire(theirs.site.new_owner(), want, linger, ""))
        await scene.in_line(ours, "k")
        second = await scene.within(scene.start(lambda: ours.rwlock("k").reader.acquire(timeout=LONG)))
        assert first.lost is second.lost is None

    @case("rwlock")
    async def test_a_writer_becomes_a_reader_without_a_gap(self, scene: Scene) -> None:
        """Other readers come in, another writer does not."""
        ours, theirs = scene.client().rwlock("k"), scene.client().rwlock("k")
        lease = await done(ours.writer.acquire(timeout=0))
        await done(lease.downgrade())
        assert await done(theirs.writer.try_acquire()) is None
        other = await done(theirs.reader.acquire(timeout=0))
        await done(lease.release())
        await done(other.release())
        assert await done(theirs.writer.try_acquire()) is not None

    @case("rwlock")
    async def test_a_reader_that_asks_to_write_is_refused(self, scene: Scene) -> None:
        """It would wait for itself."""
        lock = scene.client().rwlock("k")
        lease = await done(lock.reader.acquire(timeout=0))
        with pytest.raises(WouldDeadlock):
            await done(lock.writer.acquire(timeout=LONG))
        assert lease.lost is None


class SemaphoreCases:
    """What a semaphore must do."""

    @case("semaphore")
    async def test_a_semaphore_gives_so_many_permits(self, scene: Scene) -> None:
        """And no more, until one comes back."""
        ours, theirs = scene.client(), scene.client()
        leases = [await done(client.semaphore("k", 3).acquire(timeout=0)) for client in (ours, theirs, ours)]
        assert await done(theirs.semaphore("k", 3).try_acquire()) is None
        await done(leases.pop().release())
        assert await done(theirs.semaphore("k", 3).try_acquire()) is not None

    @case("semaphore")
    async def test_permits_have_weights(self, scene: Scene) -> None:
        """What is held together never weighs more than there is."""
        ours, theirs = scene.client(), scene.client()
        heavy = await done(ours.semaphore("k", 5, weight=3).acquire(timeout=0))
        assert await done(theirs.semaphore("k", 5, weight=3).try_acquire()) is None
        assert await done(theirs.semaphore("k", 5, weight=2).try_acquire()) is not None
        assert await done(theirs.semaphore("k", 5).try_acquire()) is None
        await done(heavy.release())
        assert await done(theirs.semaphore("k", 5, weight=3).try_acquire()) is not None

    @case("semaphore")
    async def test_a_permit_is_waited_for(self, scene: Scene) -> None:
        """And comes when one is given back."""
        ours, theirs = scene.client(), scene.client()
        lease = await done(ours.semaphore("k", 2, weight=2).acquire(timeout=0))
        waiting = [scene.start(lambda: theirs.semaphore("k", 2, fair=True).acquire(timeout=LONG)) for _ in range(2)]
        await scene.in_line(ours, "k", 2)
        await scene.within(scene.start(lease.release))
        one, two = [await scene.within(waiter) for waiter in waiting]
        assert one.fence != two.fence

    @case("semaphore")
    async def test_who_means_another_lock_is_told_so(self, scene: Scene) -> None:
        """Both meanings are named, and nothing is harmed."""
        ours, theirs = scene.client(), scene.client()
        lease = await done(ours.semaphore("k", 3).acquire(timeout=0))
        with pytest.raises(ConfigError, match=r"3.*5|5.*3"):
            await done(theirs.semaphore("k", 5).acquire(timeout=0))
        with pytest.raises(ConfigError, match="mutex"):
            await done(theirs.mutex("k").acquire(timeout=LONG))
        await done(lease.release())
        assert await done(theirs.mutex("k").try_acquire()) is not None
