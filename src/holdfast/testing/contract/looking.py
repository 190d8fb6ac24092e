"""Seeing what is held, taking it away by force, and keys of every shape."""

from __future__ import annotations

import os

import pytest

from holdfast.errors import LeaseLost
from holdfast.testing.contract.stage import Scene, case, done

HOSTILE = (
    "a",
    "A",
    "a ",
    " a",
    "a/b",
    "a%2Fb",
    "a:b",
    "{a}b",
    "a*",
    "a?",
    "[a]",
    "a_b",
    "a\\b",
    "a'b",
    'a"b',
    "a;--",
    "a\nb",
    "a\tb",
    "é",
    "e\u0301",
    "日本",
    "\U0001f512",
    ".",
    "..",
    "~",
    "\x7f",
    "\u2028",
    "null",
    "0",
    "x" * 512,
    "é" * 256,
)


class LookingCases:
    """What can be seen and broken."""

    @case("mutex")
    async def test_a_lock_can_be_looked_at(self, scene: Scene) -> None:
        """Who holds it, since when, for how long yet, and what it carries."""
        ours, theirs = scene.client(), scene.client()
        assert await done(theirs.inspect("k")) is None
        lease = await done(ours.mutex("k", ttl=20, payload=b"p").acquire(timeout=0))
        info = await done(theirs.inspect("k"))
        holder = info.holders[0]
        assert (info.key, info.kind, info.limit, info.waiting, info.payload) == ("k", "mutex", 1, 0, b"p")
        assert (holder.pid, holder.fence, holder.weight) == (os.getpid(), lease.fence, 1)
        assert 0 < holder.remaining <= 20.1
        assert 0 <= holder.held_for < 20
        secretive = scene.client(metadata=False)
        await done(lease.release())
        await done(secretive.mutex("other").acquire(timeout=0))
        assert (await done(theirs.inspect("other"))).holders[0].pid == 0

    @case("mutex")
    async def test_locks_are_listed_by_prefix(self, scene: Scene) -> None:
        """In order, page by page, those that are held and no others."""
        ours, theirs = scene.client(), scene.client()
        keys = [f"orders/{number:03}" for number in range(205)]
        for key in keys:
            await done(ours.mutex(key).acquire(timeout=0))
        await done(ours.mutex("orderly").acquire(timeout=0))
        gone = await done(ours.mutex("orders/gone").acquire(timeout=0))
        await done(gone.release())
        assert [info.key for info in await scene.all(theirs.list("orders/"))] == keys
        assert len(await scene.all(theirs.list())) == 206

    @case("mutex")
    async def test_namespaces_do_not_meet(self, scene: Scene) -> None:
        """The same key in two is two locks."""
        ours, theirs = scene.client(), scene.client(namespace=scene.namespace + "-other")
        await done(ours.mutex("k").acquire(timeout=0))
        assert await done(theirs.mutex("k").try_acquire()) is not None
        assert len(await scene.all(ours.list())) == 1

    @case("mutex")
    async def test_keys_of_every_shape_are_different_locks(self, scene: Scene) -> None:
        """And come back as they were."""
        client = scene.client()
        for key in HOSTILE:
            assert await done(client.mutex(key).try_acquire()) is not None, key
        assert sorted(info.key for info in await scene.all(client.list())) == sorted(HOSTILE)
        for key in HOSTILE:
            assert (await done(client.inspect(key))).key == key

    @case("mutex")
    async def test_a_lock_is_broken_and_its_holder_told_by_whom_and_why(self, scene: Scene) -> None:
        """At its next call; the fence goes on growing."""
        ours, theirs = scene.client(), scene.client()
        old = await done(ours.mutex("k", renew=False).acquire(timeout=0))
        assert await done(theirs.break_lock("k", fence=old.fence + 1)) is False
        assert await done(theirs.break_lock("k", fence=old.fence, reason="host is gone")) is True
        assert await done(theirs.break_lock("k")) is False
        with pytest.raises(LeaseLost, match="host is gone") as caught:
            await done(old.renew())
        assert (caught.value.reason, old.lost) == ("broken", "broken")
        new = await done(theirs.mutex("k").acquire(timeout=0))
        assert new.fence > old.fence
        await done(old.release())
        assert await done(ours.mutex("k").try_acquire()) is None
