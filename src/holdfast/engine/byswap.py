"""A store made of compare-and-swap: the rules run here, and their result is written if nobody else wrote meanwhile.

It bets on the record it saw last (on none, if it never saw one), so a lock that nobody else touched costs one round
trip.  A bet is never believed: an answer that writes is checked by the swap, one that writes nothing by a read.  A swap
that fails brings back what is there instead, so a lost race costs no read.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar, cast

from holdfast.core.ops import Acquire, Denied, Granted, Op, Release, Reply
from holdfast.core.record import EMPTY, Record
from holdfast.core.step import step
from holdfast.engine.program import FOREVER, TICKS, Micros, Pause, Program
from holdfast.engine.store import Page, Picked, There, TimedSwapStore, Traits
from holdfast.errors import Contended, OutcomeUnknown

V = TypeVar("V")

REMEMBERED = 10_000
"""So many records are remembered, to bet on finding them unchanged."""

AT_ONCE = 3
"""So many races may be lost before pausing between them."""

RACES = 100
"""So many races may be lost in a row before giving up."""

FIRST_PAUSE: Micros = 1_000
LONGEST_PAUSE: Micros = 100_000
CANDIDATES = 100


class BySwap(Generic[V]):
    """See the module.  `inner` is the least that makes a backend."""

    def __init__(self, inner: TimedSwapStore[V], *, chance: Callable[[], float] = random.random) -> None:
        self._inner = inner
        self._chance = chance
        self._seen: OrderedDict[str, There[V]] = OrderedDict()
        self._picked: dict[str, str] = {}
        self._hands: dict[str, str] = {}

    @property
    def traits(self) -> Traits:
        return self._inner.traits

    def apply(self, key: str, op: Op) -> Program[Reply]:
        # The time is read once: if races are lost, grants get shorter and the dead are reaped later, never the opposite.
        now = yield from self._inner.now()
        there: There[V] | None = self._seen.get(key)
        fresh, lost = False, 0
        while True:
            before = there.record if there is not None else EMPTY
            after, reply = step(before, op, now)
            if after is EMPTY and self._inner.keeps_rows:
                after = EMPTY._replace(fence=before.fence)
            if after == before:
                if fresh:
                    self._remember(key, there)
                    return reply
                there, fresh = (yield from self._inner.load(key)), True
                continue
            try:
                found = yield from self._inner.swap(key, after, there.version if there is not None else None)
            except OutcomeUnknown:
                self._remember(key, None)
                raise
            if found is not None and not isinstance(found, There):
                self._remember(key, There(after, found) if after is not EMPTY else None)
                return reply
            there, fresh, lost = cast("There[V] | None", found), True, lost + 1
            yield from self._pause(key, lost)

    def _pause(self, key: str, lost: int) -> Program[None]:
        """Out of step with those who race us."""
        if lost >= RACES:
            raise Contended(
                f"others changed {key!r} before us {lost} times in a row: try again, or wait in the queue", key=key
            )
        if lost > AT_ONCE:
            longest = min(FIRST_PAUSE << (lost - AT_ONCE - 1), LONGEST_PAUSE)
            yield Pause(None, (yield TICKS) + int(longest * self._chance()))

    def _remember(self, key: str, there: There[V] | None) -> None:
        if there is None:
            self._seen.pop(key, None)
            return
        self._seen[key] = there
        self._seen.move_to_end(key)
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)

    def scan(self, prefix: str, after: str, limit: int) -> Program[Page]:
        return (yield from self._inner.scan(prefix, after, limit))

    # --- any free member of a pool ------------------------------------------------------------------------------------

    def pick(self, prefix: str, op: Acquire) -> Program[Picked]:
        """Page by page from where we took one last, once around the pool; within a page in random order."""
        start = self._hands.get(prefix) or prefix + chr(int(0x21 + self._chance() * 0x5E))
        denied = Denied((yield from self._inner.now()), FOREVER, (), ())
        cursor, wrapped = start, False
        while True:
            page = yield from self._inner.scan(prefix, cursor, CANDIDATES)
            picked = yield from self._try_each(page, op)
            if picked is not None:
                self._hands[prefix] = picked.key
                return picked
            denied = _sooner(denied, page)
            last = page.records[-1][0] if len(page.records) == CANDIDATES else ""
            if wrapped and (not last or last >= start):
                return Picked("", denied)
            cursor, wrapped = (last, wrapped) if last else (prefix, True)

    def _try_each(self, page: Page, op: Acquire) -> Program[Picked | None]:
        free = [key for key, record in page.records if record.kept and not _held(record, page.now)]
        while free:
            key = free.pop(int(self._chance() * len(free)))
            self._picked[op.owner] = key
            reply = yield from self.apply(key, op)
            del self._picked[op.owner]
            if isinstance(reply, Granted):
                return Picked(key, reply)
        return None

    def unpick(self, prefix: str, owner: str) -> Program[None]:
        key = self._picked.pop(owner, None)
        if key is not None and key.startswith(prefix):
            yield from self.apply(key, Release(owner))


def _held(record: Record, now: Micros) -> bool:
    return any(grant.expires > now for grant in record.grants)


def _sooner(denied: Denied, page: Page) -> Denied:
    ends = [
        max(grant.expires for grant in record.grants) for _, record in page.records if record.grants and record.kept
    ]
    return denied._replace(now=page.now, free_at=min([denied.free_at, *ends]))
