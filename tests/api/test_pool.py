"""A pool: any free member, a named one, or one that fits."""

from __future__ import annotations

import asyncio

import pytest
from worlds import seconds, turns

from holdfast import AcquireTimeout, ConfigError


@pytest.fixture
def pool(locks):
    made = locks.pool("p")
    for number in range(3):
        made.add(f"m{number}", b"payload %d" % number)
    return made


def test_members_are_listed_in_order_with_their_payloads(pool, other):
    pool.add("a")
    found = list(other.pool("p").members())
    assert [(member.name, member.payload) for member in found] == [
        ("a", None),
        ("m0", b"payload 0"),
        ("m1", b"payload 1"),
        ("m2", b"payload 2"),
    ]


def test_many_members_are_listed_page_by_page(locks, faults):
    pool = locks.pool("p")
    names = [f"m{number:04}" for number in range(450)]
    for name in names:
        pool.add(name)
    faults.requests.clear()
    assert [member.name for member in pool.members()] == names
    assert len(faults.requests) == 3


def test_each_gets_another_member_and_then_nobody_gets_one(pool, other):
    leases = [client.acquire(0) for client in (pool, other.pool("p"), pool)]
    assert {lease.member for lease in leases} == {"m0", "m1", "m2"}
    assert all(lease.payload == b"payload " + lease.member[1:].encode() for lease in leases)
    assert other.pool("p").try_acquire() is None
    leases[1].release()
    assert other.pool("p").try_acquire().member == leases[1].member


def test_a_member_says_who_holds_it(pool):
    with pool.acquire(member="m1"):
        held = {member.name: len(member.info.holders) for member in pool.members()}
        assert held == {"m0": 0, "m1": 1, "m2": 0}
        info = next(member.info for member in pool.members() if member.name == "m1")
        assert (info.key, info.member) == ("p", "m1")


def test_the_named_one_is_waited_for(pool, other, time):
    other.pool("p", ttl=5, renew=False).acquire(member="m1")
    assert pool.try_acquire(member="m1") is None
    began = time.ticks()
    with pool.acquire(timeout=60, member="m1") as lease:
        assert (lease.member, seconds(time, began)) == ("m1", 5)


def test_who_fits_is_chosen_by_its_payload(pool, other):
    def even(payload):
        return int(payload.split()[1]) % 2 == 0

    leases = [other.pool("p").acquire(0, where=even) for _ in range(2)]
    assert {lease.member for lease in leases} == {"m0", "m2"}
    with pytest.raises(AcquireTimeout, match=r"a fitting member of the pool 'p' .* within 1 s"):
        pool.acquire(timeout=1, where=even)
    leases[0].release()
    assert pool.acquire(timeout=1, where=even).member == leases[0].member


def test_any_is_waited_for(pool, other, time):
    for ttl in (50, 5, 500):
        other.pool("p", ttl=ttl, renew=False).acquire()
    began = time.ticks()
    assert pool.acquire(timeout=60) is not None
    assert seconds(time, began) == pytest.approx(5, abs=0.1)


async def test_waiters_share_what_becomes_free(world):
    locks, other = world.async_client(), world.async_client()
    pool = locks.pool("p")
    await pool.add("a")
    await pool.add("b")
    held, most, served = 0, 0, 0

    async def work(client):
        nonlocal held, most, served
        async with client.pool("p").acquire(timeout=600):
            held += 1
            most = max(most, held)
            await turns()
            served += 1
            held -= 1

    async with asyncio.TaskGroup() as group:
        for number in range(10):
            group.create_task(work((locks, other)[number % 2]))
    assert (most, served) == (2, 10)


def test_not_everybody_takes_them_in_the_same_order(world):
    """Of 20 members the same order twice by chance: once in 10 to the 18."""
    client = world.client()
    pool = client.pool("p")
    for number in range(20):
        pool.add(f"m{number:02}")

    def order():
        leases = [pool.acquire(0) for _ in range(20)]
        for lease in leases:
            lease.release()
        return [lease.member for lease in leases]

    orders = [order() for _ in range(3)]
    assert all(sorted(one) == [member.name for member in pool.members()] for one in orders)
    assert orders[0] != orders[1] != orders[2]


def test_a_removed_member_is_kept_by_its_holder_and_given_to_nobody_else(pool):
    with pool.acquire(member="m1") as lease:
        pool.remove("m1")
        lease.ensure()
        assert [member.name for member in pool.members()] == ["m0", "m2"]
    assert {pool.acquire(0).member for _ in range(2)} == {"m0", "m2"}
    assert pool.try_acquire() is None


def test_added_again_it_has_another_payload(pool):
    pool.add("m1", b"new")
    assert pool.acquire(0, member="m1").payload == b"new"


def test_a_holder_can_amend_its_member(pool, other):
    with pool.acquire(0, member="m1") as lease:
        lease.amend(b"used")
    with other.pool("p").acquire(0, member="m1") as lease:
        assert lease.payload == b"used"
        lease.amend(b"")
    assert [member.payload for member in pool.members()] == [b"payload 0", None, b"payload 2"]


def test_pools_whose_names_look_alike_share_nothing(locks):
    names = ("p", "p/", "p/m", "p%2Fm", "p%", "p:m")
    for name in names:
        locks.pool(name).add(f"of {name}")
    for name in names:
        assert [member.name for member in locks.pool(name).members()] == [f"of {name}"]


def test_a_lock_of_the_same_name_is_another_thing(pool, other):
    with other.mutex("p"), other.mutex("p/m0"), other.mutex("m0"):
        assert pool.try_acquire(member="m0") is not None


def test_what_can_never_come_is_refused_at_once(pool):
    with pytest.raises(ConfigError, match="no member 'm9': add it first"):
        pool.acquire(member="m9")
    with pytest.raises(ConfigError, match="pass member or where"):
        pool.acquire(member="m1", where=bool)
    with pytest.raises(ConfigError, match="an empty member"):
        pool.add("")
    with pytest.raises(ConfigError, match="a member is text, not int"):
        pool.add(1)
    with pytest.raises(ConfigError, match="bytes, not str"):
        pool.add("m1", "text")


def test_what_the_predicate_raises_leaves_nothing_held(pool):
    def broken(_payload):
        raise RuntimeError("yours")

    with pytest.raises(RuntimeError, match="yours"):
        pool.acquire(where=broken)
    assert len([pool.acquire(0) for _ in range(3)]) == 3


async def test_in_asyncio(world):
    pool = world.async_client().pool("p")
    await pool.add("a", b"1")
    await pool.add("b", b"2")
    async with pool.acquire(0, where=lambda payload: payload == b"2") as lease:
        assert lease.member == "b"
        assert (await pool.try_acquire()).member == "a"
        assert await pool.try_acquire(member="b") is None
    await pool.remove("b")
    assert [member.name async for member in pool.members()] == ["a"]
