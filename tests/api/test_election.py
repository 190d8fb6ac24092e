"""An election: one leads, and everybody can see who."""

from __future__ import annotations

import asyncio

import pytest
from worlds import seconds, turns, until, until_waiting

from holdfast import AcquireTimeout, ConfigError, LeaseLost


def test_one_leads(locks, other):
    with locks.election("e").lead() as lease:
        with pytest.raises(AcquireTimeout, match="'e' was not acquired"):
            other.election("e").lead(timeout=1)
        assert other.election("e").leader().fence == lease.fence
    assert other.election("e").leader() is None


def test_leaving_the_block_resigns(locks, other):
    with locks.election("e").lead():
        pass
    with other.election("e").lead(timeout=0):
        assert locks.election("e").leader() is not None


def test_a_dead_leader_is_replaced(locks, other, time):
    with locks.election("e", ttl=5).lead() as lease:
        began = time.ticks()
        locks.site.keeper.retire(lease)
        with other.election("e").lead(timeout=60) as next_lease:
            assert seconds(time, began) == 5
            assert next_lease.fence > lease.fence


def test_the_block_of_a_leader_that_was_replaced_ends_with_the_loss(locks, other, time):
    with pytest.raises(LeaseLost, match="broken") as caught, locks.election("e").lead() as lease:
        other.break_lock("e", reason="deposed")
        time.advance(30)
        assert lease.lost == "broken"
    assert "deposed" in str(caught.value)


def test_changes_are_followed(locks, other):
    leaders = other.election("e").follow(poll=1)
    assert next(leaders) is None
    with locks.election("e").lead() as first:
        assert next(leaders).fence == first.fence
    with locks.election("e").lead() as second:
        assert next(leaders).fence == second.fence
    assert next(leaders) is None


@pytest.mark.parametrize(
    ("poll", "sentence"), [(0, "poll=0 would ask without end"), (-1, "poll is -1"), ("1", "not str")]
)
def test_what_makes_no_sense_as_a_poll_is_refused(locks, poll, sentence):
    with pytest.raises(ConfigError, match=sentence):
        next(locks.election("e").follow(poll=poll))


async def test_the_body_is_cancelled_when_leadership_is_lost(world, faults):
    locks = world.async_client()
    reached = []
    with pytest.raises(LeaseLost, match="stolen"):
        async with locks.election("e").lead() as lease:
            asyncio.get_running_loop().call_soon(faults.lose, lease, "stolen")
            reached.append("before")
            await asyncio.sleep(20)  # it is cancelled at once
            reached.append("after")
    assert reached == ["before"]
    assert asyncio.current_task().cancelling() == 0


async def test_followers_lead_in_turn(world):
    clients = [world.async_client() for _ in range(3)]
    led = []

    async def candidate(number):
        async with clients[number].election("e").lead(timeout=600):
            led.append(number)
            await turns()

    async with asyncio.TaskGroup() as group, clients[0].election("e").lead():
        group.create_task(candidate(2))
        await until_waiting(clients[0], "e")
        group.create_task(candidate(1))
        await until_waiting(clients[0], "e", 2)
    assert led == [2, 1]


async def test_changes_are_followed_in_asyncio(world):
    locks, other = world.async_client(), world.async_client()
    seen = []

    async def follow():
        async for leader in other.election("e").follow(poll=1):
            seen.append(leader.fence if leader else None)
            if len(seen) == 3:
                return

    following = asyncio.create_task(follow())
    await turns()
    async with locks.election("e").lead() as lease:
        await until(lambda: len(seen) == 2)
        assert (await other.election("e").leader()).fence == lease.fence
    await following
    assert seen == [None, lease.fence, None]
