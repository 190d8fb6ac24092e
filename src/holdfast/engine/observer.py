"""Leases on a store that has no clock: judged by watching, never by comparing the times of two machines.

What is stored is how long a lease lasts, and a beat that changes whenever it is renewed.  Whoever wants the lock watches
the beat: if it has not changed for as long as the lease lasts, on the watcher's own monotonic clock and counted from when
the read that first showed it *returned*, then the lease is over.  Its holder stopped believing before that, because it
counts from when its request was *sent*, and makes allowance for clocks of different speed (see `hold.safe_for`).

The rules know nothing of this.  `Observer` stands between them and the rows: it gives a record that it reads the expiries
that follow from what it has watched, and takes them out again when it writes.  The price is that a newcomer must watch
for one full ttl before it may take over from a dead holder, and that rows stay, because nothing but the row can keep a
fence from going back when everybody's clock is wrong.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeAlias, TypeVar, cast

from holdfast.core.record import Micros, Record
from holdfast.engine.program import TICKS, WALL, Program
from holdfast.engine.store import Page, SwapStore, There, Traits

V = TypeVar("V")

WATCHED = 10_000
"""So many keys are watched at a time; one that is dropped is watched anew, so its holder is only believed longer."""

Who: TypeAlias = tuple[str, str, int]
"""An entry of a record: which part it stands in, its owner, and its fence."""

Ends: TypeAlias = dict[tuple[Who, int], Micros]
"""When an entry ends in our own time, if its beat stays what it is."""


class Sighting(NamedTuple, Generic[V]):
    """A row as it was last seen, and what that means in our own time."""

    version: V | None
    """None: it was seen in passing, and must be read before it is changed."""
    ends: Ends


class Observer(Generic[V]):
    """A store with a clock, made of one without."""

    keeps_rows = True

    def __init__(self, inner: SwapStore[V]) -> None:
        self._inner = inner
        self._offset: Micros | None = None
        self._sightings: OrderedDict[str, Sighting[V]] = OrderedDict()

    @property
    def traits(self) -> Traits:
        return self._inner.traits

    def now(self) -> Program[Micros]:
        """This client's own time: set once by its wall clock, so that fences look like times, and monotonic from then.

        It is never compared with anybody else's.
        """
        ticks: Micros = yield TICKS
        if self._offset is None:
            wall: Micros = yield WALL
            self._offset = wall - ticks
        return self._offset + ticks

    def load(self, key: str) -> Program[There[V] | None]:
        found = yield from self._inner.load(key)
        return (yield from self._sight(key, found))

    def swap(self, key: str, new: Record, expected: V | None) -> Program[V | There[V] | None]:
        now = yield from self.now()
        known: Ends = {}
        if expected is not None:
            sighting = self._sightings.get(key)
            if sighting is None or sighting.version != expected:
                return (yield from self.load(key))  # we have not watched what this was decided on: decide anew
            known = sighting.ends
        stored, ends = outgoing(new, known, now)
        result = yield from self._inner.swap(key, stored, expected)
        if result is None or isinstance(result, There):
            return (yield from self._sight(key, cast("There[V] | None", result)))
        self._watch(key, Sighting(result, ends))
        return result

    def scan(self, prefix: str, after: str, limit: int) -> Program[Page]:
        page = yield from self._inner.scan(prefix, after, limit)
        now = yield from self.now()
        return Page(now, [(key, self._glimpse(key, stored, now)) for key, stored in page.records])

    def _glimpse(self, key: str, stored: Record, now: Micros) -> Record:
        """A row seen in passing: its watch begins too, or who only looks would never see anybody's end."""
        record, ends = incoming(stored, self._known(key), now)
        if ends:
            before = self._sightings.get(key)
            self._watch(key, Sighting(before.version if before is not None else None, ends))
        return record

    def _known(self, key: str) -> Ends:
        sighting = self._sightings.get(key)
        return sighting.ends if sighting is not None else {}

    def _sight(self, key: str, found: There[V] | None) -> Program[There[V] | None]:
        """What was just read, in our own time: only now, when the read has returned, does the watch begin."""
        now = yield from self.now()
        if found is None:
            self._sightings.pop(key, None)
            return None
        record, ends = incoming(found.record, self._known(key), now)
        self._watch(key, Sighting(found.version, ends))
        return There(record, found.version)

    def _watch(self, key: str, sighting: Sighting[V]) -> None:
        self._sightings[key] = sighting
        self._sightings.move_to_end(key)
        if len(self._sightings) > WATCHED:
            self._sightings.popitem(last=False)


# --- from beats to times and back ----------------------------------------------------------------------------------


def incoming(stored: Record, known: Ends, now: Micros) -> tuple[Record, Ends]:
    """The record with times for beats: an entry that we have not seen at this beat lasts its whole length from now."""
    ends: Ends = {}

    def end(who: Who, beat: int, length: Micros) -> Micros:
        ends[who, beat] = known.get((who, beat), now + length)
        return ends[who, beat]

    return retimed(stored, end), ends


def outgoing(new: Record, known: Ends, now: Micros) -> tuple[Record, Ends]:
    """The record with beats for times: an entry that ends when we knew it to keeps its beat, any other gets a new one."""
    before = {who: (beat, end) for (who, beat), end in known.items()}
    ends: Ends = {}

    def beat(who: Who, end: Micros, _length: Micros) -> int:
        old, known_end = before.get(who, (0, None))
        if known_end == end:
            number = old
        elif who[0] == "broken":
            number = max(end - now, 1)  # nobody renews it, so how long it is still to be told is all there is to store
        else:
            number = max(old + 1, now)
        ends[who, number] = end
        return number

    return retimed(new, beat), ends


def retimed(record: Record, time: Callable[[Who, int, Micros], int]) -> Record:
    """The record with another number wherever it says when something ends."""
    if not (record.grants or record.queue or record.broken):
        return record
    return record._replace(
        grants=tuple(
            grant._replace(expires=time(("grant", grant.owner, grant.fence), grant.expires, grant.ttl))
            for grant in record.grants
        ),
        queue=tuple(
            waiter._replace(expires=time(("waiter", waiter.owner, 0), waiter.expires, waiter.linger))
            for waiter in record.queue
        ),
        broken=tuple(
            broken._replace(until=time(("broken", broken.owner + broken.mark, 0), broken.until, broken.until))
            for broken in record.broken
        ),
    )
