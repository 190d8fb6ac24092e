"""In asyncio: cancelled when the lease is lost, correct beside every other cancellation; and ways to acquire."""

from __future__ import annotations

import asyncio
import threading

import pytest
from worlds import turns, until_waiting

import holdfast
from holdfast import AcquireTimeout, ConfigError, LeaseLost

FOR_EVER = 20
"""Nothing here takes that long unless it fails."""


def soon(call, *arguments):
    """In the next turn of the loop, as the keeper would."""
    asyncio.get_running_loop().call_soon(call, *arguments)


def at_the_same_time(first, ours, theirs):
    """Both strike in one turn of the loop, in this order."""
    for call, argument in (ours, theirs) if first == "ours" else (theirs, ours):
        soon(call, argument)


def nothing_is_left():
    """No cancellation of ours is still under way, in this turn or the next ones."""
    assert asyncio.current_task().cancelling() == 0


# --- on_lost="cancel" -------------------------------------------------------------------------------------------------


async def test_the_body_is_cancelled_and_the_block_ends_with_the_loss(world, faults):
    reached = []
    with pytest.raises(LeaseLost, match="stolen"):
        async with world.async_client().mutex("k", on_lost="cancel") as lease:
            soon(faults.lose, lease, "stolen")
            reached.append("before")
            await asyncio.sleep(FOR_EVER)
            reached.append("after")
    assert reached == ["before"]
    nothing_is_left()
    await turns()


async def test_without_it_the_body_goes_on_to_its_end(world, faults):
    reached = []
    with pytest.raises(LeaseLost):
        async with world.async_client().mutex("k") as lease:
            soon(faults.lose, lease)
            await turns()
            reached.append("end")
    assert reached == ["end"]


async def test_acquired_by_acquire_the_block_is_cancelled_too(world, faults):
    lock = world.async_client().mutex("k", on_lost="cancel")
    with pytest.raises(LeaseLost):
        async with lock.acquire(timeout=1) as lease:
            soon(faults.lose, lease)
            await asyncio.sleep(FOR_EVER)
    lease = await lock.acquire()
    with pytest.raises(LeaseLost):
        async with lease:
            soon(faults.lose, lease)
            await asyncio.sleep(FOR_EVER)
    nothing_is_left()


async def test_a_body_that_finds_the_loss_itself_is_not_cancelled_behind_its_block(world, time):
    with pytest.raises(LeaseLost, match="suspended"):
        async with world.async_client().mutex("k", ttl=5, on_lost="cancel") as lease:
            time.sleep(60)
            lease.ensure()
    nothing_is_left()
    await turns()


async def test_a_body_that_finds_the_loss_and_goes_on_is_cancelled(world, time):
    reached = []
    with pytest.raises(LeaseLost, match="suspended"):
        async with world.async_client().mutex("k", ttl=5, on_lost="cancel") as lease:
            time.sleep(60)
            assert lease.lost == "suspended"
            reached.append("before")
            await asyncio.sleep(FOR_EVER)
            reached.append("after")
    assert reached == ["before"]
    nothing_is_left()


async def test_a_loss_found_in_another_thread_cancels_the_body(world, time):
    def find(lease):
        time.sleep(60)
        with pytest.raises(LeaseLost):
            lease.ensure()

    with pytest.raises(LeaseLost):
        async with world.async_client().mutex("k", ttl=5, on_lost="cancel") as lease:
            thread = threading.Thread(target=find, args=(lease,))
            thread.start()
            await asyncio.sleep(FOR_EVER)
    thread.join()
    nothing_is_left()


async def test_a_body_that_ends_as_the_lease_is_lost_gets_the_loss(world, faults):
    with pytest.raises(LeaseLost):
        async with world.async_client().mutex("k", on_lost="cancel") as lease:
            faults.lose(lease)
    nothing_is_left()
    await turns()


async def test_a_body_that_turns_its_cancellation_into_another_error_keeps_that(world, faults):
    with pytest.raises(RuntimeError, match="yours") as caught:
        async with world.async_client().mutex("k", on_lost="cancel") as lease:
            soon(faults.lose, lease)
            try:
                await asyncio.sleep(FOR_EVER)
            except asyncio.CancelledError:
                raise RuntimeError("yours") from None
    contexts = [caught.value.__context__, caught.value.__context__.__context__]
    assert any(isinstance(context, LeaseLost) for context in contexts)
    nothing_is_left()


async def test_reentered_the_whole_of_it_is_cancelled(world, faults):
    lock = world.async_client().mutex("k", reentrant=True, on_lost="cancel")
    reached = []
    with pytest.raises(LeaseLost):
        async with lock as lease:
            async with lock:
                pass
            reached.append("inner block left")
            soon(faults.lose, lease)
            await asyncio.sleep(FOR_EVER)
            reached.append("after")
    assert reached == ["inner block left"]
    nothing_is_left()
    with pytest.raises(LeaseLost):
        async with lock, lock as lease:
            soon(faults.lose, lease)
            await asyncio.sleep(FOR_EVER)
    nothing_is_left()


# --- beside other cancellations ---------------------------------------------------------------------------------------


async def test_inside_a_timeout_that_does_not_strike(world, faults):
    with pytest.raises(LeaseLost):
        async with asyncio.timeout(FOR_EVER), world.async_client().mutex("k", on_lost="cancel") as lease:
            soon(faults.lose, lease)
            await asyncio.sleep(FOR_EVER)
    nothing_is_left()


async def test_around_a_timeout_that_does_not_strike(world, faults):
    with pytest.raises(LeaseLost):
        async with world.async_client().mutex("k", on_lost="cancel") as lease, asyncio.timeout(FOR_EVER):
            soon(faults.lose, lease)
            await asyncio.sleep(FOR_EVER)
    nothing_is_left()


async def test_a_timeout_outside_that_strikes_alone_is_a_timeout(world):
    with pytest.raises(TimeoutError) as caught:
        async with asyncio.timeout(0), world.async_client().mutex("k", on_lost="cancel"):
            await asyncio.sleep(FOR_EVER)
    assert not isinstance(caught.value, AcquireTimeout)
    nothing_is_left()


@pytest.mark.parametrize("first", ["ours", "theirs"])
async def test_a_timeout_outside_that_strikes_at_the_same_time_wins(world, faults, first):
    with pytest.raises(TimeoutError) as caught:
        async with asyncio.timeout(FOR_EVER) as timeout:
            async with world.async_client().mutex("k", on_lost="cancel") as lease:
                at_the_same_time(first, (faults.lose, lease), (timeout.reschedule, 0))
                await asyncio.sleep(FOR_EVER)
    assert isinstance(caught.value.__context__.__context__, LeaseLost)
    nothing_is_left()


@pytest.mark.parametrize("first", ["ours", "theirs"])
async def test_a_timeout_inside_that_strikes_at_the_same_time_is_within_the_loss(world, faults, first):
    with pytest.raises(LeaseLost):
        async with world.async_client().mutex("k", on_lost="cancel") as lease:
            async with asyncio.timeout(FOR_EVER) as timeout:
                at_the_same_time(first, (faults.lose, lease), (timeout.reschedule, 0))
                await asyncio.sleep(FOR_EVER)
    nothing_is_left()


async def test_a_cancellation_from_outside_stays_one(world):
    locks = world.async_client()

    async def body():
        async with locks.mutex("k", on_lost="cancel"):
            await asyncio.sleep(FOR_EVER)

    task = asyncio.create_task(body())
    await turns()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await locks.mutex("k").try_acquire() is not None


@pytest.mark.parametrize("first", ["ours", "theirs"])
async def test_a_cancellation_from_outside_at_the_same_time_wins(world, faults, first):
    locks, leases = world.async_client(), []

    async def body():
        async with locks.mutex("k", on_lost="cancel") as lease:
            leases.append(lease)
            await asyncio.sleep(FOR_EVER)

    task = asyncio.create_task(body())
    await turns()
    at_the_same_time(first, (faults.lose, leases[0]), (soon, task.cancel))
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert task.cancelled()
    assert isinstance(caught.value.__context__, LeaseLost)
    assert await locks.mutex("k").try_acquire() is not None


@pytest.mark.parametrize("first", ["ours", "theirs"])
async def test_a_cancellation_from_outside_wins_over_a_reentered_one_too(world, faults, first):
    lock, leases = world.async_client().mutex("k", reentrant=True, on_lost="cancel"), []

    async def body():
        async with lock, lock as lease:
            leases.append(lease)
            await asyncio.sleep(FOR_EVER)

    task = asyncio.create_task(body())
    await turns()
    at_the_same_time(first, (faults.lose, leases[0]), (soon, task.cancel))
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_in_a_task_group_the_loss_ends_the_group(world, faults):
    locks = world.async_client()
    ended = []

    async def guarded():
        async with locks.mutex("k", on_lost="cancel") as lease:
            soon(faults.lose, lease)
            await asyncio.sleep(FOR_EVER)

    async def sibling():
        try:
            await asyncio.sleep(FOR_EVER)
        finally:
            ended.append("sibling")

    with pytest.raises(ExceptionGroup) as caught:
        async with asyncio.TaskGroup() as group:
            group.create_task(guarded())
            group.create_task(sibling())
    assert caught.group_contains(LeaseLost)
    assert ended == ["sibling"]


async def test_a_task_group_inside_is_ended_by_the_loss(world, faults):
    ended = []

    async def child():
        try:
            await asyncio.sleep(FOR_EVER)
        finally:
            ended.append("child")

    with pytest.raises(LeaseLost):
        async with world.async_client().mutex("k", on_lost="cancel") as lease, asyncio.TaskGroup() as group:
            group.create_task(child())
            await turns()
            soon(faults.lose, lease)
    assert ended == ["child"]
    nothing_is_left()


async def test_only_the_task_in_the_block_is_cancelled(world, faults):
    locks = world.async_client()

    async def bystander():
        await turns(50)
        return "done"

    task = asyncio.create_task(bystander())
    with pytest.raises(LeaseLost):
        async with locks.mutex("k", on_lost="cancel") as lease:
            soon(faults.lose, lease)
            await asyncio.sleep(FOR_EVER)
    assert await task == "done"


def test_what_else_on_lost_may_be_is_refused(locks):
    with pytest.raises(ConfigError, match="on_lost='cancel' is not known here: pass a function"):
        locks.mutex("k", on_lost="cancel")

    async def main():
        async with holdfast.connect_async("memory:") as client:
            with pytest.raises(ConfigError, match=r"on_lost='raise' is not known: pass \"cancel\""):
                client.mutex("k", on_lost="raise")

    asyncio.run(main())


# --- ways to acquire --------------------------------------------------------------------------------------------------


async def test_await_it_or_enter_it(world):
    locks, other = world.async_client(), world.async_client()
    lease = await locks.mutex("k").acquire()
    await lease.release()
    async with locks.mutex("k").acquire() as lease:
        lease.ensure()
    async with locks.mutex("k") as lease:
        lease.ensure()
    async with await locks.mutex("k").acquire(timeout=1) as lease:
        assert await other.mutex("k").try_acquire() is None
    assert await other.mutex("k").try_acquire() is not None


async def test_nothing_happens_before_it_is_awaited(world, faults):
    locks = world.async_client()
    acquiring = locks.mutex("k").acquire()
    await turns()
    assert faults.requests == []
    async with acquiring:
        assert faults.requests


async def test_waiting_can_be_cancelled_and_leaves_nothing(world):
    locks, other = world.async_client(), world.async_client()
    async with other.mutex("k"):
        waiting = asyncio.create_task(locks.mutex("k").try_acquire(60))
        await until_waiting(other, "k")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await other.inspect("k")).waiting == 0


async def test_a_timeout_of_asyncio_around_it_leaves_nothing(world):
    locks, other = world.async_client(), world.async_client()
    async with other.mutex("k"):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await locks.mutex("k").acquire(timeout=60)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(locks.mutex("k").acquire(timeout=1e9), 0.001)
        assert (await other.inspect("k")).waiting == 0
    assert await locks.mutex("k").try_acquire() is not None
