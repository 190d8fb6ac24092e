"""Distributed locks on what you already run, with leases that renew themselves, tell you when they are lost, and carry
a fencing token.

    import holdfast

    with holdfast.connect() as locks:
        with locks.mutex("orders/42"):
            ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.client import AsyncClient as AsyncClient
    from holdfast.client import Client as Client
    from holdfast.client import connect as connect
    from holdfast.client import connect_async as connect_async
    from holdfast.durations import Seconds as Seconds
    from holdfast.election import AsyncElection as AsyncElection
    from holdfast.election import Election as Election
    from holdfast.engine.hold import LossReason as LossReason
    from holdfast.errors import AcquireTimeout as AcquireTimeout
    from holdfast.errors import BadRecord as BadRecord
    from holdfast.errors import ConfigError as ConfigError
    from holdfast.errors import Contended as Contended
    from holdfast.errors import HoldfastError as HoldfastError
    from holdfast.errors import LeaseLost as LeaseLost
    from holdfast.errors import LockError as LockError
    from holdfast.errors import NotHeld as NotHeld
    from holdfast.errors import OutcomeUnknown as OutcomeUnknown
    from holdfast.errors import StoreError as StoreError
    from holdfast.errors import StoreUnavailable as StoreUnavailable
    from holdfast.errors import WouldDeadlock as WouldDeadlock
    from holdfast.info import Holder as Holder
    from holdfast.info import LockInfo as LockInfo
    from holdfast.lease import AsyncLease as AsyncLease
    from holdfast.lease import Lease as Lease
    from holdfast.lock import AsyncLock as AsyncLock
    from holdfast.lock import AsyncRWLock as AsyncRWLock
    from holdfast.lock import Lock as Lock
    from holdfast.lock import RWLock as RWLock
    from holdfast.observe.events import Event as Event
    from holdfast.observe.events import Hook as Hook
    from holdfast.once import AsyncOnce as AsyncOnce
    from holdfast.once import Once as Once
    from holdfast.pool import AsyncPool as AsyncPool
    from holdfast.pool import Pool as Pool
    from holdfast.url import register as register

__version__ = "0.1.0"

_WHERE = {
    "client": ("AsyncClient", "Client", "connect", "connect_async"),
    "durations": ("Seconds",),
    "election": ("AsyncElection", "Election"),
    "engine.hold": ("LossReason",),
    "errors": (
        "AcquireTimeout",
        "BadRecord",
        "ConfigError",
        "Contended",
        "HoldfastError",
        "LeaseLost",
        "LockError",
        "NotHeld",
        "OutcomeUnknown",
        "StoreError",
        "StoreUnavailable",
        "WouldDeadlock",
    ),
    "info": ("Holder", "LockInfo"),
    "lease": ("AsyncLease", "Lease"),
    "lock": ("AsyncLock", "AsyncRWLock", "Lock", "RWLock"),
    "observe.events": ("Event", "Hook"),
    "once": ("AsyncOnce", "Once"),
    "pool": ("AsyncPool", "Pool"),
    "url": ("register",),
}

__all__ = [
    "AcquireTimeout",
    "AsyncClient",
    "AsyncElection",
    "AsyncLease",
    "AsyncLock",
    "AsyncOnce",
    "AsyncPool",
    "AsyncRWLock",
    "BadRecord",
    "Client",
    "ConfigError",
    "Contended",
    "Election",
    "Event",
    "Holder",
    "HoldfastError",
    "Hook",
    "Lease",
    "LeaseLost",
    "Lock",
    "LockError",
    "LockInfo",
    "LossReason",
    "NotHeld",
    "Once",
    "OutcomeUnknown",
    "Pool",
    "RWLock",
    "Seconds",
    "StoreError",
    "StoreUnavailable",
    "WouldDeadlock",
    "connect",
    "connect_async",
    "register",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that importing holdfast costs next to nothing."""
    from importlib import import_module

    for module, names in _WHERE.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"holdfast.{module}"), name)
            return value
    raise AttributeError(f"module 'holdfast' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
