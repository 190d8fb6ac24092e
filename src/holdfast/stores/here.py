"""Stores that run the rules here: in a dict, in a file's transaction, on applying a log.

A request is a value; `execute` carries it out on a `Table`, inside whatever makes it atomic, and says whom to wake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

from holdfast.core.ops import Acquire, Denied, Op, Release, Reply
from holdfast.core.record import Micros, Record, handed
from holdfast.core.step import bury, step
from holdfast.engine.program import Program, Send
from holdfast.engine.store import Page, Picked, Traits

LOOK_AT = 64
"""So many of those in the way are looked at, whether they live, for each answer."""


class Apply(NamedTuple):
    key: str
    op: Op


class ApplyMany(NamedTuple):
    ops: Sequence[tuple[str, Op]]


class Scan(NamedTuple):
    prefix: str
    after: str
    limit: int


class Pick(NamedTuple):
    prefix: str
    op: Acquire


class Unpick(NamedTuple):
    prefix: str
    owner: str


Request: TypeAlias = Apply | ApplyMany | Scan | Pick | Unpick


class Table(Protocol):
    """Records by key; atomic, because whoever calls `execute` made it so."""

    def get(self, key: str) -> Record: ...

    def put(self, key: str, record: Record) -> None:
        """An `EMPTY` record is removed."""
        ...

    def page(self, prefix: str, after: str, limit: int) -> list[tuple[str, Record]]: ...

    def draw(self, prefix: str, now: Micros) -> str | None:
        """A free member of that pool by chance, in time that does not grow with the pool."""
        ...

    def free_at(self, prefix: str) -> Micros:
        """When the first member of that pool can be free, if nobody renews or releases."""
        ...

    def dead(self, owner: str) -> bool:
        """Whether it is proved that whoever had this name can act no more."""
        ...

    def find(self, prefix: str, owner: str) -> str | None:
        """The member of that pool that this owner holds; it may take as long as the pool is big."""
        ...


class HereStore:
    """A store whose transport executes requests on a table."""

    def __init__(self, traits: Traits) -> None:
        self._traits = traits

    @property
    def traits(self) -> Traits:
        return self._traits

    def apply(self, key: str, op: Op) -> Program[Reply]:
        reply: Reply = yield Send(Apply(key, op))
        return reply

    def apply_many(self, ops: Sequence[tuple[str, Op]]) -> Program[Sequence[Reply]]:
        replies: Sequence[Reply] = yield Send(ApplyMany(ops))
        return replies

    def scan(self, prefix: str, after: str, limit: int) -> Program[Page]:
        found: Page = yield Send(Scan(prefix, after, limit))
        return found

    def pick(self, prefix: str, op: Acquire) -> Program[Picked]:
        picked: Picked = yield Send(Pick(prefix, op))
        return picked

    def unpick(self, prefix: str, owner: str) -> Program[None]:
        yield Send(Unpick(prefix, owner))


def pool_of(key: str) -> str | None:
    """The prefix that the members of a pool have in common, if this is the key of one."""
    _, area, rest = key.split(":", 2)
    member = rest.partition("/")[2]
    return key[: -len(member)] if area == "pool" and member else None


class Ring(NamedTuple):
    """Somebody to wake, and the record that this is about."""

    key: str
    owner: str


def apply(table: Table, key: str, op: Op, now: Micros, rings: list[Ring]) -> Reply:
    """One operation on one record; if the answer is no because of the dead, they are buried and it is asked again."""
    before = table.get(key)
    after, reply = step(before, op, now)
    if type(reply) is Denied:
        in_the_way = (*(grant.owner for grant in reply.grants), *reply.ahead)
        gone = frozenset(owner for owner in in_the_way[:LOOK_AT] if table.dead(owner))
        if gone:
            after, reply = step(bury(after, gone, now), op, now)
    if after is not before:
        table.put(key, after)
        if before.queue:
            rings += (Ring(key, owner) for owner in handed(before, after) if owner != getattr(op, "owner", None))
        if after.kept and not after.grants and (pool := pool_of(key)):
            rings += (Ring(pool, turn.owner) for turn in table.get(pool).grants)
    return reply


def evict(table: Table, key: str, owner: str, now: Micros) -> list[Ring]:
    """Somebody was woken and proved dead: end what it has, and say who is next."""
    before = table.get(key)
    after = bury(before, frozenset((owner,)), now)
    if after is not before:
        table.put(key, after)
    return [Ring(key, next_one) for next_one in handed(before, after)]


def execute(table: Table, request: Request, now: Micros) -> tuple[object, list[Ring]]:
    """The answer to a request, and who must be woken for it."""
    rings: list[Ring] = []
    if isinstance(request, Apply):
        return apply(table, request.key, request.op, now, rings), rings
    if isinstance(request, ApplyMany):
        return [apply(table, key, op, now, rings) for key, op in request.ops], rings
    if isinstance(request, Scan):
        return Page(now, table.page(request.prefix, request.after, request.limit)), rings
    if isinstance(request, Unpick):
        found = table.find(request.prefix, request.owner)
        return (apply(table, found, Release(request.owner), now, rings) if found else None), rings
    key = table.draw(request.prefix, now)
    if key is None:
        return Picked("", Denied(now, table.free_at(request.prefix), (), ())), rings
    return Picked(key, apply(table, key, request.op, now, rings)), rings
