"""The clocks of this machine."""

from __future__ import annotations

import time

from holdfast.engine.program import Micros

_CLOCK = getattr(time, "CLOCK_BOOTTIME", None)
"""Counts while the machine sleeps (Linux).  macOS's CLOCK_MONOTONIC does so too; Windows' monotonic clock as well."""


class SystemClock:
    """Real time."""

    __slots__ = ()

    if _CLOCK is not None:

        def ticks(self) -> Micros:
            """Monotonic, and the same in all processes of this machine."""
            return time.clock_gettime_ns(_CLOCK) // 1000

    elif hasattr(time, "CLOCK_MONOTONIC"):

        def ticks(self) -> Micros:
            """Monotonic, and the same in all processes of this machine."""
            return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000

    else:

        def ticks(self) -> Micros:
            """Monotonic, and the same in all processes of this machine."""
            return time.monotonic_ns() // 1000

    def wall(self) -> Micros:
        """The time of day.  For people, and for stores that say they use it."""
        return time.time_ns() // 1000


system_clock = SystemClock()
