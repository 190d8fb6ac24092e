"""The mutex and its lease: one at a time, in turn, never longer than promised, and with a growing fence."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from holdfast.errors import AcquireTimeout, LeaseLost, NotHeld
from holdfast.testing.contract.stage import LONG, Scene, case, done


class MutexCases:
    """What a mutex must do."""

    @case("mutex")
    async def test_a_mutex_is_held_by_one(self, scene: Scene) -> None:
        """Nobody else has it until it is released."""
        ours, theirs = scene.client(), scene.client()
        lease = await done(ours.mutex("k").acquire(timeout=0))
        assert await done(theirs.mutex("k").try_acquire()) is None
        await done(lease.release())
        lease = await done(theirs.mutex("k").acquire(timeout=0))
        assert await done(ours.mutex("k").try_acquire()) is None
        await done(lease.release())

    @case("mutex")
    async def test_a_mutex_says_who_holds_it(self, scene: Scene) -> None:
        """`AcquireTimeout` names the holder."""
        import os

        ours, theirs = scene.client(), scene.client()
        lease = await done(ours.mutex("k").acquire(timeout=0))
        with pytest.raises(AcquireTimeout) as caught:
            await done(theirs.mutex("k").acquire(timeout=0))
        assert [(holder.pid, holder.fence) for holder in caught.value.holders] == [(os.getpid(), lease.fence)]
        assert "'k'" in str(caught.value)

    @case("mutex")
    async def test_a_mutex_gives_growing_fences(self, scene: Scene) -> None:
        """Every holder's fence is above that of all before, whoever they are."""
        clients = scene.client(), scene.client()
        fences: list[int] = []
        for turn in range(6):
            async with scene.holding(clients[turn % 2].mutex("k")) as lease:
                fences.append(lease.fence)
        assert fences == sorted(set(fences))

    @case("mutex")
    async def test_a_mutex_keeps_updates_from_getting_lost(self, scene: Scene) -> None:
        """Whoever reads and writes under it does so alone, and in the order of the fences."""
        clients = [scene.client() for _ in range(3)]
        number, fences = 0, list[int]()

        async def add(client: Any) -> None:
            nonlocal number
            for _ in range(5):
                lease = await scene.within(scene.start(lambda: client.mutex("k").acquire()))
                seen = number
                await asyncio.sleep(0.001)
                number = seen + 1
                fences.append(lease.fence)
                await scene.within(scene.start(lease.release))

        await asyncio.gather(*(add(client) for client in clients))
        assert number == 15
        assert fences == sorted(set(fences))

    @case("mutex")
    async def test_a_mutex_is_handed_on_in_the_order_of_asking(self, scene: Scene) -> None:
        """Those who wait get it one after the other, first come first served."""
        clients = [scene.client() for _ in range(4)]
        lease = await done(clients[0].mutex("k", fair=True).acquire(timeout=0))
        order: list[int] = []

        async def wait(number: int) -> None:
            lock = clients[number].mutex("k", fair=True)
            mine = await scene.within(scene.start(lambda: lock.acquire(timeout=LONG)))
            order.append(number)
            await scene.within(scene.start(mine.release))

        waiting: list[asyncio.Task[None]] = []
        for number in (1, 2, 3):
            waiting.append(asyncio.create_task(wait(number)))
            await scene.in_line(clients[0], "k", number)
        await scene.within(scene.start(lease.release))
        await asyncio.gather(*waiting)
        assert order == [1, 2, 3]

    @case("mutex")
    async def test_a_mutex_leaves_nobody_in_line_who_gave_up(self, scene: Scene) -> None:
        """A waiter whose time is up has left the queue."""
        ours, theirs = scene.client(), scene.client()
        lease = await done(ours.mutex("k").acquire(timeout=0))
        assert await done(theirs.mutex("k", fair=True).try_acquire(timeout=0.05)) is None
        info = await done(ours.inspect("k"))
        assert info.waiting == 0
        await done(lease.release())

    @case("mutex")
    async def test_a_lease_that_nobody_renews_ends(self, scene: Scene) -> None:
        """Its holder knows it without asking, the next one gets it, and is not disturbed by the first one's release."""
        ours, theirs = scene.client(), scene.client()
        old = await done(ours.mutex("k", ttl=scene.brief, renew=False).acquire(timeout=0))
        new = await scene.within(scene.start(lambda: theirs.mutex("k").acquire(timeout=LONG)))
        assert old.lost == "expired"
        assert old.remaining == 0
        assert new.fence > old.fence
        with pytest.raises(LeaseLost):
            old.ensure()
        await done(old.release())
        assert new.lost is None
        assert await done(ours.mutex("k").try_acquire()) is None

    @case("mutex")
    async def test_a_lease_renews_itself(self, scene: Scene) -> None:
        """It is held for several ttls, while somebody waits for it."""
        ours, theirs = scene.client(), scene.client()
        lease = await done(ours.mutex("k", ttl=scene.brief).acquire(timeout=0))
        waiter = scene.start(lambda: theirs.mutex("k").try_acquire(timeout=3 * scene.brief))
        assert await scene.within(waiter) is None
        assert lease.lost is None
        lease.ensure()
        await done(lease.release())

    @case("mutex")
    async def test_a_lease_is_renewed_and_never_shortened_by_hand(self, scene: Scene) -> None:
        """`renew(ttl)` makes it last at least so long."""
        ours = scene.client()
        lease = await done(ours.mutex("k", ttl=20, renew=False).acquire(timeout=0))
        await done(lease.renew(ttl=60))
        assert 40 < lease.remaining < 61
        await done(lease.renew(ttl=5))
        assert lease.remaining > 40
        info = await done(ours.inspect("k"))
        assert info.holders[0].remaining > 40

    @case("mutex")
    async def test_a_lease_that_was_released_is_over(self, scene: Scene) -> None:
        """Releasing twice does nothing; counting on it is an error."""
        lease = await done(scene.client().mutex("k").acquire(timeout=0))
        await done(lease.release())
        await done(lease.release())
        assert (lease.lost, lease.remaining) == (None, 0)
        with pytest.raises(NotHeld):
            lease.ensure()

    @case("mutex")
    async def test_a_payload_goes_to_the_next_holder(self, scene: Scene) -> None:
        """Whatever bytes they are; and empty ones remove it."""
        ours, theirs = scene.client(), scene.client()
        for payload in (b"page 7", b"\n\x00\xff\n\n", b"x" * 5000):
            async with scene.holding(ours.mutex("k", payload=b"first")) as lease:
                assert lease.payload == b"first"
                await done(lease.amend(payload))
            async with scene.holding(theirs.mutex("k")) as lease:
                assert lease.payload == payload
        async with scene.holding(ours.mutex("k")) as lease:
            await done(lease.amend(b""))
        async with scene.holding(theirs.mutex("k")) as lease:
            assert lease.payload is None
        assert await done(ours.inspect("k")) is None

    @case("mutex")
    async def test_a_client_that_closes_gives_everything_back(self, scene: Scene) -> None:
        """Others can have it at once."""
        ours, theirs = scene.client(), scene.client()
        lease = await done(ours.mutex("k").acquire(timeout=0))
        other = await done(ours.rwlock("rw").reader.acquire(timeout=0))
        await done(ours.close())
        assert (lease.remaining, other.remaining) == (0, 0)
        assert await done(theirs.mutex("k").try_acquire()) is not None
        assert await done(theirs.rwlock("rw").writer.try_acquire()) is not None
