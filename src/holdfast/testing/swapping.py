"""A store that offers nothing but a conditional write, in memory: the double of every such database.

`swapping://name` has a clock; `clockless://name` has none.  Every request is one round trip, so tests can count them.
"""

from __future__ import annotations

import asyncio
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.core.record import EMPTY, Micros, Record
from holdfast.engine.bell import Bell
from holdfast.engine.byswap import BySwap
from holdfast.engine.observer import Observer
from holdfast.engine.program import WALL, Program, Send
from holdfast.engine.records import dump, record_of
from holdfast.engine.store import Page, There, Traits
from holdfast.stores import Backend, Endpoint, Inbox
from holdfast.url import Address

if TYPE_CHECKING:
    from _thread import LockType


class Load(NamedTuple):
    key: str


class Swap(NamedTuple):
    key: str
    new: bytes | None
    expected: int | None


class ScanPage(NamedTuple):
    prefix: str
    after: str
    limit: int


class Rows:
    """Versioned bytes by key."""

    def __init__(self) -> None:
        self.mutex: LockType = Lock()
        self.rows: dict[str, tuple[int, bytes]] = {}
        self._versions = count(1)

    def answer(self, request: Load | Swap | ScanPage) -> Any:
        """What the database would answer."""
        with self.mutex:
            if isinstance(request, Load):
                return self.rows.get(request.key)
            if isinstance(request, ScanPage):
                keys = sorted(key for key in self.rows if key.startswith(request.prefix) and key > request.after)
                return [(key, self.rows[key][1]) for key in keys[: request.limit]]
            return self._swap(request)

    def _swap(self, request: Swap) -> int | tuple[int, bytes] | None:
        there = self.rows.get(request.key)
        if (there[0] if there else None) != request.expected:
            return there
        version = next(self._versions)
        if request.new is None:
            self.rows.pop(request.key, None)
        else:
            self.rows[request.key] = (version, request.new)
        return version


class SwappingStore:
    """The least that makes a backend; for `Observer` as it is, and for `BySwap` with its clock."""

    keeps_rows = False

    def __init__(self, traits: Traits) -> None:
        self._traits = traits

    @property
    def traits(self) -> Traits:
        return self._traits

    def now(self) -> Program[Micros]:
        now: Micros = yield WALL
        return now

    def load(self, key: str) -> Program[There[int] | None]:
        row: tuple[int, bytes] | None = yield Send(Load(key))
        return There(record_of(key, row[1]), row[0]) if row else None

    def swap(self, key: str, new: Record, expected: int | None) -> Program[int | There[int] | None]:
        found: int | tuple[int, bytes] | None = yield Send(Swap(key, None if new is EMPTY else dump(new), expected))
        return There(record_of(key, found[1]), found[0]) if isinstance(found, tuple) else found

    def scan(self, prefix: str, after: str, limit: int) -> Program[Page]:
        rows: list[tuple[str, bytes]] = yield Send(ScanPage(prefix, after, limit))
        return Page((yield from self.now()), [(key, record_of(key, data)) for key, data in rows])


_shared: dict[str, Rows] = {}


def rows_of(address: Address) -> Rows:
    """The rows that this name stands for in this process; each client without a name has its own."""
    return _shared.setdefault(address.host, Rows()) if address.host else Rows()


class _Requests:
    """What both colours have in common."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.rows: Rows = rows_of(endpoint.address)

    def listen(self, bell: Bell) -> Inbox | None:
        bell.deaf = True
        return None

    def forget(self) -> None:
        """Nothing is shared with the parent."""


class SwappingTransport(_Requests):
    """Requests to the rows, from any thread."""

    def send(self, request: Any) -> Any:
        return self.rows.answer(request)

    def close(self) -> None:
        """Nothing is open."""


class AsyncSwappingTransport(_Requests):
    """The same for asyncio, with a turn for the others in every round trip."""

    async def send(self, request: Any) -> Any:
        await asyncio.sleep(0)
        answer = self.rows.answer(request)
        await asyncio.sleep(0)
        return answer

    async def close(self) -> None:
        """Nothing is open."""


def _with_clock(_address: Address) -> BySwap[int]:
    return BySwap(SwappingStore(Traits(clock="host", wakes="poll", scope="process", survives="nothing")))


def _without_clock(_address: Address) -> BySwap[int]:
    return BySwap(Observer(SwappingStore(Traits(clock="none", wakes="poll", scope="process", survives="nothing"))))


swapping: Backend = Backend(_with_clock, SwappingTransport, AsyncSwappingTransport)
clockless: Backend = Backend(_without_clock, SwappingTransport, AsyncSwappingTransport)
