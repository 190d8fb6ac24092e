"""Everything that whoever writes a store needs, in one place; see docs/reference/writing-a-store.md."""

from __future__ import annotations

from holdfast.core.record import EMPTY, FOREVER, Micros, Record
from holdfast.engine.bell import Bell
from holdfast.engine.byswap import BySwap
from holdfast.engine.observer import Observer
from holdfast.engine.program import TICKS, WALL, Program, Send
from holdfast.engine.records import dump, record_of
from holdfast.engine.store import ManyStore, Page, Picked, Store, SwapStore, There, TimedSwapStore, Traits
from holdfast.errors import BadRecord, ConfigError, OutcomeUnknown, StoreError, StoreUnavailable
from holdfast.stores import NOT_NOW, AsyncTransport, Backend, Endpoint, Immediate, Inbox, Transport
from holdfast.url import Address

__all__ = [
    "EMPTY",
    "FOREVER",
    "NOT_NOW",
    "TICKS",
    "WALL",
    "Address",
    "AsyncTransport",
    "Backend",
    "BadRecord",
    "Bell",
    "BySwap",
    "ConfigError",
    "Endpoint",
    "Immediate",
    "Inbox",
    "ManyStore",
    "Micros",
    "Observer",
    "OutcomeUnknown",
    "Page",
    "Picked",
    "Program",
    "Record",
    "Send",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "SwapStore",
    "There",
    "TimedSwapStore",
    "Traits",
    "Transport",
    "dump",
    "record_of",
]
