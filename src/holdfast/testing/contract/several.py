"""Pools, elections, all-of and once-per-period: what is made of several locks, or of one used in its own way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from holdfast.errors import AcquireTimeout, ConfigError
from holdfast.testing.contract.stage import LONG, Scene, case, done


class PoolCases:
    """What a pool must do."""

    @case("pool")
    async def test_a_pool_gives_each_member_once(self, scene: Scene) -> None:
        """Until there is none free; with its payload."""
        ours, theirs = scene.client().pool("gpus"), scene.client().pool("gpus")
        for number in range(4):
            await done(ours.add(f"gpu{number}", b"%d" % number))
        leases = [await done(pool.acquire(timeout=0)) for pool in (ours, theirs, ours, theirs)]
        assert sorted((lease.member, lease.payload) for lease in leases) == [
            (f"gpu{number}", b"%d" % number) for number in range(4)
        ]
        assert await done(theirs.try_acquire()) is None
        with pytest.raises(AcquireTimeout):
            await done(theirs.acquire(timeout=0))
        back = leases.pop()
        await done(back.release())
        again = await done(theirs.acquire(timeout=0))
        assert (again.member, again.fence > back.fence) == (back.member, True)

    @case("pool")
    async def test_a_pool_lists_its_members(self, scene: Scene) -> None:
        """More of them than fit in one page, and who holds which."""
        pool = scene.client().pool("gpus")
        names = [f"gpu{number:03}" for number in range(230)]
        for name in names:
            await done(pool.add(name))
        held = await done(pool.acquire(timeout=0, member="gpu100"))
        members = await scene.all(pool.members())
        assert [member.name for member in members] == names
        assert [member.name for member in members if member.info.holders] == ["gpu100"]
        await done(pool.remove("gpu000"))
        await done(held.release())
        assert len(await scene.all(pool.members())) == 229

    @case("pool")
    async def test_a_member_is_asked_for_by_name_or_by_what_it_carries(self, scene: Scene) -> None:
        """And one that is not there is an error, not a wait."""
        ours, theirs = scene.client().pool("gpus"), scene.client().pool("gpus")
        await done(ours.add("small", b"8"))
        await done(ours.add("big", b"80"))
        big = await done(ours.acquire(timeout=0, where=_is_big))
        assert big.member == "big"
        assert await done(theirs.try_acquire(where=_is_big)) is None
        assert await done(theirs.try_acquire(member="big")) is None
        assert (await done(theirs.acquire(timeout=0, member="small"))).member == "small"
        with pytest.raises(ConfigError):
            await done(theirs.acquire(timeout=0, member="huge"))

    @case("pool")
    async def test_a_member_is_waited_for(self, scene: Scene) -> None:
        """Whoever waits gets the first that becomes free."""
        ours, theirs = scene.client(), scene.client()
        await done(ours.pool("gpus").add("only"))
        lease = await done(ours.pool("gpus").acquire(timeout=0))
        waiting = scene.start(lambda: theirs.pool("gpus").acquire(timeout=LONG))
        await asyncio.sleep(0.02)
        await scene.within(scene.start(lease.release))
        assert (await scene.within(waiting)).member == "only"

    @case("pool")
    async def test_a_member_whose_holder_is_gone_comes_back(self, scene: Scene) -> None:
        """After its ttl, to who waits for any."""
        ours, theirs = scene.client(), scene.client()
        await done(ours.pool("gpus").add("only"))
        await done(ours.pool("gpus", ttl=scene.brief, renew=False).acquire(timeout=0))
        lease = await scene.within(scene.start(lambda: theirs.pool("gpus").acquire(timeout=LONG)))
        assert lease.member == "only"

    @case("pool")
    async def test_what_is_removed_is_given_to_nobody(self, scene: Scene) -> None:
        """Its holder keeps it until it is released."""
        pool, other = scene.client().pool("gpus"), scene.client().pool("gpus")
        await done(pool.add("only"))
        lease = await done(pool.acquire(timeout=0))
        await done(other.remove("only"))
        assert lease.lost is None
        await done(lease.release())
        assert await done(other.try_acquire()) is None
        assert await scene.all(other.members()) == []


def _is_big(payload: bytes | None) -> bool:
    return payload == b"80"


class ElectionCases:
    """What an election must do."""

    @case("election")
    async def test_one_leads_and_all_can_see_who(self, scene: Scene) -> None:
        """And the next one when it steps down."""
        ours, theirs = scene.client().election("leader"), scene.client().election("leader")
        assert await done(theirs.leader()) is None
        async with scene.holding(ours.lead(timeout=0)) as lease:
            leader = await done(theirs.leader())
            assert leader.fence == lease.fence
            with pytest.raises(AcquireTimeout):
                async with scene.holding(theirs.lead(timeout=0)):
                    raise AssertionError("two lead")
        async with scene.holding(theirs.lead(timeout=0)) as lease:
            assert (await done(ours.leader())).fence == lease.fence
        assert await done(ours.leader()) is None

    @case("election")
    async def test_changes_of_leadership_are_followed(self, scene: Scene) -> None:
        """Each as it comes."""
        ours, theirs = scene.client().election("leader"), scene.client().election("leader")
        changes = theirs.follow(poll=0.02)
        assert await scene.first(changes) is None
        async with scene.holding(ours.lead(timeout=0)) as lease:
            assert (await scene.first(changes)).fence == lease.fence
        assert await scene.first(changes) is None


class AllOfCases:
    """What holding several locks at once must do."""

    @case("all_of")
    async def test_all_or_nothing(self, scene: Scene) -> None:
        """One that is taken keeps the others free."""
        ours, theirs = scene.client(), scene.client()
        taken = await done(theirs.mutex("b").acquire(timeout=0))
        several = ours.all_of(ours.mutex("c"), ours.mutex("b"), ours.mutex("a"))
        assert await done(several.try_acquire()) is None
        for key in "ac":
            assert await done(theirs.mutex(key).try_acquire()) is not None, key
        await done(theirs.break_lock("a"))
        await done(theirs.break_lock("c"))
        await done(taken.release())
        lease = await done(several.acquire(timeout=0))
        for key in "abc":
            assert await done(theirs.mutex(key).try_acquire()) is None, key
        await done(lease.release())
        assert await done(theirs.mutex("a").try_acquire()) is not None

    @case("all_of")
    async def test_two_that_want_the_same_in_another_order_do_not_lock_up(self, scene: Scene) -> None:
        """They take them in the same order."""
        clients = scene.client(), scene.client()
        held = 0

        async def work(client: Any, keys: str) -> None:
            nonlocal held
            for _ in range(4):
                several = client.all_of(*(client.mutex(key) for key in keys))
                lease = await scene.within(scene.start(several.acquire))
                held += 1
                assert held == 1
                await asyncio.sleep(0)
                held -= 1
                await scene.within(scene.start(lease.release))

        await asyncio.gather(work(clients[0], "abc"), work(clients[1], "cba"))


class OnceCases:
    """What once per period must do."""

    @case("once")
    async def test_once_however_many_start_it(self, scene: Scene) -> None:
        """One of them runs, in each period."""
        clients = [scene.client() for _ in range(3)]
        runs: list[int] = []

        def job() -> str:
            runs.append(1)
            return "done"

        functions = [client.once("job", every=3600)(scene.function(job)) for client in clients]
        results = await asyncio.gather(*(scene.within(scene.start(function)) for function in functions))
        assert sorted(results, key=str) == [None, None, "done"]
        assert len(runs) == 1
        assert await done(functions[0]()) is None

    @case("once")
    async def test_again_in_the_next_period(self, scene: Scene) -> None:
        """It waits for nobody."""
        runs: list[int] = []
        function = scene.client().once("job", every=scene.brief)(scene.function(lambda: runs.append(1)))
        await done(function())

        async def ran_again() -> bool:
            await done(function())
            return len(runs) == 2

        await scene.until(ran_again)

    @case("once")
    async def test_a_run_that_fails_counts_or_not(self, scene: Scene) -> None:
        """At most once: the period is used up.  At least once: the next one tries again."""
        client = scene.client()

        def fail() -> None:
            raise ZeroDivisionError

        for guarantee, again in (("at most once", None), ("at least once", "ran")):
            once = client.once(guarantee, every=3600, guarantee=guarantee)
            with pytest.raises(ZeroDivisionError):
                await done(once(scene.function(fail))())
            assert await done(once(scene.function(lambda: "ran"))()) == again
