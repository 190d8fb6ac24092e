"""A search of everything that `step` can do to a record, within the bounds of a scope, breadth first.

It needs no bound on time.  The rules only compare instants with each other, so a record may be shifted until it is
always the same instant (`test_the_rules_do_not_care_when_they_run`), and what is past is equally past; a fence behind
the clock is as good as any other, because the next one is minted at the clock.  So the states of a scope are finitely
many, and histories of any length are covered.  What bounds a scope are its owners, its lengths of time, and how far
the fence may run ahead of the clock (one grant more in the same instant, each time).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

from laws import Moment, ask, check_move, check_rest

from holdfast.core.ops import Acquire, Amend, Dismiss, Enrol, Op, Pass, Release, Renew, Revoke, Shrink, Want
from holdfast.core.record import EMPTY, FOREVER, MANY, Record

NOW = 1_000
"""The instant that every state is shifted to."""

OLD = NOW - 100
"""Where the fences of living grants are moved to, in their order; nothing but their order matters any more."""


class Scope(NamedTuple):
    """What may happen, and how much of it."""

    name: str
    bounds: str
    ops: tuple[Op, ...]
    ahead: int
    """How far the fence may run ahead of the clock."""
    by_fence: bool = False
    """Whether somebody breaks single grants, named by their fence."""


class Tally(NamedTuple):
    states: int
    moves: int
    cut: int
    """Moves that led out of the bounds, and were checked but not followed."""


State = tuple[Record, int]
"""A record, and the highest fence that was ever given for its key."""


def search(scope: Scope) -> Tally:
    """Visit all states of the scope; raises `Violation` at the first move that breaks a law."""
    first: State = (EMPTY, NOW - 1)
    seen = {first}
    layer = [first]
    moves = cut = 0
    while layer:
        found: list[State] = []
        for record, given in layer:
            check_rest(record, NOW)
            for op in asked(scope, record):
                after, highest = move(record, given, op)
                moves += 1
                if after.fence > NOW + scope.ahead:
                    cut += 1
                    continue
                remember(normal(after, highest, 0), seen, found)
            remember(normal(record, given, 1), seen, found)
            moves += 1
        layer = found
    return Tally(len(seen), moves, cut)


def remember(state: State, seen: set[State], found: list[State]) -> None:
    if state not in seen:
        seen.add(state)
        found.append(state)


def asked(scope: Scope, record: Record) -> Iterable[Op]:
    yield from scope.ops
    if scope.by_fence:
        for grant in record.grants:
            yield Revoke("m1", "ops", "stuck", grant.fence)


def move(record: Record, given: int, op: Op) -> tuple[Record, int]:
    """One operation, checked; and the highest fence given so far."""
    after, reply = ask(record, op, NOW)
    highest = check_move(Moment(record, op, NOW, after, reply), given)
    return after, highest


def normal(record: Record, highest: int, elapsed: int) -> State:
    """The same state when `elapsed` has passed, told as if it were `NOW`."""
    fences = {fence: OLD + place for place, fence in enumerate(sorted(grant.fence for grant in record.grants))}
    shifted = record._replace(
        fence=max(record.fence - elapsed, NOW - 1) if record != EMPTY else 0,
        grants=tuple(
            grant._replace(fence=fences[grant.fence], since=OLD, expires=max(grant.expires - elapsed, NOW))
            for grant in record.grants
        ),
        queue=tuple(waiter._replace(expires=max(waiter.expires - elapsed, NOW)) for waiter in record.queue),
        broken=tuple(broken._replace(until=max(broken.until - elapsed, NOW)) for broken in record.broken),
        kept=record.kept if record.kept in (0, FOREVER) else max(record.kept - elapsed, NOW),
    )
    return shifted, max(highest - elapsed, NOW - 1)


# --- the scopes ------------------------------------------------------------------------------------------------------


def claims(owners: str, want: Want, lingers: Iterable[int]) -> list[Op]:
    """What ordinary owners ask: for a grant, with patience or without, to renew it by more or by less, to let go."""
    ops: list[Op] = []
    for owner in owners:
        ops += (Acquire(owner, want, linger) for linger in lingers)
        ops += (Renew(owner, ttl) for ttl in sorted({1, want.ttl}))
        ops.append(Release(owner))
    return ops


def mutex(owners: str, ttl: int, lingers: tuple[int, ...], ahead: int) -> Scope:
    bounds = f"{len(owners)} owners, ttl {ttl}, linger {lingers}, fence at most {ahead} ahead"
    return Scope("mutex", bounds, tuple(claims(owners, Want(ttl=ttl), lingers)), ahead)


def rwlock(readers: str, writers: str, ttl: int, lingers: tuple[int, ...], ahead: int) -> Scope:
    reading = Want("rwlock", MANY, 1, ttl)
    ops = [*claims(readers, reading, lingers), *claims(writers, reading._replace(weight=MANY), lingers[-1:])]
    ops += (Shrink(writer, 1) for writer in writers)
    bounds = f"{len(readers)} readers, {len(writers)} writers, ttl {ttl}, linger {lingers}, fence at most {ahead} ahead"
    return Scope("readers-writer", bounds, tuple(ops), ahead)


def semaphore(light: str, heavy: str, ttl: int, ahead: int) -> Scope:
    want = Want("semaphore", 3, 1, ttl)
    ops = [*claims(light, want, (2,)), *claims(heavy, want._replace(weight=2), (2,))]
    bounds = f"limit 3, {len(light)} of weight 1, {len(heavy)} of weight 2, ttl {ttl}, fence at most {ahead} ahead"
    return Scope("semaphore", bounds, tuple(ops), ahead)


def line(owners: str, ttl: int, linger: int, ahead: int) -> Scope:
    """Waiters who may die at any moment, and a stranger who means another kind of lock by the key."""
    ops: list[Op] = []
    for owner in owners:
        ops += (Acquire(owner, Want(ttl=ttl), linger), Release(owner))
    ops.append(Acquire("z", Want("semaphore", 2, 1, ttl), linger))
    bounds = f"{len(owners)} owners and a stranger, ttl {ttl}, linger {linger}, fence at most {ahead} ahead"
    return Scope("queue", bounds, tuple(ops), ahead)


def force(owners: str, marks: tuple[str, ...], ahead: int, *, kept: bool = True) -> Scope:
    """Breaks, by fence and altogether, with all that changes a grant in other ways."""
    want = Want("semaphore", 2, 1, 2)
    ops: list[Op] = []
    for place, owner in enumerate(owners):
        ops += (
            Acquire(owner, want._replace(weight=2 - place % 2), 2),
            Renew(owner, 3),
            Release(owner),
            Shrink(owner, 1),
        )
    ops += (Revoke(mark, "ops", "stuck") for mark in marks)
    ops += (Pass(owner, heir, 2) for owner, heir in itertools.pairwise(owners))
    if kept:
        ops += (Amend(owners[0], b"page 7", NOW + 1), Enrol(b"gpu"), Dismiss())
        ops.append(Acquire(owners[-1], want._replace(payload=b"mine"), 0))
    bounds = f"limit 2, {len(owners)} owners of weight 2 and 1 in turn, {len(marks)} marks, fence at most {ahead} ahead"
    return Scope("break and the rest", bounds, tuple(ops), ahead, by_fence=True)


SCOPES = (
    mutex("abcd", 2, (0, 2), 1),
    rwlock("ab", "wx", 2, (0, 2), 1),
    semaphore("ab", "cd", 2, 1),
    line("abcd", 3, 2, 2),
    force("ab", ("m1",), 1),
)
"""What every run searches: seconds."""

WIDE = (
    mutex("abcd", 3, (0, 2, 3), 3),
    rwlock("abc", "wx", 2, (0, 2), 2),
    semaphore("abc", "de", 2, 2),
    line("abcde", 3, 2, 3),
    force("ab", ("m1", "m2"), 2),
    force("abc", ("m1",), 1, kept=False),
)
"""What is searched before a release: minutes."""
