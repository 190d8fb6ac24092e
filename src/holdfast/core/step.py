"""The rules: what becomes of a record when somebody asks something of it.

Everything that decides who holds a lock stands in this file; nothing else may.  It does no I/O, reads no clock, draws
no random number and keeps no state, so it can run inside a transaction, be ported to a server's language and compared
with the port bit for bit, be searched exhaustively, and be given symbols instead of numbers.

Theory of operation
-------------------
A lock has a `limit`; each grant weighs something; the weights together never exceed the limit.  That one inequality is
every kind of lock: a mutex has limit 1, a semaphore n, and of a readers-writer lock a reader takes 1 and a writer all.

The queue is served strictly in order, and nobody overtakes it.  So a waiting writer bars the readers that come after
it (it is the doorman's "pending writer"), and nobody heavy is starved by somebody light.  A place in the queue is a
lease like any other: whoever does not ask again within its `linger` has left.  When something becomes free, the head
of the queue is granted it in that same step; such a grant lives only as long as a place in the queue would, until its
owner asks again (which it does when woken) and it gets its full ttl.  So a dead waiter bars nobody for long.

What has expired is gone, from the very instant of its expiry; `settle` applies that before anything else is looked at.
A grant's fence is above every fence ever given for this key: `max(previous + 1, now)`, minted in the step that grants.
Because it also follows the clock, a record of which nothing is left may be forgotten once the clock is past its fence.

An owner is the nonce of one attempt to acquire.  Asking twice gives the same grant, so a lost reply is harmless.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.core.ops import (
    Acquire,
    Amend,
    Denied,
    Dismiss,
    Enrol,
    Granted,
    Mismatch,
    Noted,
    NotHeld,
    Op,
    Pass,
    Release,
    Released,
    Renew,
    Reply,
    Revoke,
    Revoked,
    Shrink,
)
from holdfast.core.record import EMPTY, FOREVER, Broken, Grant, Micros, Record, Waiter


def step(record: Record, op: Op, now: Micros) -> tuple[Record, Reply]:
    """The record after `op` at `now`, and the answer.  An answer that changes nothing returns the very same record."""
    after, reply = _RULES[type(op)](record, op, now)
    return (record if after == record else after), reply


# --- what follows from the passing of time -------------------------------------------------------------------------


def settle(record: Record, now: Micros) -> Record:
    """Drop what has expired, and serve the queue with what that freed."""
    if record is EMPTY or not _has_expired(record, now):
        return record
    alive = record._replace(
        grants=tuple(grant for grant in record.grants if grant.expires > now),
        queue=tuple(waiter for waiter in record.queue if waiter.expires > now),
        broken=tuple(broken for broken in record.broken if broken.until > now),
        payload=record.payload if record.kept > now else None,
        kept=record.kept if record.kept > now else 0,
    )
    return serve(alive, now)


def _has_expired(record: Record, now: Micros) -> bool:
    """Whether anything in it has; this is asked at every step, hence the plain loops."""
    for grant in record.grants:
        if grant.expires <= now:
            return True
    for waiter in record.queue:
        if waiter.expires <= now:
            return True
    for broken in record.broken:
        if broken.until <= now:
            return True
    return 0 < record.kept <= now


def serve(record: Record, now: Micros) -> Record:
    """Grant to the head of the queue for as long as it fits."""
    while record.queue and fits(record, record.queue[0].weight):
        head = record.queue[0]
        lifetime = min(head.ttl, head.linger)
        record = grant(record._replace(queue=record.queue[1:]), head, now, lifetime)
    return record


def vacate(record: Record, now: Micros) -> Record:
    """Forget the record if nothing is left of it that anybody could miss."""
    idle = not (record.grants or record.queue or record.broken or record.kept)
    return EMPTY if idle and now > record.fence else record


def bury(record: Record, gone: frozenset[str], now: Micros) -> Record:
    """End whatever belongs to these owners, of whom it is proved that they cannot act any more."""
    alive = record._replace(
        grants=tuple(grant for grant in record.grants if grant.owner not in gone),
        queue=tuple(waiter for waiter in record.queue if waiter.owner not in gone),
    )
    return record if alive == record else vacate(serve(settle(alive, now), now), now)


# --- the two decisions ---------------------------------------------------------------------------------------------


def fits(record: Record, weight: int) -> bool:
    """Whether that much is free.  The only rule of exclusion there is."""
    return sum(grant.weight for grant in record.grants) + weight <= record.limit


def mint(record: Record, now: Micros) -> int:
    """A fence above all earlier ones, also above those of records that were forgotten in between."""
    return max(record.fence + 1, now)


def grant(record: Record, to: Waiter, now: Micros, lifetime: Micros) -> Record:
    fence = mint(record, now)
    given = Grant(to.owner, fence, now, now + lifetime, to.ttl, to.weight, to.holder)
    return record._replace(fence=fence, grants=(*record.grants, given))


# --- one rule for each operation -----------------------------------------------------------------------------------


def _acquire(record: Record, op: Acquire, now: Micros) -> tuple[Record, Reply]:
    want = op.want
    settled = settle(record, now)
    mine = _grant_of(settled, op.owner)
    if mine is not None:
        return _extend(settled, mine, want.ttl, now)
    contended = settled.grants or settled.queue
    if contended and (settled.kind, settled.limit) != (want.kind, want.limit):
        return record, Mismatch(now, settled.kind, settled.limit)
    if not contended or (not settled.queue and fits(settled, want.weight)):
        return _take(settled, op, now)

    me = Waiter(op.owner, now + op.linger, op.linger, want.ttl, want.weight, op.holder)
    place = _place_of(settled, op.owner)
    ahead = tuple(waiter.owner for waiter in settled.queue[:place])
    denied = Denied(now, min(grant.expires for grant in settled.grants), settled.grants, ahead)
    if not op.linger:
        return (record if settled.grants == record.grants else settled), denied
    return settled._replace(queue=(*settled.queue[:place], me, *settled.queue[place + 1 :])), denied


def _take(free: Record, op: Acquire, now: Micros) -> tuple[Record, Reply]:
    want = op.want
    fence = mint(free, now)
    given = Grant(op.owner, fence, now, now + want.ttl, want.ttl, want.weight, op.holder)
    payload, kept = free.payload, free.kept
    if want.payload is not None:
        payload, kept = (want.payload, FOREVER) if want.payload else (None, 0)
    grants = (*free.grants, given)
    after = Record(fence, want.kind, want.limit, grants, free.queue, free.broken, payload, kept)
    return after, Granted(now, fence, now, given.expires, payload, 0)


def _renew(record: Record, op: Renew, now: Micros) -> tuple[Record, Reply]:
    settled = settle(record, now)
    mine = _grant_of(settled, op.owner)
    if mine is None:
        return record, _not_held(settled, op.owner, now)
    return _extend(settled, mine, op.ttl, now)


def _pass(record: Record, op: Pass, now: Micros) -> tuple[Record, Reply]:
    settled = settle(record, now)
    theirs = _grant_of(settled, op.heir)
    if theirs is not None:
        return settled, _granted(settled, theirs, now)
    mine = _grant_of(settled, op.owner)
    if mine is None:
        return record, _not_held(settled, op.owner, now)
    fence = mint(settled, now)
    given = Grant(op.heir, fence, now, now + op.ttl, op.ttl, mine.weight, op.holder)
    queue = tuple(waiter for waiter in settled.queue if waiter.owner != op.heir)
    after = serve(_with_grant(settled, mine, given)._replace(fence=fence, queue=queue), now)
    return after, _granted(after, given, now)


def _shrink(record: Record, op: Shrink, now: Micros) -> tuple[Record, Reply]:
    settled = settle(record, now)
    mine = _grant_of(settled, op.owner)
    if mine is None:
        return record, _not_held(settled, op.owner, now)
    less = mine._replace(weight=min(mine.weight, op.weight))
    after = serve(_with_grant(settled, mine, less), now)
    return after, _granted(after, less, now)


def _amend(record: Record, op: Amend, now: Micros) -> tuple[Record, Reply]:
    settled = settle(record, now)
    mine = _grant_of(settled, op.owner)
    if mine is None:
        return record, _not_held(settled, op.owner, now)
    after = settled._replace(payload=op.payload, kept=op.keep)
    return after, _granted(after, mine, now)


def _release(record: Record, op: Release, now: Micros) -> tuple[Record, Reply]:
    settled = settle(record, now)
    grants = tuple([grant for grant in settled.grants if grant.owner != op.owner])
    queue = settled.queue and tuple([waiter for waiter in settled.queue if waiter.owner != op.owner])
    if len(grants) == len(settled.grants) and len(queue) == len(settled.queue):
        return record, _not_held(settled, op.owner, now)
    left = Record(
        settled.fence, settled.kind, settled.limit, grants, queue, settled.broken, settled.payload, settled.kept
    )
    return vacate(serve(left, now), now), Released(now)


def _revoke(record: Record, op: Revoke, now: Micros) -> tuple[Record, Reply]:
    settled = settle(record, now)
    already = tuple(broken.owner for broken in settled.broken if broken.mark == op.mark)
    struck = tuple(grant for grant in settled.grants if op.fence in (None, grant.fence))
    if already or not struck:
        return record, Revoked(now, already)
    left = settled._replace(
        fence=mint(settled, now),
        grants=tuple(grant for grant in settled.grants if grant not in struck),
        broken=(
            *settled.broken,
            *(Broken(grant.owner, max(grant.expires, now + grant.ttl), op.by, op.reason, op.mark) for grant in struck),
        ),
    )
    return serve(left, now), Revoked(now, tuple(grant.owner for grant in struck))


def _enrol(record: Record, op: Enrol, now: Micros) -> tuple[Record, Reply]:
    return record._replace(kept=FOREVER, payload=op.payload), Noted(now)


def _dismiss(record: Record, _op: Dismiss, now: Micros) -> tuple[Record, Reply]:
    if not record.kept:
        return record, Noted(now)
    return vacate(settle(record, now)._replace(kept=0, payload=None), now), Noted(now)


_RULES: dict[type, Callable[[Record, Any, Micros], tuple[Record, Reply]]] = {
    Acquire: _acquire,
    Renew: _renew,
    Pass: _pass,
    Shrink: _shrink,
    Amend: _amend,
    Release: _release,
    Revoke: _revoke,
    Enrol: _enrol,
    Dismiss: _dismiss,
}


# --- looking and answering -----------------------------------------------------------------------------------------


def _grant_of(record: Record, owner: str) -> Grant | None:
    for grant in record.grants:
        if grant.owner == owner:
            return grant
    return None


def _place_of(record: Record, owner: str) -> int:
    """Where this owner stands in the queue; its end for one who is not in it."""
    for place, waiter in enumerate(record.queue):
        if waiter.owner == owner:
            return place
    return len(record.queue)


def _with_grant(record: Record, old: Grant, new: Grant) -> Record:
    return record._replace(grants=tuple(new if grant is old else grant for grant in record.grants))


def _extend(record: Record, mine: Grant, ttl: Micros, now: Micros) -> tuple[Record, Reply]:
    """Never shorter: an answer sent earlier may still be on its way, and promises the old end."""
    longer = mine._replace(expires=max(mine.expires, now + ttl))
    after = _with_grant(record, mine, longer)
    return after, _granted(after, longer, now)


def _granted(record: Record, given: Grant, now: Micros) -> Granted:
    return Granted(now, given.fence, given.since, given.expires, record.payload, len(record.queue))


def _not_held(record: Record, owner: str, now: Micros) -> NotHeld:
    for broken in record.broken:
        if broken.owner == owner:
            return NotHeld(now, broken)
    return NotHeld(now, None)
