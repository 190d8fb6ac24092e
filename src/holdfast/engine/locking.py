"""Acquire, as programs.

The promise: however it ends (a grant, a timeout, a cancellation, Ctrl-C, a failure of the store at any point),
either the caller has the lease in its hand, or the store holds nothing for it that will not go by itself.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.core.ops import Acquire, Denied, Granted, Release, Reply, Want
from holdfast.engine.insisting import GRACE, insist
from holdfast.engine.patience import LINGER, Patience
from holdfast.engine.program import FOREVER, TICKS, Micros, Pause, Program
from holdfast.engine.queueing import Place, call_next
from holdfast.engine.site import Site
from holdfast.errors import OutcomeUnknown, StoreError
from holdfast.observe import events


class Attempt(NamedTuple):
    """One wish to acquire: what, who, how long to wait, and whether in the order of asking.

    line: where the threads and tasks of this client queue for it first; none for what can be shared.  name: the key as
    hooks know it; none: they are not told of waiting.
    """

    key: str
    line: str
    want: Want
    owner: str
    holder: str
    deadline: Micros
    fair: bool
    name: str = ""


class Taken(NamedTuple):
    """A grant, the moment its request was sent, and how often it was passed on in this client."""

    reply: Granted
    asked: Micros
    passes: int


# --- acquire --------------------------------------------------------------------------------------------------------


def acquire(site: Site, attempt: Attempt, now: Micros | None = None) -> Program[Taken | Reply]:
    """Get the grant, or the answer that was given when time was up.  `now`: the time, if the caller has just asked."""
    if not attempt.line:
        return (yield from ask(site, attempt, now))
    if site.lines.open(attempt.line):
        return (yield from _ask_for_the_line(site, attempt, now))
    place = Place(attempt.owner, attempt.holder, attempt.want.ttl, site.bell.ear())
    site.lines.join(attempt.line, place)
    _tell_of_waiting(site, attempt)
    attempt = attempt._replace(name="")
    if not (yield from _wait_in_line(site, attempt, place)):
        return Denied(0, 0, (), ())
    if place.passed is not None:
        return Taken(*place.passed)
    return (yield from _ask_for_the_line(site, attempt))


def ask(site: Site, attempt: Attempt, now: Micros | None = None) -> Program[Taken | Reply]:
    """Ask the store until it grants or time is up."""
    asked: Micros = (yield TICKS) if now is None else now
    linger = LINGER if attempt.fair and attempt.deadline > asked else 0
    op = Acquire(attempt.owner, attempt.want, linger, attempt.holder)
    if linger:
        site.bell.expect(attempt.owner)
        site.queued[attempt.owner] = attempt.key
    try:
        try:
            reply = yield from site.store.apply(attempt.key, op)
        except OutcomeUnknown:
            reply, asked = yield from insist(site, attempt.key, op, min(attempt.deadline, asked + GRACE))
        if type(reply) is Denied and attempt.deadline > asked:
            reply, asked = yield from _wait(site, attempt, op, reply, asked)
        if type(reply) is Granted:
            return Taken(reply, asked, 0)
        if linger:
            yield from abandon(site, attempt.key, attempt.owner)
        return reply
    except GeneratorExit:
        raise
    except BaseException:
        yield from abandon(site, attempt.key, attempt.owner)
        raise
    finally:
        if linger:
            site.bell.forget(attempt.owner)
            site.queued.pop(attempt.owner, None)


def _wait(site: Site, attempt: Attempt, op: Acquire, reply: Reply, asked: Micros) -> Program[tuple[Reply, Micros]]:
    """Sleep and ask again, until the answer is not "not now" or there is no time left."""
    _tell_of_waiting(site, attempt)
    patience = Patience(site.woken and op.linger > 0, site.chance)
    ear = site.bell.listen(attempt.owner) if op.linger else site.bell.ear()
    while type(reply) is Denied and asked < attempt.deadline:
        until = min(attempt.deadline, asked + patience.pause())
        if not reply.ahead:
            until = min(until, asked + max(reply.free_at - reply.now, 1_000))
        ear_rang = yield Pause(ear, until)
        if ear_rang:
            patience.reset()
        last = reply
        patient = min(attempt.deadline, asked + max(attempt.want.ttl, GRACE))
        reply, asked = yield from insist(site, attempt.key, op, patient)
        if type(reply) is Denied and reply.grants != last.grants:
            patience.reset()
    return reply, asked


def _tell_of_waiting(site: Site, attempt: Attempt) -> None:
    if attempt.name and site.hooks:
        site.tell(events.Waited(attempt.name, attempt.owner))


def abandon(site: Site, key: str, owner: str) -> Program[None]:
    """Hold nothing under this name.  What can't be said to the store now, the keeper says later."""
    now = yield TICKS
    site.orphan(owner, key, now + LINGER * 6)
    try:
        yield from site.store.apply(key, Release(owner))
    except StoreError:
        return
    site.orphans.pop(owner, None)


# --- the line in front of an exclusive lock --------------------------------------------------------------------------


def _ask_for_the_line(site: Site, attempt: Attempt, now: Micros | None = None) -> Program[Taken | Reply]:
    taken: Taken | Reply | None = None
    try:
        taken = yield from ask(site, attempt, now)
        return taken
    finally:
        if type(taken) is not Taken:
            call_next(site.lines, attempt.line)


def _wait_in_line(site: Site, attempt: Attempt, place: Place) -> Program[bool]:
    """Wait to be called.  False: time was up first, and we have left the line."""
    try:
        while not place.called:
            rang = yield Pause(place.ear, attempt.deadline)
            if not rang and (yield TICKS) >= attempt.deadline:
                if site.lines.quit(attempt.line, place):
                    return False
                yield from _be_called(place)
        return True
    except GeneratorExit:
        raise
    except BaseException:
        if not site.lines.quit(attempt.line, place):
            yield from _be_called(place)
            if place.passed is not None:
                yield from abandon(site, attempt.key, attempt.owner)
            call_next(site.lines, attempt.line)
        raise


def _be_called(place: Place) -> Program[None]:
    """We were chosen: whoever is in front is just telling us."""
    while not place.called:
        yield Pause(place.ear, FOREVER)
