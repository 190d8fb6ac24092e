"""When to renew what, and who has lost.

One keeper serves all leases of a client.  They stand in slots by the time something is due, so those that are due
about the same time are renewed by one request, and a lease that is released before costs two dictionary operations.
The keeper neither sleeps nor blocks: a driver runs `round` when `next_due` says so, in a thread, a task, or a test.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from holdfast.core.ops import Granted, NotHeld, Release, Renew, Reply
from holdfast.engine.program import FOREVER, SECOND, TICKS, Micros, Program
from holdfast.engine.queueing import call_next
from holdfast.engine.store import BATCH, ManyStore
from holdfast.errors import StoreError
from holdfast.observe import events

if TYPE_CHECKING:
    from holdfast.engine.hold import Hold, LossReason
    from holdfast.engine.site import Site

SLOT: Micros = 50_000
"""Leases that are due within this time of each other share a request."""

Action: TypeAlias = Literal["wait", "renew", "lapse"]


class Verdict(NamedTuple):
    """What to do about a lease now, and when to look at it again."""

    action: Action
    look_again: Micros


def decide(now: Micros, *, valid_until: Micros, ttl: Micros, renewing: bool, tries: int) -> Verdict:
    """The whole of the keeper's policy.  `tries` counts the renewals that have failed in a row."""
    if now >= valid_until:
        return Verdict("lapse", FOREVER)
    if not renewing:
        return Verdict("wait", valid_until)
    renew_at = valid_until - ttl * 2 // 3 + tries * max(ttl // 20, 1)
    if now >= renew_at:
        return Verdict("renew", min(valid_until, now + max(ttl // 20, 1)))
    return Verdict("wait", min(renew_at, valid_until))


def why_lapsed(now: Micros, *, planned: Micros, ttl: Micros, failed: bool) -> LossReason:
    """A lease ended by the clock alone: because the store could not be asked, because we slept, or as arranged."""
    if now - planned > ttl // 3:
        return "suspended"
    return "unreachable" if failed else "expired"


class Keeper:
    """Everything that one client holds."""

    def __init__(self) -> None:
        self._mutex = Lock()
        self._slots: dict[int, dict[Hold, None]] = {}
        self._order: list[int] = []
        self._planned: Micros = FOREVER
        self.poke: Callable[[], None] = _nobody
        """Set by the driver: look at `plan` again, it has changed."""
        self.site: Site

    # --- who is kept ------------------------------------------------------------------------------------------------

    def add(self, hold: Hold) -> None:
        """Keep this lease from now on."""
        self._place(hold, hold.valid_until - hold.ttl * 2 // 3 if hold.renewing else hold.valid_until)

    def retire(self, hold: Hold) -> bool:
        """Its holder gives it back: believe in it no more.  False if that was so already."""
        with self._mutex:
            if hold.ended:
                return False
            hold.ended = True
            self._displace(hold)
            self._unhand(hold)
            return True

    def _place(self, hold: Hold, due: Micros) -> None:
        number = -(-due // SLOT)
        with self._mutex:
            if hold.ended or hold.lost_for is not None:
                return
            self._displace(hold)
            hold.slot = number
            slot = self._slots.get(number)
            if slot is not None:
                slot[hold] = None
                return
            self._slots[number] = {hold: None}
            heapq.heappush(self._order, number)
            sooner = number * SLOT < self._planned
        if sooner:
            self.poke()

    def _displace(self, hold: Hold) -> None:
        slot = self._slots.get(hold.slot)
        if slot is not None:
            slot.pop(hold, None)

    def _unhand(self, hold: Hold) -> None:
        """Its thread or task holds it no more, and may ask for the key again."""
        if hold.holder is not None and self.site.held.get(hold.holder) is hold:
            del self.site.held[hold.holder]

    def holds(self) -> list[Hold]:
        """All leases that are kept."""
        with self._mutex:
            return [hold for slot in self._slots.values() for hold in slot]

    def plan(self) -> Micros:
        """When `round` has something to do next; the driver promises to run it then."""
        with self._mutex:
            while self._order and not self._slots[self._order[0]]:
                del self._slots[heapq.heappop(self._order)]
            self._planned = self._order[0] * SLOT if self._order else FOREVER
            if self.site.orphans:
                self._planned = min(self._planned, self.site.ticks() + SECOND)
            return self._planned

    @property
    def planned(self) -> Micros:
        """When the driver was to look next; long past means that this process did not run."""
        return self._planned

    # --- what is done -----------------------------------------------------------------------------------------------

    def round(self) -> Program[None]:
        """Renew what is due, give up what has lapsed, release what nobody wants."""
        now = yield TICKS
        due: list[Hold] = []
        for hold in self._take_due(now):
            verdict = decide(now, valid_until=hold.valid_until, ttl=hold.ttl, renewing=hold.renewing, tries=hold.tries)
            if verdict.action == "lapse":
                self.lapse(hold, now)
                continue
            if verdict.action == "renew":
                due.append(hold)
            self._place(hold, verdict.look_again)
        for start in range(0, len(due), BATCH):
            yield from self._renew(due[start : start + BATCH])
        yield from self._release_orphans()

    def _take_due(self, now: Micros) -> list[Hold]:
        taken: list[Hold] = []
        with self._mutex:
            while self._order and self._order[0] * SLOT <= now:
                taken += self._slots.pop(heapq.heappop(self._order))
        return [hold for hold in taken if not hold.ended]

    def _renew(self, holds: Sequence[Hold]) -> Program[None]:
        asked = yield TICKS
        ops = [(hold.store_key, Renew(hold.owner, hold.ttl)) for hold in holds]
        store = self.site.store
        if isinstance(store, ManyStore):
            try:
                replies: Sequence[Reply | StoreError] = yield from store.apply_many(ops)
            except StoreError as error:
                replies = [error] * len(ops)
            for hold, reply in zip(holds, replies, strict=True):
                self._hear(hold, reply, asked)
            return
        for hold, (key, op) in zip(holds, ops, strict=True):
            asked = yield TICKS
            try:
                reply_or_error: Reply | StoreError = yield from store.apply(key, op)
            except StoreError as error:
                reply_or_error = error
            self._hear(hold, reply_or_error, asked)

    def _hear(self, hold: Hold, reply: Reply | StoreError, asked: Micros) -> None:
        if hold.ended:
            return
        if isinstance(reply, Granted):
            hold.extend(asked, hold.ttl)
            self.add(hold)
            if self.site.hooks and hold.fence:
                self.site.tell(events.Renewed(hold.key, hold.fence))
        elif isinstance(reply, NotHeld):
            self.learn(hold, reply)
        else:
            hold.tries += 1
            hold.failure = reply if isinstance(reply, StoreError) else None

    def _release_orphans(self) -> Program[None]:
        for owner, (key, until) in list(self.site.orphans.items()):
            try:
                yield from self.site.store.apply(key, Release(owner))
            except StoreError:
                if (yield TICKS) < until:
                    continue
            self.site.orphans.pop(owner, None)

    # --- who has lost -----------------------------------------------------------------------------------------------

    def learn(self, hold: Hold, reply: NotHeld) -> None:
        """The store has said that it is not ours any more."""
        if reply.broken is None:
            self.lose(hold, "stolen")
        else:
            self._broken(hold, reply.broken.by, reply.broken.reason)

    def learn_of_break(self, owners: Sequence[str], by: str, reason: str) -> None:
        """This client itself has taken a lock from these owners; some may be its own."""
        for hold in self.holds():
            if hold.owner in owners:
                self._broken(hold, by, reason)

    def _broken(self, hold: Hold, by: str, reason: str) -> None:
        hold.broken_by = f"{by}: {reason}" if reason else by
        self.lose(hold, "broken")

    def leave_line(self, hold: Hold) -> None:
        """It is not exclusive any more: whoever waits for the key here may ask."""
        with self._mutex:
            line, hold.line = hold.line, ""
        if line:
            call_next(self.site.lines, line)

    def lapse(self, hold: Hold, now: Micros) -> None:
        """Its time is over, and nobody said so."""
        planned = min(self._planned, hold.valid_until)
        self.lose(hold, why_lapsed(now, planned=planned, ttl=hold.ttl, failed=hold.failure is not None))

    def lose(self, hold: Hold, reason: LossReason) -> None:
        """Stop believing in it, and say so in every way there is; once."""
        with self._mutex:
            if hold.lost_for is not None or hold.ended:
                return
            hold.lost_for = reason
            self._displace(hold)
            self._unhand(hold)
        self.leave_line(hold)
        if not hold.fence:
            return  # a turn in the line of a pool, which is nobody's lease
        held_for = (self.site.ticks() - hold.born) / SECOND
        _log_loss(hold.key, reason, held_for, hold.broken_by)
        self.site.tell(events.Lost(hold.key, hold.fence, reason, held_for))
        hold.tell_loss()


def _nobody() -> None:
    """No driver runs this keeper (yet)."""


def _log_loss(key: str, reason: str, held_for: float, by: str) -> None:
    import logging

    logging.getLogger("holdfast").warning(
        "lost the lease on %r: %s%s, after it was held for %.3f s", key, reason, f" by {by}" if by else "", held_for
    )
