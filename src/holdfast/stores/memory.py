"""Locks in the memory of one process: for threads and tasks, and as the double in other people's tests.

`memory:` is private to its client; `memory://name` is shared by all clients of this process that name it.
"""

from __future__ import annotations

import heapq
import random
import time
from bisect import bisect_left, bisect_right
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from holdfast.core.record import EMPTY, Micros, Record
from holdfast.core.step import settle, vacate
from holdfast.engine.bell import Bell
from holdfast.engine.program import FOREVER
from holdfast.engine.store import Traits
from holdfast.stores import Backend, Endpoint, Inbox
from holdfast.stores.here import HereStore, Request, execute, pool_of

if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable

    from holdfast.url import Address

SWEEP_EVERY = 256
SWEEP_RECORDS = 256


class Members:
    """The members of one pool: any free one by chance, and the busy ones by the time they may be free."""

    def __init__(self) -> None:
        self._free: list[str] = []
        self._place: dict[str, int] = {}
        self._ends: dict[str, Micros] = {}
        self._order: list[tuple[Micros, str]] = []

    def note(self, key: str, record: Record) -> None:
        if not record.kept:
            self._unfree(key)
            self._ends.pop(key, None)
        elif record.grants:
            self._unfree(key)
            ends = self._ends[key] = max(grant.expires for grant in record.grants)
            heapq.heappush(self._order, (ends, key))
            if len(self._order) > 2 * len(self._ends) + 64:
                self._order = [(ends, key) for key, ends in self._ends.items()]
                heapq.heapify(self._order)
        else:
            self._ends.pop(key, None)
            if key not in self._place:
                self._place[key] = len(self._free)
                self._free.append(key)

    def _unfree(self, key: str) -> None:
        place = self._place.pop(key, None)
        if place is not None:
            last = self._free.pop()
            if last != key:
                self._free[place] = last
                self._place[last] = place

    def draw(self, now: Micros) -> str | None:
        if self._free:
            return random.choice(self._free)
        return self._order[0][1] if self.free_at() <= now else None

    def free_at(self) -> Micros:
        while self._order and self._ends.get(self._order[0][1]) != self._order[0][0]:
            heapq.heappop(self._order)
        return self._order[0][0] if self._order else FOREVER


class Room:
    """The records that share a name."""

    def __init__(self) -> None:
        self.mutex: LockType = Lock()
        self.bells: WeakValueDictionary[str, Bell] = WeakValueDictionary()
        self._records: dict[str, Record] = {}
        self._pools: dict[str, Members] = {}
        self._keys: list[str] | None = None
        self._puts = 0
        self._to_sweep: list[str] = []
        self._last = 0

    def clock(self, wall: Micros) -> Micros:
        """Never back, whatever clocks its clients have."""
        self._last = max(self._last, wall)
        return self._last

    def get(self, key: str) -> Record:
        return self._records.get(key, EMPTY)

    def put(self, key: str, record: Record) -> None:
        records = self._records
        if key not in records or record is EMPTY:
            self._keys = None
        if record is EMPTY:
            before = records.pop(key, EMPTY)
        else:
            before = records.get(key, EMPTY)
            records[key] = record
        if (record.kept or before.kept) and (pool := pool_of(key)):
            self._pools.setdefault(pool, Members()).note(key, record)
        self._puts += 1
        if self._puts >= SWEEP_EVERY:
            self._sweep()

    def _sweep(self) -> None:
        """Forget the next few that have expired and were never asked for again; every record gets its turn."""
        self._puts = 0
        turns = self._to_sweep = self._to_sweep or list(self._records)
        for key in turns[-SWEEP_RECORDS:]:
            record = self.get(key)
            if record is not EMPTY and vacate(settle(record, self._last), self._last) is EMPTY:
                del self._records[key]
                self._keys = None
        del turns[-SWEEP_RECORDS:]

    def page(self, prefix: str, after: str, limit: int) -> list[tuple[str, Record]]:
        if self._keys is None:
            self._keys = sorted(self._records)
        keys = self._keys
        start = bisect_right(keys, after) if after >= prefix else bisect_left(keys, prefix)
        found: list[tuple[str, Record]] = []
        for number in range(start, min(len(keys), start + limit)):
            if not keys[number].startswith(prefix):
                break
            found.append((keys[number], self._records[keys[number]]))
        return found

    def draw(self, prefix: str, now: Micros) -> str | None:
        members = self._pools.get(prefix)
        return members.draw(now) if members else None

    def free_at(self, prefix: str) -> Micros:
        members = self._pools.get(prefix)
        return members.free_at() if members else FOREVER

    def dead(self, owner: str) -> bool:
        return False

    def find(self, prefix: str, owner: str) -> str | None:
        for key, record in self._records.items():
            if key.startswith(prefix) and any(grant.owner == owner for grant in record.grants):
                return key
        return None


_rooms: WeakValueDictionary[str, Room] = WeakValueDictionary()
_rooms_mutex = Lock()


_started = time.time_ns() // 1000 - time.monotonic_ns() // 1000


def steady_wall() -> Micros:
    """The time of day when this process began, and what has passed since: setting the clock changes nothing."""
    return _started + time.monotonic_ns() // 1000


class _Requests:
    """What both colours have in common: nothing here ever waits."""

    def __init__(self, endpoint: Endpoint, clock: Callable[[], Micros] | None = None) -> None:
        self._client = endpoint.client
        self._wall = clock or steady_wall
        name = endpoint.address.host
        with _rooms_mutex:
            room = _rooms.get(name) if name else None
            if room is None:
                room = Room()
                if name:
                    _rooms[name] = room
        self.room: Room = room

    def at_once(self, request: Request) -> Any:
        """The answer to the request."""
        room = self.room
        with room.mutex:
            answer, rings = execute(room, request, room.clock(self._wall()))
        for _, owner in rings:
            bell = room.bells.get(owner.partition(".")[0])
            if bell is not None:
                bell.ring(owner)
        return answer

    def listen(self, bell: Bell) -> Inbox | None:
        self.room.bells[self._client] = bell
        return None

    def leave(self) -> None:
        """Nobody rings for us any more."""
        self.room.bells.pop(self._client, None)

    def forget(self) -> None:
        """A forked child has its own copy of everything; the parent's threads are not in it."""
        self.room = Room()


class MemoryTransport(_Requests):
    """Requests to a room, in the caller's own thread."""

    def send(self, request: Request) -> Any:
        return self.at_once(request)

    def close(self) -> None:
        self.leave()


class AsyncMemoryTransport(_Requests):
    """The same for asyncio."""

    async def send(self, request: Request) -> Any:
        return self.at_once(request)

    async def close(self) -> None:
        self.leave()


TRAITS = Traits(clock="process", wakes="push", scope="process", survives="nothing", min_ttl=0.001)


def _store(_address: Address) -> HereStore:
    return HereStore(TRAITS)


backend: Backend = Backend(_store, MemoryTransport, AsyncMemoryTransport)
