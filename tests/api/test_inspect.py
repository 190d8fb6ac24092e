"""Looking at locks, and breaking them."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest
from worlds import until_waiting

from holdfast import ConfigError, LeaseLost


def test_who_holds_it_and_since_when(locks, other, time):
    lease = locks.mutex("k", ttl=100, renew=False, payload=b"work").acquire()
    time.advance(40)
    info = other.inspect("k")
    assert (info.key, info.kind, info.limit, info.fence) == ("k", "mutex", 1, lease.fence)
    assert (info.waiting, info.payload, info.member) == (0, b"work", None)
    (holder,) = info.holders
    assert (holder.pid, holder.name) == (os.getpid(), threading.current_thread().name)
    assert (holder.fence, holder.weight) == (lease.fence, 1)
    assert (holder.held_for, holder.remaining) == (40, 60)


def test_nobody_and_nothing_is_none(locks, other, time):
    assert locks.inspect("k") is None
    locks.mutex("k", ttl=5, renew=False).acquire()
    assert other.inspect("k") is not None
    assert other.inspect("k2") is None
    time.advance(5)
    assert other.inspect("k") is None


async def test_those_who_wait_are_counted(world):
    clients = [world.async_client() for _ in range(3)]
    async with asyncio.TaskGroup() as group, clients[0].mutex("k"):
        for client in clients[1:]:
            group.create_task(client.mutex("k").try_acquire(60))
        await until_waiting(clients[0], "k", 2)
        assert (await clients[0].inspect("k")).waiting == 2


@pytest.mark.parametrize(
    ("make", "kind", "limit"),
    [
        (lambda locks: locks.mutex("k"), "mutex", 1),
        (lambda locks: locks.rwlock("k").reader, "rwlock", 1 << 30),
        (lambda locks: locks.rwlock("k").writer, "rwlock", 1 << 30),
        (lambda locks: locks.semaphore("k", 7), "semaphore", 7),
    ],
)
def test_its_kind_is_told(locks, other, make, kind, limit):
    with make(locks):
        info = other.inspect("k")
        assert (info.kind, info.limit) == (kind, limit)


# --- list -------------------------------------------------------------------------------------------------------------


def test_list_finds_what_is_held_or_carries_something_in_order(locks, other):
    locks.mutex("b").acquire()
    locks.semaphore("a", 2).acquire()
    with locks.mutex("c"):
        pass
    with locks.mutex("d", payload=b"left"):
        pass
    assert [(info.key, len(info.holders)) for info in other.list()] == [("a", 1), ("b", 1), ("d", 0)]


def test_list_by_prefix(locks, other):
    for key in ("orders/1", "orders/2", "orders", "order", "orderz", "p"):
        locks.mutex(key).acquire()
    assert [info.key for info in other.list("orders/")] == ["orders/1", "orders/2"]
    assert [info.key for info in other.list("orders")] == ["orders", "orders/1", "orders/2"]
    assert [info.key for info in other.list("x")] == []


def test_list_goes_page_by_page_and_only_as_far_as_it_is_read(locks, other, faults):
    keys = [f"k{number:04}" for number in range(500)]
    for key in keys:
        locks.mutex(key).acquire()
    faults.requests.clear()
    found = other.list()
    assert faults.requests == []
    assert next(found).key == "k0000"
    assert len(faults.requests) == 1
    assert [info.key for info in found] == keys[1:]
    assert len(faults.requests) == 3


def test_list_sees_its_own_namespace_only(world):
    first, second, none = world.client(namespace="a"), world.client(namespace="a:lock"), world.client()
    first.mutex("lock:k").acquire()
    second.mutex("k").acquire()
    none.mutex("a:lock:k").acquire()
    assert [info.key for info in first.list()] == ["lock:k"]
    assert [info.key for info in second.list()] == ["k"]
    assert [info.key for info in none.list()] == ["a:lock:k"]


@pytest.mark.parametrize(("prefix", "sentence"), [(5, "prefix is text"), ("a\0", "NUL"), ("\ud800", "lone surrogate")])
def test_what_is_no_prefix_is_refused(locks, prefix, sentence):
    with pytest.raises(ConfigError, match=sentence):
        list(locks.list(prefix))


async def test_list_in_asyncio(world):
    locks = world.async_client()
    for number in range(450):
        await locks.mutex(f"k{number:03}").acquire()
    assert [info.key async for info in locks.list("k")] == [f"k{number:03}" for number in range(450)]


# --- break ------------------------------------------------------------------------------------------------------------


def test_the_broken_holder_is_told_by_whom_and_why(locks, other, time):
    with pytest.raises(LeaseLost) as caught, locks.mutex("k") as lease:
        assert other.break_lock("k", reason="stuck since noon") is True
        assert other.mutex("k").try_acquire() is not None, "it is free at once"
        time.advance(11)
        assert lease.lost == "broken"
    assert f"by pid {os.getpid()} on " in str(caught.value)
    assert "stuck since noon" in str(caught.value)


def test_a_break_makes_the_broken_fence_an_old_one(locks, other):
    lease = locks.mutex("k").acquire()
    other.break_lock("k")
    assert other.mutex("k").acquire().fence > lease.fence + 1


def test_only_the_one_with_that_fence(locks, other, time):
    leases = [locks.semaphore("k", 3).acquire() for _ in range(3)]
    assert other.break_lock("k", fence=leases[1].fence) is True
    assert other.break_lock("k", fence=leases[1].fence) is False
    assert other.break_lock("k", fence=1) is False
    time.advance(11)
    assert [lease.lost for lease in leases] == [None, "broken", None]


def test_without_a_fence_all_of_them(locks, other, time):
    leases = [locks.rwlock("k").reader.acquire(), other.rwlock("k").reader.acquire()]
    assert other.break_lock("k") is True
    time.advance(11)
    assert [lease.lost for lease in leases] == ["broken", "broken"]


def test_what_nobody_holds_can_not_be_broken(locks):
    assert locks.break_lock("k") is False


async def test_who_waits_gets_what_was_broken(world):
    locks, other = world.async_client(), world.async_client()
    lease = await other.mutex("k").acquire()
    waiting = asyncio.create_task(locks.mutex("k").try_acquire(60))
    await until_waiting(other, "k")
    assert await other.break_lock("k", fence=lease.fence, reason="mine") is True
    assert (await waiting).fence > lease.fence


# --- metadata ---------------------------------------------------------------------------------------------------------


def test_without_metadata_nobody_learns_who_it_is(world, time):
    quiet, other = world.client(metadata=False), world.client()
    quiet.mutex("k").acquire()
    (holder,) = other.inspect("k").holders
    assert (holder.host, holder.pid, holder.name) == ("", 0, "")
    assert str(holder).startswith("somebody holds it since ")
    lease = other.mutex("l").acquire()
    quiet.break_lock("l", reason="why")
    time.advance(11)
    with pytest.raises(LeaseLost, match="by somebody: why"):
        lease.ensure()


async def test_a_task_is_known_by_its_name(world):
    locks = world.async_client()

    async def work():
        async with locks.mutex("k"):
            return (await locks.inspect("k")).holders[0].name

    assert await asyncio.create_task(work(), name="the worker (1)") == "the worker (1)"


@pytest.mark.parametrize("name", ["a b", "a\nb", "%20", "", "ü", "x" * 1000])
def test_a_thread_is_known_by_its_name_whatever_that_is(tmp_path, name):
    import holdfast

    for url in ("memory:", f"sqlite:///{tmp_path}/locks.db"):
        with holdfast.connect(url) as locks:
            seen = []
            thread = threading.Thread(target=lambda: seen.append(hold_and_look(locks)), name="t")  # noqa: B023
            thread.name = name
            thread.start()
            thread.join()
            assert seen == [name]


def hold_and_look(locks):
    with locks.mutex("k"):
        return locks.inspect("k").holders[0].name
