"""Release, as programs: to the next in line here, or to the store; and all at once, when the client leaves."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from holdfast.core.ops import Granted, Pass, Release, Reply
from holdfast.engine.hold import Hold
from holdfast.engine.insisting import GRACE, insist, persist
from holdfast.engine.program import SECOND, TICKS, Program
from holdfast.engine.queueing import BUDGET, Passed, Place
from holdfast.engine.site import Site
from holdfast.engine.store import BATCH, apply_all
from holdfast.errors import StoreError, StoreUnavailable
from holdfast.observe import events


def relinquish(site: Site, hold: Hold) -> Program[None]:
    """Give the grant to the next in line here, or back to the store."""
    heir = site.lines.next(hold.line) if hold.line else None
    if heir is None:
        yield from release(site, hold)
        return
    passed: Passed | None = None
    try:
        passed = yield from _pass_on(site, hold, heir)
        if passed is None:
            yield from release(site, hold)
    finally:
        heir.call(passed)


def _pass_on(site: Site, hold: Hold, heir: Place) -> Program[Passed | None]:
    if hold.passes >= BUDGET:
        return None
    asked = yield TICKS
    try:
        reply = yield from site.store.apply(hold.store_key, Pass(hold.owner, heir.owner, heir.ttl, heir.holder))
    except StoreError:
        return None
    return Passed(reply, asked, hold.passes + 1) if type(reply) is Granted else None


def release(site: Site, hold: Hold) -> Program[Reply | None]:
    """Give it back.  None: the store did not answer for so long that the keeper goes on trying."""
    op = Release(hold.owner)
    try:
        try:
            return (yield from site.store.apply(hold.store_key, op))
        except StoreUnavailable:
            now = yield TICKS
            if now >= hold.valid_until:
                raise
            reply, _ = yield from insist(site, hold.store_key, op, min(hold.valid_until, now + GRACE))
            return reply
    except GeneratorExit:
        raise
    except BaseException as error:
        site.orphan(hold.owner, hold.store_key, max(hold.valid_until, site.ticks() + GRACE))
        if isinstance(error, StoreError):
            return None
        raise


def leave_queues(site: Site) -> Program[None]:
    """Whoever waits here is sent away and may not come to say so itself."""
    ops = [(key, Release(owner)) for owner, key in list(site.queued.items())]
    with suppress(StoreError):  # a place in a queue ends by itself
        for start in range(0, len(ops), BATCH):
            yield from apply_all(site.store, ops[start : start + BATCH])


def give_back_all(site: Site, holds: Sequence[Hold]) -> Program[None]:
    """Give back everything at once, for which a store that does not answer has one grace period altogether."""
    until = (yield TICKS) + GRACE
    for start in range(0, len(holds), BATCH):
        batch = holds[start : start + BATCH]
        ops = [(hold.store_key, Release(hold.owner)) for hold in batch]
        try:
            yield from persist(site, partial(apply_all, site.store, ops), until)
        except StoreError:
            return  # what is left ends by itself
        for hold in batch if site.hooks else ():
            site.tell(events.Released(hold.key, hold.fence, ((yield TICKS) - hold.born) / SECOND))
