"""For tests: of your own code (`plugin`, virtual time, faults), and of stores that you write (`contract`)."""

from __future__ import annotations

from holdfast.testing.clock import AsyncVirtualDriver, VirtualClock, VirtualDriver
from holdfast.testing.doubles import TestFaults, TestStore
from holdfast.testing.faults import AsyncFaultyTransport, Faults, FaultyTransport

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
