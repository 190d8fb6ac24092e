"""Bugs planted into the rules, each of which the search must find: it is only worth what it would have caught.

A bug is a change of the text of `step`, compiled into a module of its own; the rules themselves are never touched.
"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import NamedTuple

from holdfast.core import step as rules


class Bug(NamedTuple):
    name: str
    why: str
    """What it would do to people."""
    scope: str
    law: str
    """Which law it breaks first."""
    right: str
    wrong: str


def plant(bug: Bug) -> ModuleType:
    """The rules with this bug in them."""
    text = inspect.getsource(rules)
    if text.count(bug.right) != 1:
        raise LookupError(f"{bug.name}: its text stands {text.count(bug.right)} times in step.py, not once")
    module = ModuleType("rules_with_a_bug")
    exec(compile(text.replace(bug.right, bug.wrong), bug.name, "exec"), module.__dict__)
    return module


BUGS = (
    Bug(
        "one too many",
        "two hold a mutex at once",
        "mutex",
        "no_more_than_the_limit",
        "+ weight <= record.limit",
        "+ weight <= record.limit + 1",
    ),
    Bug(
        "a writer is as light as a reader",
        "a reader reads what a writer is writing",
        "readers-writer",
        "no_more_than_the_limit",
        "return sum(grant.weight for grant in record.grants) + weight <= record.limit",
        "return len(record.grants) + 1 <= record.limit and (weight < record.limit or not record.grants)",
    ),
    Bug(
        "a fence that only counts",
        "after the record was forgotten, old fences are given again and a resource believes a stale holder",
        "mutex",
        "every_grant_has_a_higher_fence",
        "return max(record.fence + 1, now)",
        "return record.fence + 1",
    ),
    Bug(
        "a fence that only looks at the clock",
        "two grants of one instant have one fence",
        "semaphore",
        "every_grant_has_a_higher_fence",
        "return max(record.fence + 1, now)",
        "return now",
    ),
    Bug(
        "forgetting too early",
        "within one instant, the fence starts again from the clock and is given twice",
        "mutex",
        "every_grant_has_a_higher_fence",
        "if idle and now > record.fence else",
        "if idle else",
    ),
    Bug(
        "forgetting what was broken",
        "the holder whose lock was broken is not told by whom",
        "break and the rest",
        "breaks_are_remembered",
        "or record.broken or record.kept)\n    return",
        "or record.kept)\n    return",
    ),
    Bug(
        "forgetting what is kept",
        "a member leaves its pool when its first lease ends",
        "break and the rest",
        "what_is_kept_stays",
        "or record.broken or record.kept)\n    return",
        "or record.broken)\n    return",
    ),
    Bug(
        "a grant outlives its end by an instant",
        "holder and successor disagree about the last microsecond",
        "mutex",
        "the_dead_bar_nobody",
        "grants=tuple(grant for grant in record.grants if grant.expires > now),",
        "grants=tuple(grant for grant in record.grants if grant.expires >= now),",
    ),
    Bug(
        "the dead stay in line",
        "one killed waiter blocks a lock for ever",
        "queue",
        "the_dead_bar_nobody",
        "queue=tuple(waiter for waiter in record.queue if waiter.expires > now),",
        "queue=record.queue,",
    ),
    Bug(
        "nothing expires unless a grant does",
        "a dead writer at the door keeps readers out for as long as others read",
        "readers-writer",
        "a_denial_is_true",
        "    for waiter in record.queue:\n        if waiter.expires <= now:\n            return True\n",
        "",
    ),
    Bug(
        "expiry wakes nobody",
        "what a dead holder leaves is free, and the line stands before it",
        "mutex",
        "there_is_an_answer",
        "    return serve(alive, now)\n",
        "    return alive\n",
    ),
    Bug(
        "release wakes nobody",
        "the line waits for a poll after each release",
        "mutex",
        "what_is_free_is_given",
        "return vacate(serve(left, now), now), Released(now)",
        "return vacate(left, now), Released(now)",
    ),
    Bug(
        "downgrading wakes nobody",
        "readers wait for a writer who became a reader",
        "readers-writer",
        "what_is_free_is_given",
        "after = serve(_with_grant(settled, mine, less), now)",
        "after = _with_grant(settled, mine, less)",
    ),
    Bug(
        "a break wakes nobody",
        "the lock is free, and the line stands before it",
        "break and the rest",
        "what_is_free_is_given",
        "return serve(left, now), Revoked(",
        "return left, Revoked(",
    ),
    Bug(
        "last come, first served",
        "whoever waits longest waits for ever",
        "queue",
        "nobody_is_overtaken",
        "        head = record.queue[0]\n",
        "        head = record.queue[-1]\n        record = record._replace(queue=(head, *record.queue[:-1]))\n",
    ),
    Bug(
        "the light overtake the heavy",
        "readers keep coming, and the writer at the door starves",
        "readers-writer",
        "nobody_is_overtaken",
        "(not settled.queue and fits(settled, want.weight))",
        "fits(settled, want.weight)",
    ),
    Bug(
        "asking again goes to the end",
        "a waiter that keeps its place alive loses it by that",
        "mutex",
        "waiters_keep_their_place",
        "(*settled.queue[:place], me, *settled.queue[place + 1 :])",
        "(*settled.queue[:place], *settled.queue[place + 1 :], me)",
    ),
    Bug(
        "two places in line",
        "one lost reply, and a waiter is granted the lock twice",
        "mutex",
        "asking_twice_is_asking_once",
        "if waiter.owner == owner:",
        "if waiter.owner is None:",
    ),
    Bug(
        "a hand-off is for the full ttl",
        "a dead waiter that is handed the lock keeps it for minutes instead of seconds",
        "queue",
        "a_hand_off_is_short",
        "lifetime = min(head.ttl, head.linger)",
        "lifetime = head.ttl",
    ),
    Bug(
        "renewing can shorten",
        "an earlier reply, still on its way, promises more than the record says",
        "mutex",
        "holders_lose_nothing",
        "expires=max(mine.expires, now + ttl)",
        "expires=now + ttl",
    ),
    Bug(
        "renewing by name only",
        "whoever lost the lock renews the grant of whoever has it now",
        "mutex",
        "what_is_granted_stands",
        "    for grant in record.grants:\n        if grant.owner == owner:\n",
        "    for grant in record.grants:\n        if grant.owner:\n",
    ),
    Bug(
        "asking again is a new request",
        "after one lost reply a client is barred by itself",
        "mutex",
        "asking_twice_is_asking_once",
        "    if mine is not None:\n        return _extend(settled, mine, want.ttl, now)\n    contended",
        "    contended",
    ),
    Bug(
        "release without looking whose it is",
        "a late release frees the lock under its next holder",
        "mutex",
        "holders_lose_nothing",
        "grants = tuple([grant for grant in settled.grants if grant.owner != op.owner])",
        "grants = ()",
    ),
    Bug(
        "release leaves the place in line",
        "who gave up is granted the lock all the same",
        "mutex",
        "letting_go_lets_go",
        "queue = settled.queue and tuple([waiter for waiter in settled.queue if waiter.owner != op.owner])",
        "queue = settled.queue",
    ),
    Bug(
        "any kind of lock will do",
        "a semaphore of two and a mutex share a key, and two hold the mutex",
        "queue",
        "no_more_than_the_limit",
        "if contended and (settled.kind, settled.limit) != (want.kind, want.limit):",
        "if False:",
    ),
    Bug(
        "free when the last one ends",
        "waiters sleep although there is room",
        "semaphore",
        "a_denial_is_true",
        "min(grant.expires for grant in settled.grants), settled.grants, ahead",
        "max(grant.expires for grant in settled.grants), settled.grants, ahead",
    ),
    Bug(
        "a break leaves the fence",
        "nothing stops the broken holder at the resource until somebody else is granted",
        "break and the rest",
        "a_break_breaks",
        "        fence=mint(settled, now),\n        grants=tuple(grant for grant",
        "        grants=tuple(grant for grant",
    ),
    Bug(
        "a break that comes twice breaks twice",
        "one lost reply, and the next holder is broken too",
        "break and the rest",
        "asking_twice_is_asking_once",
        "if broken.mark == op.mark)",
        "if False)",
    ),
    Bug(
        "a break takes everybody",
        "who meant one reader breaks all of them",
        "break and the rest",
        "holders_lose_nothing",
        "if op.fence in (None, grant.fence))",
        ")",
    ),
    Bug(
        "a break is told too briefly",
        "a holder that renewed for longer than its ttl does not hear who broke it",
        "break and the rest",
        "breaks_are_remembered",
        "max(grant.expires, now + grant.ttl)",
        "now + grant.ttl",
    ),
    Bug(
        "handing over keeps the fence",
        "the resource cannot tell the heir from whoever handed over",
        "break and the rest",
        "every_grant_has_a_higher_fence",
        "    fence = mint(settled, now)\n    given = Grant(op.heir",
        "    fence = mine.fence\n    given = Grant(op.heir",
    ),
    Bug(
        "the heir stays in line",
        "one owner holds the lock and waits for itself",
        "break and the rest",
        "nobody_stands_twice",
        "if waiter.owner != op.heir)",
        ")",
    ),
    Bug(
        "a hand-over that is told and not written",
        "the heir counts on a fence that the next holder gets too",
        "break and the rest",
        "what_is_granted_stands",
        "        return settled, _granted(settled, theirs, now)",
        "        return record, _granted(settled, theirs, now)",
    ),
    Bug(
        "taking drops what is kept",
        "a pool's member loses its payload when it is taken",
        "break and the rest",
        "what_is_kept_stays",
        "payload, kept = free.payload, free.kept",
        "payload, kept = None, 0",
    ),
    Bug(
        "an equal record is written again",
        "every poll costs a write, and wakes everybody",
        "mutex",
        "asking_twice_is_asking_once",
        "return (record if after == record else after), reply",
        "return after, reply",
    ),
)
