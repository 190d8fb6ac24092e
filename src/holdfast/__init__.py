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
    from holdfast.client_tasks import AsyncClient
    from holdfast.client_threads import Client
    from holdfast.connecting import connect, connect_async
    from holdfast.durations import Seconds
    from holdfast.election import AsyncElection, Election
    from holdfast.engine.hold import LossReason
    from holdfast.errors import (
        AcquireTimeout,
        BadRecord,
        ConfigError,
        Contended,
        HoldfastError,
        LeaseLost,
        LockError,
        NotHeld,
        OutcomeUnknown,
        StoreError,
        StoreUnavailable,
        WouldDeadlock,
    )
    from holdfast.info import Holder, LockInfo
    from holdfast.lease import AsyncLease, Lease
    from holdfast.lock import AsyncLock, AsyncRWLock, Lock, RWLock
    from holdfast.observe.events import Event, Hook
    from holdfast.once import AsyncOnce, Once
    from holdfast.pool import AsyncPool, Member, Pool
    from holdfast.url import register

__version__ = "0.1.0"

_WHERE = {
    "client_tasks": ("AsyncClient",),
    "client_threads": ("Client",),
    "connecting": ("connect", "connect_async"),
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
    "pool": ("AsyncPool", "Member", "Pool"),
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
    "Member",
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
