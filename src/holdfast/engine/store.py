"""What the engine needs of a store, and what a store says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from holdfast.core.ops import Acquire, Op, Reply
from holdfast.core.record import EMPTY, Record
from holdfast.engine.program import Micros, Program

V = TypeVar("V")

Primitive = Literal["mutex", "rwlock", "semaphore", "pool", "election", "all_of", "once"]


class Traits(NamedTuple):
    """What a store promises.  The table in the docs and the skips of the contract suite are made from this."""

    clock: Literal["server", "host", "process", "none"] = "server"
    """Whose time the leases are measured by; `none`: watched by each waiter for itself."""
    wakes: Literal["push", "poll"] = "poll"
    """Whether a waiter is woken, or asks again now and then."""
    scope: Literal["process", "host", "network"] = "network"
    """How far the exclusion reaches."""
    survives: Literal["nothing", "crash", "power cut"] = "power cut"
    """After what the records are still there."""
    proof_of_death: bool = False
    """Whether a holder that died is replaced at once, not only when its ttl has passed."""
    min_ttl: float = 0.05
    unsupported: frozenset[Primitive] = frozenset()


class Picked(NamedTuple):
    """What came of asking for any free member of a pool: which one, if any, and the answer."""

    key: str
    reply: Reply


class Page(NamedTuple):
    """Some records in the order of their keys, and the store's time when they were read (any, for a store without a clock).

    Fewer than were asked for means that there are no more; a row that is gone meanwhile is an `EMPTY` record.
    """

    now: Micros
    records: Sequence[tuple[str, Record]]


class Store(Protocol):
    """A place where locks live.  Every method is a program."""

    @property
    def traits(self) -> Traits: ...

    def apply(self, key: str, op: Op) -> Program[Reply]:
        """Run `step` for `op` on the record at `key`, atomically."""
        ...

    def scan(self, prefix: str, after: str, limit: int) -> Program[Page]:
        """The next records, in the order of their keys, whose keys start with `prefix` and come behind `after`."""
        ...

    def pick(self, prefix: str, op: Acquire) -> Program[Picked]:
        """Acquire any free member (a kept record) whose key starts with `prefix`, chosen at random."""
        ...

    def unpick(self, prefix: str, owner: str) -> Program[None]:
        """Release the member that a `pick` of which no answer came may have given to this owner."""
        ...


@runtime_checkable
class ManyStore(Store, Protocol):
    """A store that can do several operations in one trip; the keeper uses it where it is there."""

    def apply_many(self, ops: Sequence[tuple[str, Op]]) -> Program[Sequence[Reply]]: ...


BATCH = 512
"""So many operations at most in one request."""


def apply_all(store: Store, ops: Sequence[tuple[str, Op]]) -> Program[Sequence[Reply]]:
    """The answers to all of them, in as few requests as the store allows."""
    if isinstance(store, ManyStore):
        return (yield from store.apply_many(ops))
    replies: list[Reply] = []
    for key, op in ops:
        replies.append((yield from store.apply(key, op)))
    return replies


def look(store: Store, key: str) -> Program[tuple[Record, Micros]]:
    """The record at exactly this key, `EMPTY` if there is none; and the store's time."""
    page = yield from store.scan(key, "", 1)
    there = page.records and page.records[0][0] == key
    return page.records[0][1] if there else EMPTY, page.now


class There(NamedTuple, Generic[V]):
    """A record as it was read, with what identifies this state of it."""

    record: Record
    version: V


class SwapStore(Protocol[V]):
    """The least that makes a backend: read a record, and replace it if nobody else has meanwhile.

    Without a clock it goes to `Observer` first; with one (see `TimedSwapStore`) straight to `BySwap`.
    """

    @property
    def traits(self) -> Traits: ...

    def load(self, key: str) -> Program[There[V] | None]:
        """What is there now; never a stale copy."""
        ...

    def swap(self, key: str, new: Record, expected: V | None) -> Program[V | There[V] | None]:
        """Write `new` if the version is still `expected` (None: nothing is there); an `EMPTY` record deletes.

        The result is the new version (after a delete, anything that is neither None nor a `There`), or `There`: what
        is there instead (`None` if nothing is).  So a race that is lost costs no second read.  After a lost reply the
        store may find its own write there; that is no loss.
        """
        ...

    def scan(self, prefix: str, after: str, limit: int) -> Program[Page]: ...


class TimedSwapStore(SwapStore[V], Protocol[V]):
    """One with a clock."""

    keeps_rows: bool
    """Whether a row must stay when nothing is left in it but its fence."""

    def now(self) -> Program[Micros]:
        """The time that its leases are counted in, the same for all clients as nearly as can be."""
        ...


__all__ = [
    "BATCH",
    "ManyStore",
    "Page",
    "Picked",
    "Primitive",
    "Store",
    "SwapStore",
    "There",
    "TimedSwapStore",
    "Traits",
    "apply_all",
    "look",
]
