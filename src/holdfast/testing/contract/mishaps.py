"""What goes wrong between a client and its store: lost requests, lost replies, requests that arrive twice, silence."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from holdfast.errors import HoldfastError, StoreUnavailable
from holdfast.testing.contract.stage import LONG, Scene, case, done
from holdfast.testing.faults import Fault, Faults

MISHAPS: tuple[Fault | None, ...] = ("lost request", "lost reply", "repeated")

HOLD = """
import sys, holdfast
locks = holdfast.connect(sys.argv[1], namespace=sys.argv[2], ttl=60)
locks.mutex("k").acquire(timeout=10)
print("held", flush=True)
sys.stdin.read()
"""

TAKE: dict[str, Callable[[Any, Scene], Any]] = {
    "mutex": lambda client, _scene: client.mutex("k"),
    "reader": lambda client, _scene: client.rwlock("k").reader,
    "writer": lambda client, _scene: client.rwlock("k").writer,
    "semaphore": lambda client, _scene: client.semaphore("k", 2, weight=2),
    "pool": lambda client, scene: client.pool(
        "k", ttl=scene.brief
    ),  # a request that arrives twice may take two; one ends by itself
    "all of": lambda client, _scene: client.all_of(client.mutex("k"), client.mutex("l")),
}


class MishapCases:
    """Whatever happens: the caller has a lease in hand, or the store holds nothing for it."""

    @case("mutex")
    async def test_a_mishap_on_the_way_to_a_lease(self, scene: Scene) -> None:
        """Every kind of lock, every mishap, at each of the first requests."""
        await done(scene.client().pool("k").add("only"))
        for name, lock in TAKE.items():
            for mishap in MISHAPS:
                for before in range(3):
                    await _take_and_check(scene, name, lock, (*(None,) * before, mishap))

    @case("mutex")
    async def test_a_mishap_on_the_way_back(self, scene: Scene) -> None:
        """A release that was heard twice, or whose answer was lost, has released."""
        ours = scene.client()
        for mishap in MISHAPS:
            faults = Faults()
            client = scene.client(faults)
            lease = await done(client.mutex("k").acquire(timeout=0))
            faults.plan(mishap)
            await done(lease.release())
            after = await done(ours.mutex("k").try_acquire(timeout=LONG))
            assert after is not None, mishap
            await done(after.release())

    @case("mutex")
    async def test_a_store_that_can_not_be_reached_says_so(self, scene: Scene) -> None:
        """And the client goes on when it is back."""
        faults = Faults()
        client = scene.client(faults)
        faults.down = True
        with pytest.raises(StoreUnavailable):
            await done(client.mutex("k").acquire(timeout=0))
        faults.down = False
        assert await done(client.mutex("k").try_acquire()) is not None

    @case("mutex")
    async def test_who_can_not_renew_is_told(self, scene: Scene) -> None:
        """With the reason, before anybody else can have the lock."""
        faults = Faults()
        client, theirs = scene.client(faults), scene.client()
        told: list[str] = []

        def tell(lease: Any) -> None:
            told.append(lease.lost)

        lock = client.mutex("k", ttl=scene.brief, on_lost=tell)
        lease = await done(lock.acquire(timeout=0))
        faults.down = True
        after = await scene.within(scene.start(lambda: theirs.mutex("k").acquire(timeout=LONG)))
        assert lease.lost == "unreachable"
        assert told == ["unreachable"]
        assert after.fence > lease.fence
        faults.down = False

    @case("mutex")
    async def test_waiting_asks_rarely(self, scene: Scene) -> None:
        """Where waiters are woken: no more than now and then."""
        if scene.traits.wakes != "push":
            pytest.skip("this store says that it wakes nobody")
        faults = Faults()
        ours, client = scene.client(), scene.client(faults)
        await done(ours.mutex("k").acquire(timeout=0))
        assert await scene.within(scene.start(lambda: client.mutex("k").try_acquire(timeout=1))) is None
        assert len(faults.requests) <= 4

    @case("mutex")
    async def test_a_holder_that_was_killed_is_followed(self, scene: Scene) -> None:
        """At once, where its death can be proved."""
        if scene.traits.scope == "process":
            pytest.skip("this store says that no other process can reach it")
        if not scene.traits.proof_of_death:
            pytest.skip("this store says that a holder's death can't be proved to it")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", HOLD, scene.url, scene.namespace, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        try:
            assert await scene.within(process.stdout.readline()) == b"held\n"
            client = scene.client()
            waiting = scene.start(lambda: client.mutex("k").acquire(timeout=LONG))
            await scene.in_line(client, "k")
        finally:
            process.kill()
            await process.wait()
        assert await scene.within(waiting) is not None


async def _take_and_check(
    scene: Scene, name: str, lock: Callable[[Any, Scene], Any], planned: tuple[Fault | None, ...]
) -> None:
    faults = Faults()
    client, other = scene.client(faults), scene.client()
    faults.plan(*planned)
    lease = None
    with suppress(HoldfastError):
        lease = await done(lock(client, scene).try_acquire(timeout=0))
    if lease is not None:
        lease.ensure()
        if name != "reader":
            assert await done(lock(other, scene).try_acquire()) is None, (name, planned)
        await done(lease.release())
    after = await scene.within(scene.start(lambda: lock(other, scene).acquire(timeout=LONG)))
    assert after.lost is None, (name, planned)
    await done(after.release())
    await done(client.close())
    await done(other.close())
