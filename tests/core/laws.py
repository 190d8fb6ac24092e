"""What must hold of every move of `step`, each law said on its own and without the functions that it judges.

`check_move` looks at one operation on one record: before, after, and the reply.  `check_rest` looks at a record at
rest: whatever stands in it, the lock can be had again once that has expired.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.core import step as rules
from holdfast.core.ops import (
    Acquire,
    Amend,
    Denied,
    Dismiss,
    Enrol,
    Granted,
    Mismatch,
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
    Want,
)
from holdfast.core.record import Broken, Grant, Record, Waiter


class Violation(AssertionError):
    """A law was broken; it says which, and by what."""

    def __init__(self, law: str, what: str) -> None:
        super().__init__(f"{law}: {what}")
        self.law = law


class Moment(NamedTuple):
    """One operation, and what came of it."""

    before: Record
    op: Op
    now: int
    after: Record
    reply: Reply

    def holders(self) -> dict[str, Grant]:
        """Who held it when the operation came."""
        return {grant.owner: grant for grant in self.before.grants if grant.expires > self.now}

    def line(self) -> list[Waiter]:
        """Who waited in line when the operation came."""
        return [waiter for waiter in self.before.queue if waiter.expires > self.now]

    def breaks(self) -> list[Broken]:
        return [broken for broken in self.before.broken if broken.until > self.now]

    def living(self) -> list[Grant]:
        """Who holds it afterwards."""
        return [grant for grant in self.after.grants if grant.expires > self.now]

    def fresh(self) -> list[Grant]:
        """The grants that the operation gave, to whomever."""
        had = {(grant.owner, grant.fence) for grant in self.before.grants}
        return [grant for grant in self.after.grants if (grant.owner, grant.fence) not in had]


def ask(record: Record, op: Op, now: int) -> tuple[Record, Reply]:
    """`step`, of which it is the first law that it answers."""
    try:
        return rules.step(record, op, now)
    except Exception as error:
        raise Violation("there_is_an_answer", f"{op} on {record} raises {error!r}") from error


def check_move(moment: Moment, given: int) -> int:
    """Judge a move by every law; returns the highest fence ever given."""
    for law in LAWS:
        if not law(moment):
            raise Violation(law.__name__, f"{moment.op} on {moment.before} gave {moment.after}, {moment.reply}")
    for grant in sorted(moment.fresh(), key=lambda grant: grant.fence):
        if not given < grant.fence <= moment.after.fence:
            raise Violation("every_grant_has_a_higher_fence", f"{grant} after {given}, {moment}")
        given = grant.fence
    return given


def check_rest(record: Record, now: int) -> None:
    """What is dead bars nobody: once everything in the record has expired, a newcomer gets the lock at once."""
    last = max((entry.expires for entry in (*record.grants, *record.queue)), default=now)
    after, reply = ask(record, Acquire("newcomer", NEWCOMER), max(last, now))
    if type(reply) is not Granted or [grant.owner for grant in after.grants] != ["newcomer"]:
        raise Violation("the_dead_bar_nobody", f"at {last} {record} answered {reply}")


NEWCOMER = Want()


# --- who holds -------------------------------------------------------------------------------------------------------


def no_more_than_the_limit(moment: Moment) -> bool:
    return sum(grant.weight for grant in moment.living()) <= moment.after.limit


def no_writer_with_anyone(moment: Moment) -> bool:
    living = moment.living()
    return len(living) < 2 or all(grant.weight < moment.after.limit for grant in living)


def nobody_stands_twice(moment: Moment) -> bool:
    if moment.after is moment.before:
        return True
    owners = [grant.owner for grant in moment.after.grants] + [waiter.owner for waiter in moment.after.queue]
    return len(owners) == len(set(owners))


def what_is_granted_stands(moment: Moment) -> bool:
    """Whoever is told `Granted` is in the record with just that."""
    if type(moment.reply) is not Granted:
        return True
    owner = moment.op.heir if type(moment.op) is Pass else moment.op.owner
    _, fence, since, expires, payload, waiting = moment.reply
    mine = [grant for grant in moment.living() if grant.owner == owner]
    told = [(grant.fence, grant.since, grant.expires) for grant in mine] == [(fence, since, expires)]
    return told and payload == moment.after.payload and waiting == len(moment.after.queue)


def what_is_free_is_given(moment: Moment) -> bool:
    """Nobody at the head of the line stands before a lock with room for them (enrolling looks at nobody)."""
    if moment.after is moment.before or type(moment.op) is Enrol or not moment.after.queue:
        return True
    room = moment.after.limit - sum(grant.weight for grant in moment.living())
    return moment.after.queue[0].weight > room


def holders_lose_nothing(moment: Moment) -> bool:
    """Only by its own release, hand-over or shrinking, or by a break, does a grant become less; never shorter."""
    after = {grant.owner: grant for grant in moment.after.grants}
    return all(
        given_up(moment.op, grant) or (grant.owner in after and kept_whole(grant, after[grant.owner], own=moment.op))
        for grant in moment.holders().values()
    )


def given_up(op: Op, grant: Grant) -> bool:
    if type(op) is Revoke:
        return op.fence in (None, grant.fence)
    return type(op) in (Release, Pass) and op.owner == grant.owner


def kept_whole(old: Grant, new: Grant, own: Op) -> bool:
    lighter = type(own) is Shrink and own.owner == old.owner and new.weight == min(old.weight, own.weight)
    same = (old.fence, old.since, old.ttl, old.holder) == (new.fence, new.since, new.ttl, new.holder)
    return same and new.expires >= old.expires and (new.weight == old.weight or lighter)


def letting_go_lets_go(moment: Moment) -> bool:
    """After its release, an owner neither holds nor waits."""
    if type(moment.op) is not Release:
        return True
    entries = (*moment.living(), *moment.after.queue)
    return all(entry.owner != moment.op.owner or entry.expires <= moment.now for entry in entries)


def renewing_lengthens(moment: Moment) -> bool:
    op = moment.op
    if type(op) not in (Acquire, Renew) or type(moment.reply) is not Granted:
        return True
    ttl = op.ttl if type(op) is Renew else op.want.ttl
    return moment.reply.expires >= moment.now + ttl


def holders_are_answered(moment: Moment) -> bool:
    """Who holds it is told so, with the fence that it has; who does not is never told that it does."""
    mine = moment.holders().get(moment.op.owner) if type(moment.op) in (Acquire, Renew, Shrink, Amend) else None
    if mine is not None:
        return type(moment.reply) is Granted and moment.reply.fence == mine.fence
    handed = {grant.owner for grant in moment.fresh()}
    if type(moment.op) in (Renew, Shrink, Amend):
        return type(moment.reply) is (Granted if moment.op.owner in handed else NotHeld)
    return True


# --- who waits -------------------------------------------------------------------------------------------------------


def nobody_is_overtaken(moment: Moment) -> bool:
    """Grants go to the line in its order, and to somebody from outside only when the line is empty."""
    if type(moment.op) is Pass:
        return True
    gone = moment.reply.owners if type(moment.reply) is Revoked else ()
    line = [waiter.owner for waiter in moment.line() if moment.op != Release(waiter.owner) and waiter.owner not in gone]
    served = [grant.owner for grant in sorted(moment.fresh(), key=lambda grant: grant.fence)]
    return served == [*line, *(owner for owner in served if owner not in line)][: len(served)]


def waiters_keep_their_place(moment: Moment) -> bool:
    """Who waits goes on waiting, in the same order, or is granted it (and may be broken), or goes as they wished."""
    gone = {grant.owner for grant in moment.after.grants}
    if type(moment.op) in (Release, Pass):
        gone.add(moment.op.owner)
    if type(moment.reply) is Revoked:
        gone.update(moment.reply.owners)
    before = [waiter.owner for waiter in moment.line() if waiter.owner not in gone]
    after = [waiter.owner for waiter in moment.after.queue if waiter.expires > moment.now and waiter.owner not in gone]
    return after[: len(before)] == before


def a_wait_is_a_lease(moment: Moment) -> bool:
    """Asking with patience gives a place or renews it, for just as long as that patience; others' stay as they are."""
    old = {waiter.owner: waiter for waiter in moment.line()}
    me = moment.op.owner if type(moment.op) is Acquire and type(moment.reply) is Denied and moment.op.linger else None
    for waiter in moment.after.queue:
        if waiter.owner == me:
            if waiter.expires != moment.now + moment.op.linger:
                return False
        elif waiter.expires > moment.now and waiter != old.get(waiter.owner):
            return False
    return me is None or me in {waiter.owner for waiter in moment.after.queue}


def a_hand_off_is_short(moment: Moment) -> bool:
    """Until its owner speaks up, a grant from the line lives no longer than the place in the line would."""
    line = {waiter.owner: waiter for waiter in moment.line()}
    return all(
        grant.expires == moment.now + min(line[grant.owner].ttl, line[grant.owner].linger)
        for grant in moment.fresh()
        if grant.owner in line and grant.owner != getattr(moment.op, "heir", getattr(moment.op, "owner", None))
    )


# --- what is answered ------------------------------------------------------------------------------------------------


def a_denial_is_true(moment: Moment) -> bool:
    """It names living holders and those ahead; nobody is denied what is free; and its `free_at` keeps its word."""
    reply, op = moment.reply, moment.op
    if type(reply) is not Denied:
        return True
    if op.owner in {grant.owner for grant in reply.grants} or any(g.expires <= moment.now for g in reply.grants):
        return False
    line = [waiter.owner for waiter in moment.line()]
    if any(owner not in line for owner in reply.ahead) or op.owner in reply.ahead:
        return False
    room = moment.after.limit - sum(grant.weight for grant in reply.grants)
    return (room < op.want.weight or bool(reply.ahead)) and free_when_it_says(moment, reply)


def free_when_it_says(moment: Moment, reply: Denied) -> bool:
    if reply.free_at != min(grant.expires for grant in reply.grants):
        return False
    if reply.ahead:
        return True
    _, later = ask(moment.after, moment.op, reply.free_at)
    barred = {grant.fence for grant in reply.grants if grant.expires <= reply.free_at}
    return type(later) is not Denied or not barred & {grant.fence for grant in later.grants}


def a_mismatch_is_true(moment: Moment) -> bool:
    """Only somebody alive can mean another kind of lock."""
    if type(moment.reply) is not Mismatch:
        return True
    want = moment.op.want
    meant = (moment.before.kind, moment.before.limit)
    return bool(moment.holders() or moment.line()) and meant != (want.kind, want.limit)


def the_broken_are_told(moment: Moment) -> bool:
    """Who lost it by force hears by whom and why, for as long as the grant would have lasted."""
    if type(moment.reply) is not NotHeld:
        return True
    mine = [broken for broken in moment.breaks() if broken.owner == moment.op.owner]
    return moment.reply.broken == (mine[0] if mine else None)


def breaks_are_remembered(moment: Moment) -> bool:
    after = moment.after.broken
    if any(broken not in after for broken in moment.breaks()):
        return False
    if type(moment.op) is not Revoke or type(moment.reply) is not Revoked or moment.after is moment.before:
        return True
    mark, by, reason, _ = moment.op
    told = {broken.owner: broken for broken in after if broken[2:] == (by, reason, mark)}
    ends = {owner: grant.expires for owner, grant in moment.holders().items()}
    return all(owner in told and told[owner].until >= ends.get(owner, 0) for owner in moment.reply.owners)


def a_break_breaks(moment: Moment) -> bool:
    """Once for each mark: those it names hold nothing any more, and the fence has moved past them."""
    if type(moment.op) is not Revoke:
        return True
    done = [broken.owner for broken in moment.breaks() if broken.mark == moment.op.mark]
    if done:
        return moment.after is moment.before and list(moment.reply.owners) == done
    aim = [grant.owner for grant in moment.holders().values() if moment.op.fence in (None, grant.fence)]
    if any(owner not in moment.reply.owners for owner in aim):
        return False
    fresh = {grant.fence for grant in moment.fresh()}
    left = {grant.owner for grant in moment.living() if grant.fence not in fresh}
    return not left & set(moment.reply.owners) and (not aim or moment.after.fence > moment.before.fence)


def what_is_kept_stays(moment: Moment) -> bool:
    """A payload stays as long as it was to be kept, unless somebody who may changes it."""
    before, op = moment.before, moment.op
    if before.kept <= moment.now or type(op) in (Amend, Enrol, Dismiss) or (type(op) is Acquire and op.want.payload):
        return True
    return (moment.after.kept, moment.after.payload) == (before.kept, before.payload)


# --- asking twice ----------------------------------------------------------------------------------------------------


def no_change_no_new_record(moment: Moment) -> bool:
    return moment.after is moment.before or moment.after != moment.before


def asking_twice_is_asking_once(moment: Moment) -> bool:
    again, reply = ask(moment.after, moment.op, moment.now)
    return again is moment.after and meaning(reply) == meaning(moment.reply)


def meaning(reply: Reply) -> object:
    """What a reply tells its owner: after a release that came twice, just as after one, nothing is held."""
    return NotHeld if type(reply) in (Released, NotHeld) else reply


LAWS: tuple[Callable[[Moment], bool], ...] = (
    no_more_than_the_limit,
    no_writer_with_anyone,
    nobody_stands_twice,
    what_is_free_is_given,
    holders_lose_nothing,
    renewing_lengthens,
    holders_are_answered,
    letting_go_lets_go,
    nobody_is_overtaken,
    what_is_granted_stands,
    waiters_keep_their_place,
    a_wait_is_a_lease,
    a_hand_off_is_short,
    a_denial_is_true,
    a_mismatch_is_true,
    the_broken_are_told,
    breaks_are_remembered,
    a_break_breaks,
    what_is_kept_stays,
    no_change_no_new_record,
    asking_twice_is_asking_once,
)
