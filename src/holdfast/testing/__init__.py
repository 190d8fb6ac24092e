"""For tests: of your own code (`plugin`, virtual time, faults), and of stores that you write (`contract`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.testing.clock import AsyncVirtualDriver, VirtualClock, VirtualDriver
    from holdfast.testing.doubles import TestFaults, TestStore
    from holdfast.testing.faults import AsyncFaultyTransport, Faults, FaultyTransport

_WHERE = {
    "AsyncFaultyTransport": "faults",
    "AsyncVirtualDriver": "clock",
    "Faults": "faults",
    "FaultyTransport": "faults",
    "TestFaults": "doubles",
    "TestStore": "doubles",
    "VirtualClock": "clock",
    "VirtualDriver": "clock",
}


def __getattr__(name: str) -> object:
    """Load a name when it is used: the pytest plugin is loaded in every project that has holdfast installed."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"holdfast.testing.{_WHERE[name]}"), name)


__all__ = [
    "AsyncFaultyTransport",
    "AsyncVirtualDriver",
    "Faults",
    "FaultyTransport",
    "TestFaults",
    "TestStore",
    "VirtualClock",
    "VirtualDriver",
]
