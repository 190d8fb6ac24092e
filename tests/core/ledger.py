"""The rules once more, told as a clerk would keep them, to compare `step` with.

There is one page for each owner and a counter of what is free; places in line are numbered tickets; nothing is ever
summed up or filtered, and a page that nobody may see is worked out on a copy.  It shares no code with `step`.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from holdfast.core.ops import Acquire, Amend, Dismiss, Enrol, Op, Pass, Release, Renew, Revoke, Shrink
from holdfast.core.record import FOREVER, Record


@dataclass
class Lease:
    number: int
    fence: int
    since: int
    until: int
    ttl: int
    weight: int
    holder: str


@dataclass
class Ticket:
    number: int
    until: int
    linger: int
    ttl: int
    weight: int
    holder: str


@dataclass
class Ledger:
    """What a key's record should say."""

    kind: str = "mutex"
    limit: int = 1
    fence: int = 0
    free: int = 1
    numbers: int = 0
    leases: dict[str, Lease] = field(default_factory=dict)
    tickets: dict[str, Ticket] = field(default_factory=dict)
    struck: list[tuple[str, int, str, str, str]] = field(default_factory=list)
    note: bytes | None = None
    keep: int = 0

    def ask(self, op: Op, now: int) -> tuple[object, ...]:
        """Do it, and say what a client may rely on; an answer of nothing but news leaves the page as it was."""
        if type(op) is Dismiss and not self.keep:
            return ("noted",)
        draft = copy.deepcopy(self)
        if type(op) is not Enrol:
            draft.pass_time(now)
        answer, changed = getattr(draft, "on_" + type(op).__name__.lower())(op, now)
        if changed or (self.fences() != draft.fences() and answer[0] == "denied"):
            self.__dict__.update(draft.__dict__)
        return answer

    def fences(self) -> dict[str, int]:
        return {owner: lease.fence for owner, lease in self.leases.items()}

    def bury(self, gone: frozenset[str], now: int) -> None:
        """They are dead: nothing of theirs stays, and the next one is called."""
        if gone.isdisjoint({*self.leases, *self.tickets}):
            return
        for owner in gone:
            self.tickets.pop(owner, None)
            if owner in self.leases:
                self.take_back(owner)
        self.pass_time(now)
        self.call_next(now)
        self.forget(now)

    # --- time --------------------------------------------------------------------------------------------------------

    def pass_time(self, now: int) -> None:
        over = self.keep and self.keep <= now
        over = self.drop_dead(now) or over
        if over and self.keep <= now:
            self.note, self.keep = None, 0
        if over:
            self.call_next(now)

    def drop_dead(self, now: int) -> bool:
        dead = [owner for owner, lease in self.leases.items() if lease.until <= now]
        for owner in dead:
            self.take_back(owner)
        late = [owner for owner, ticket in self.tickets.items() if ticket.until <= now]
        for owner in late:
            del self.tickets[owner]
        remembered = [entry for entry in self.struck if entry[1] > now]
        forgot = len(remembered) < len(self.struck)
        self.struck = remembered
        return bool(dead or late or forgot)

    def take_back(self, owner: str) -> None:
        self.free += self.leases.pop(owner).weight

    def call_next(self, now: int) -> None:
        while self.tickets:
            owner, ticket = min(self.tickets.items(), key=lambda item: item[1].number)
            if ticket.weight > self.free:
                return
            del self.tickets[owner]
            self.lend(owner, ticket.weight, ticket.ttl, min(ticket.ttl, ticket.linger), ticket.holder, now)

    def lend(self, owner: str, weight: int, ttl: int, length: int, holder: str, now: int) -> Lease:
        self.free -= weight
        self.fence = self.fence + 1 if self.fence >= now else now
        self.numbers += 1
        self.leases[owner] = Lease(self.numbers, self.fence, now, now + length, ttl, weight, holder)
        return self.leases[owner]

    def forget(self, now: int) -> None:
        if not self.leases and not self.tickets and not self.struck and not self.keep and self.fence < now:
            self.__dict__.update(Ledger().__dict__)

    # --- answers -----------------------------------------------------------------------------------------------------

    def yes(self, owner: str) -> tuple[object, ...]:
        lease = self.leases[owner]
        return "granted", lease.fence, lease.since, lease.until, self.note, len(self.tickets)

    def no(self, owner: str) -> tuple[object, ...]:
        return "not held", next((entry for entry in self.struck if entry[0] == owner), None)

    # --- one method for each operation: the answer, and whether the page changes ---------------------------------------

    def on_acquire(self, op: Acquire, now: int) -> tuple[tuple[object, ...], bool]:
        want = op.want
        if op.owner in self.leases:
            return self.on_renew(Renew(op.owner, want.ttl), now)
        if not self.leases and not self.tickets:
            self.kind, self.limit, self.free = want.kind, want.limit, want.limit
        if (self.kind, self.limit) != (want.kind, want.limit):
            return ("mismatch", self.kind, self.limit), False
        if not self.tickets and want.weight <= self.free:
            self.lend(op.owner, want.weight, want.ttl, want.ttl, op.holder, now)
            if want.payload == b"":
                self.note, self.keep = None, 0
            elif want.payload is not None:
                self.note, self.keep = want.payload, FOREVER
            return self.yes(op.owner), True
        return self.wait(op, now)

    def wait(self, op: Acquire, now: int) -> tuple[tuple[object, ...], bool]:
        mine = self.tickets.get(op.owner)
        self.numbers += 1
        number = mine.number if mine else self.numbers
        ahead = sorted((t.number, owner) for owner, t in self.tickets.items() if t.number < number)
        soonest = min(lease.until for lease in self.leases.values())
        answer = ("denied", soonest, frozenset(self.leases), tuple(owner for _, owner in ahead))
        if op.linger:
            want = op.want
            self.tickets[op.owner] = Ticket(number, now + op.linger, op.linger, want.ttl, want.weight, op.holder)
        return answer, bool(op.linger)

    def on_renew(self, op: Renew, now: int) -> tuple[tuple[object, ...], bool]:
        if op.owner not in self.leases:
            return self.no(op.owner), False
        lease = self.leases[op.owner]
        if now + op.ttl > lease.until:
            lease.until = now + op.ttl
        return self.yes(op.owner), True

    def on_pass(self, op: Pass, now: int) -> tuple[tuple[object, ...], bool]:
        if op.heir in self.leases:
            return self.yes(op.heir), True
        if op.owner not in self.leases:
            return self.no(op.owner), False
        weight = self.leases[op.owner].weight
        self.take_back(op.owner)
        self.tickets.pop(op.heir, None)
        self.lend(op.heir, weight, op.ttl, op.ttl, op.holder, now)
        self.call_next(now)
        return self.yes(op.heir), True

    def on_shrink(self, op: Shrink, now: int) -> tuple[tuple[object, ...], bool]:
        if op.owner not in self.leases:
            return self.no(op.owner), False
        lease = self.leases[op.owner]
        if op.weight < lease.weight:
            self.free += lease.weight - op.weight
            lease.weight = op.weight
            self.call_next(now)
        return self.yes(op.owner), True

    def on_amend(self, op: Amend, now: int) -> tuple[tuple[object, ...], bool]:
        if op.owner not in self.leases:
            return self.no(op.owner), False
        self.note, self.keep = op.payload, op.keep
        return self.yes(op.owner), True

    def on_release(self, op: Release, now: int) -> tuple[tuple[object, ...], bool]:
        if op.owner in self.leases:
            self.take_back(op.owner)
        elif op.owner in self.tickets:
            del self.tickets[op.owner]
        else:
            return self.no(op.owner), False
        self.call_next(now)
        self.forget(now)
        return ("released",), True

    def on_revoke(self, op: Revoke, now: int) -> tuple[tuple[object, ...], bool]:
        before = [entry[0] for entry in self.struck if entry[4] == op.mark]
        aim = [owner for owner, lease in self.leases.items() if op.fence is None or op.fence == lease.fence]
        if before or not aim:
            return ("revoked", frozenset(before)), False
        self.fence = self.fence + 1 if self.fence >= now else now
        for owner in aim:
            lease = self.leases[owner]
            self.struck.append((owner, max(lease.until, now + lease.ttl), op.by, op.reason, op.mark))
            self.take_back(owner)
        self.call_next(now)
        return ("revoked", frozenset(aim)), True

    def on_enrol(self, op: Enrol, now: int) -> tuple[tuple[object, ...], bool]:
        self.note, self.keep = op.payload, FOREVER
        return ("noted",), True

    def on_dismiss(self, op: Dismiss, now: int) -> tuple[tuple[object, ...], bool]:
        self.note, self.keep = None, 0
        self.forget(now)
        return ("noted",), True

    # --- comparing ---------------------------------------------------------------------------------------------------

    def says(self) -> object:
        """All of the page, in no order but that of the line."""
        leases = {(o, g.fence, g.since, g.until, g.ttl, g.weight, g.holder) for o, g in self.leases.items()}
        line = sorted((t.number, o, t.until, t.linger, t.ttl, t.weight, t.holder) for o, t in self.tickets.items())
        kind = (self.kind, self.limit)
        return self.fence, kind, leases, [entry[1:] for entry in line], set(self.struck), self.note, self.keep


def told(record: Record) -> object:
    """The same of a record."""
    return (
        record.fence,
        (record.kind, record.limit),
        {tuple(grant) for grant in record.grants},
        [tuple(waiter) for waiter in record.queue],
        {tuple(broken) for broken in record.broken},
        record.payload,
        record.kept,
    )
