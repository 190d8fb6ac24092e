"""The pytest plugin: virtual time, faults and lost leases in other people's tests."""

from __future__ import annotations

import asyncio
import subprocess
import sys

pytest_plugins = ("pytester",)

EXAMPLE = """
import pytest
import holdfast


def charge(locks, order):
    with locks.mutex(f"orders/{order}", ttl=30) as lease:
        lease.ensure()
        return lease.fence


def test_time_is_virtual(holdfast_locks, holdfast_time):
    with holdfast_locks.mutex("k") as lease:
        holdfast_time.advance(7 * 24 * 3600)
        lease.ensure()


def test_nobody_sees_this_time_pass(holdfast_locks, holdfast_time):
    with pytest.raises(holdfast.LeaseLost, match="suspended"):
        with holdfast_locks.mutex("k") as lease:
            holdfast_time.sleep(60)


def test_clients_share_a_store(holdfast_client):
    one, two = holdfast_client(), holdfast_client()
    with one.mutex("k"):
        assert two.mutex("k").try_acquire() is None


def test_every_test_has_a_store_of_its_own(holdfast_locks):
    assert list(holdfast_locks.list()) == []


def test_the_next_call_times_out(holdfast_locks, holdfast_faults):
    holdfast_faults.lose_request()
    with pytest.raises(holdfast.StoreUnavailable):
        charge(holdfast_locks, 42)
    assert charge(holdfast_locks, 42)


def test_the_next_answer_is_lost(holdfast_locks, holdfast_faults):
    holdfast_faults.lose_reply()
    assert charge(holdfast_locks, 42)


def test_the_store_is_away(holdfast_locks, holdfast_faults):
    holdfast_faults.down = True
    with pytest.raises(holdfast.StoreUnavailable):
        charge(holdfast_locks, 42)


@pytest.mark.parametrize("reason", ["expired", "stolen", "broken", "unreachable", "suspended"])
def test_lose_this_lease_now(holdfast_locks, holdfast_faults, reason):
    told = []
    with pytest.raises(holdfast.LeaseLost) as caught:
        with holdfast_locks.mutex("k", on_lost=told.append) as lease:
            holdfast_faults.lose(lease, reason)
    assert (caught.value.reason, told) == (reason, [lease])


def test_in_asyncio(holdfast_async_client, holdfast_time):
    import asyncio

    async def main():
        locks, other = holdfast_async_client(), holdfast_async_client()
        async with locks.mutex("k"):
            await holdfast_time.elapse(3600)
            assert await other.mutex("k").try_acquire(timeout=60) is None
        async with other.mutex("k"):
            pass

    asyncio.run(main())


def test_what_fails_fails(holdfast_locks):
    with holdfast_locks.mutex("k"):
        assert False, "on purpose"
"""


def test_the_fixtures_are_there_in_a_project_that_has_holdfast_installed(pytester):
    pytester.makepyfile(EXAMPLE)
    outcome = pytester.runpytest_inprocess("-q", "-W", "error")
    outcome.assert_outcomes(passed=13, failed=1)
    outcome.stdout.fnmatch_lines(["*on purpose*", "*1 failed, 13 passed*"])


def test_they_are_listed_with_what_they_do(pytester):
    listed = pytester.runpytest_inprocess("--fixtures", "-q").stdout.str()
    for name in ("time", "faults", "client", "locks", "async_client"):
        assert f"holdfast_{name} -- " in listed


def test_it_loads_nothing_until_a_fixture_is_used():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, holdfast.testing.plugin; print('holdfast.client' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"


def test_many_tasks_wait_for_one_lock_in_virtual_time(holdfast_async_client, holdfast_time):
    """No time passes while any of them is at work."""

    async def main():
        locks, other = holdfast_async_client(), holdfast_async_client()
        order = []

        async def work(number):
            async with (locks, other)[number % 2].mutex("k").acquire(timeout=5):
                order.append(number)
                await asyncio.sleep(0)

        before = holdfast_time.ticks()
        await asyncio.gather(*(work(number) for number in range(60)))
        assert len(order) == 60
        assert holdfast_time.ticks() == before

    asyncio.run(main())
