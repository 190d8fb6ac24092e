"""Once per period, however many start it."""

from __future__ import annotations

import asyncio

import pytest
from worlds import die, turns

import holdfast
from holdfast import ConfigError, LeaseLost

GUARANTEES = ("at most once", "at least once")


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_once_per_period_whoever_starts_it(locks, other, time, guarantee):
    ran = []
    jobs = [client.once("job", every=3600, guarantee=guarantee)(ran.append) for client in (locks, other)]
    for period in range(3):
        for job in jobs * 3:
            assert job(period) is None
            time.advance(60)
        time.advance(3600)
    assert ran == [0, 1, 2]


def test_it_returns_what_the_function_returns_or_none(locks, other):
    def work(one, *, two):
        """What it does."""
        return one + two

    job = locks.once("job", every=60)(work)
    assert job(1, two=2) == 3
    assert other.once("job", every=60)(work)(1, two=2) is None
    assert (job.__name__, job.__doc__) == ("work", "What it does.")


def test_the_period_begins_when_the_run_does(locks, other, time):
    ran = []

    @locks.once("job", every=60)
    def slow():
        ran.append(1)
        time.advance(50)

    slow()
    time.advance(9)
    slow()
    assert len(ran) == 1
    time.advance(1)
    slow()
    assert len(ran) == 2


def test_nobody_starts_it_while_it_runs(locks, other, time):
    ran = []

    @locks.once("job", every=10, guarantee="at least once")
    def slow():
        ran.append("slow")
        time.advance(3600)
        other.once("job", every=10, guarantee="at least once")(ran.append)("another")

    slow()
    assert ran == ["slow"]


@pytest.mark.parametrize(("guarantee", "again"), [("at most once", []), ("at least once", ["again"])])
def test_when_it_fails(locks, other, guarantee, again):
    def fail():
        raise RuntimeError("yours")

    with pytest.raises(RuntimeError, match="yours"):
        locks.once("job", every=60, guarantee=guarantee)(fail)()
    ran = []
    other.once("job", every=60, guarantee=guarantee)(ran.append)("again")
    assert ran == again


@pytest.mark.parametrize(("guarantee", "again"), [("at most once", []), ("at least once", ["again"])])
def test_when_its_runner_is_killed(locks, other, time, guarantee, again):
    def killed():
        die(locks)
        raise SystemExit

    with pytest.raises(SystemExit):
        locks.once("job", every=3600, guarantee=guarantee)(killed)()
    ran = []
    try_it = other.once("job", every=3600, guarantee=guarantee)(ran.append)
    try_it("too early: it may still run")
    assert ran == []
    time.advance(31)
    try_it("again")
    assert ran == again
    time.advance(3600)
    try_it("next period")
    assert ran == [*again, "next period"]


def test_jobs_and_locks_of_one_name_are_different_things(locks, other):
    ran = []
    with other.mutex("job"):
        locks.once("job", every=60)(ran.append)(1)
    locks.once("another job", every=60)(ran.append)(2)
    assert ran == [1, 2]
    assert list(other.list()) == []


def test_who_ran_at_least_once_but_lost_the_lease_is_told(locks, faults):
    @locks.once("job", every=60, guarantee="at least once")
    def work():
        (hold,) = locks.site.keeper.holds()
        faults.lose(hold, "stolen")

    with pytest.raises(LeaseLost, match="'job'"):
        work()


async def test_in_asyncio(world):
    clients = [world.async_client() for _ in range(3)]
    ran = []

    async def work(number):
        ran.append(number)
        await turns()
        return number

    jobs = [client.once("job", every=60)(work) for client in clients]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(job(number)) for number, job in enumerate(jobs)]
    assert len(ran) == 1
    assert sorted(task.result() is not None for task in tasks) == [False, False, True]


def test_what_makes_no_sense_is_refused(locks):
    with pytest.raises(ConfigError, match="every=0 is no period"):
        locks.once("job", every=0)
    with pytest.raises(ConfigError, match="every is -1"):
        locks.once("job", every=-1)
    with pytest.raises(ConfigError, match='choose "at most once" or "at least once"'):
        locks.once("job", every=1, guarantee="exactly once")
    with pytest.raises(ConfigError, match="an empty key"):
        locks.once("", every=1)


def test_the_wrong_colour_is_refused(locks):
    async def work(): ...

    with pytest.raises(ConfigError, match=r"work\(\) is a coroutine function: use a client made by connect_async\(\)"):
        locks.once("job", every=1)(work)

    async def main():
        async with holdfast.connect_async("memory:") as client:
            with pytest.raises(ConfigError, match="is no coroutine function"):
                client.once("job", every=1)(lambda: None)

    asyncio.run(main())


def test_a_generator_is_refused(locks):
    def numbers():
        yield 1

    with pytest.raises(ConfigError, match=r"numbers\(\) is a generator function"):
        locks.once("job", every=1)(numbers)
