"""The store against the rules: whatever is asked of it, it answers as `step` does."""

from __future__ import annotations

import random

from holdfast.core.ops import (
    Acquire,
    Amend,
    Dismiss,
    Enrol,
    Op,
    Pass,
    Release,
    Renew,
    Revoke,
    Shrink,
    Want,
)
from holdfast.core.record import EMPTY, FOREVER, MANY, Kind
from holdfast.core.step import step
from holdfast.engine.program import Program
from holdfast.engine.store import Page, Picked, apply_all
from holdfast.testing.contract.stage import Scene, case, done

LONG = 600_000_000
KINDS: tuple[tuple[Kind, int], ...] = (("mutex", 1), ("rwlock", MANY), ("semaphore", 3))
HISTORIES = 6
LENGTH = 40


class RuleCases:
    """What the engine asks of a store, without the engine."""

    @case("mutex")
    async def test_the_store_answers_as_the_rules_do(self, scene: Scene) -> None:
        """Random histories of operations by two clients, answer by answer."""
        clients = [scene.client()]
        if scene.traits.clock != "none":  # there each client counts in its own time
            clients.append(scene.client())
        for number in range(HISTORIES):
            dice = random.Random(number)
            owners = [client.site.new_owner() for client in clients for _ in range(4 // len(clients))]
            kind, limit = KINDS[number % len(KINDS)]
            key, record = clients[0].store_key("lock", f"history {number}"), EMPTY
            for at in range(LENGTH):
                op = _any_op(dice, owners, kind, limit, at)
                reply = await scene.apply(clients[at % len(clients)], key, op)
                before = record
                record, expected = step(record, op, reply.now)
                assert reply == expected, f"history {number}, {at}: {op} on {before}"

    @case("mutex")
    async def test_several_at_once_are_answered_as_one_by_one(self, scene: Scene) -> None:
        """In their order, also on one key, and more of them than fit in one request."""
        client = scene.client()
        owner, other = client.site.new_owner(), client.site.new_owner()
        want = Want(ttl=LONG)
        keys = [client.store_key("lock", f"k{number}") for number in range(600)]
        replies = await done(
            client.driver.run(
                apply_all(
                    client.site.store,
                    [
                        *((key, Acquire(owner, want)) for key in keys[:300]),
                        *((key, Release(owner)) for key in keys[:300]),
                        (keys[0], Acquire(other, want)),
                        (keys[0], Acquire(owner, want)),
                    ],
                )
            )
        )
        kinds = [type(reply).__name__ for reply in replies]
        assert kinds == ["Granted"] * 300 + ["Released"] * 300 + ["Granted", "Denied"]

    @case("pool")
    async def test_a_member_that_was_picked_unheard_can_be_put_back(self, scene: Scene) -> None:
        """Picking twice with one owner takes one member; `unpick` frees what the owner may have."""
        client = scene.client()
        await done(client.pool("p").add("one"))
        await done(client.pool("p").add("two"))
        store, prefix, owner = client.site.store, client.pool("p")._prefix, client.site.new_owner()
        picked: Picked = await done(client.driver.run(store.pick(prefix, Acquire(owner, Want(ttl=LONG)))))
        again: Picked = await done(client.driver.run(store.pick(prefix, Acquire(owner, Want(ttl=LONG)))))
        page: Page = await done(client.driver.run(store.scan(prefix, prefix, 10)))
        held = [key for key, record in page.records if record.grants]
        assert sorted(held) == sorted({picked.key, again.key})
        await done(client.driver.run(_put_back(store, prefix, owner, held)))
        page = await done(client.driver.run(store.scan(prefix, prefix, 10)))
        assert not [key for key, record in page.records if record.grants]

    @case("mutex")
    async def test_a_scan_goes_page_by_page(self, scene: Scene) -> None:
        """In the order of the keys, each once, and only those with the prefix."""
        client = scene.client()
        owner = client.site.new_owner()
        prefix = client.store_key("lock", "scan/")
        keys = [f"{prefix}{number:02}" for number in range(25)]
        for key in (*reversed(keys), client.store_key("lock", "scan"), client.store_key("lock", "scan0")):
            await scene.apply(client, key, Acquire(owner, Want(ttl=LONG)))
        found: list[str] = []
        while True:
            page: Page = await done(client.driver.run(client.site.store.scan(prefix, found[-1] if found else "", 10)))
            found += [key for key, _ in page.records]
            if len(page.records) < 10:
                break
        assert found == keys


def _put_back(store: object, prefix: str, owner: str, held: list[str]) -> Program[None]:
    yield from store.unpick(prefix, owner)  # type: ignore[attr-defined]
    for key in held:
        yield from store.apply(key, Release(owner))  # type: ignore[attr-defined]


def _any_op(dice: random.Random, owners: list[str], kind: Kind, limit: int, at: int) -> Op:
    owner, heir = dice.choice(owners), dice.choice(owners)
    weight = dice.choice((1, limit)) if kind == "rwlock" else dice.randint(1, limit)
    acquire = Acquire(owner, Want(kind, limit, weight, LONG), dice.choice((0, LONG)), f"host 1 {owner[-1]}")
    return dice.choice(
        (
            acquire,
            acquire,
            acquire,
            acquire,
            Renew(owner, dice.choice((1, LONG, 2 * LONG))),
            Release(owner),
            Release(owner),
            Pass(owner, heir, LONG, "heir"),
            Shrink(owner, 1),
            Amend(owner, dice.choice((None, b"p", b"\n\x00")), dice.choice((0, FOREVER))),
            Revoke(f"m{at}", "ops", "stuck"),
            Acquire(owner, Want("semaphore", 7, 1, LONG)),
            Enrol(b"gpu"),
            Dismiss(),
        )
    )
