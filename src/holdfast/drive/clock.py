"""The clocks of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from holdfast.engine.program import Micros

_CLOCK: int | None = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))
"""A clock that counts while the machine sleeps: Linux' CLOCK_BOOTTIME; on macOS CLOCK_MONOTONIC (not what Python calls
monotonic there); Windows has but one."""

_nanoseconds: Callable[[], int] = time.monotonic_ns if _CLOCK is None else partial(time.clock_gettime_ns, _CLOCK)


class SystemClock:
    """Real time."""

    __slots__ = ()

    def ticks(self) -> Micros:
        """Monotonic, and the same in all processes of this machine."""
        return _nanoseconds() // 1000

    def wall(self) -> Micros:
        """The time of day.  For people, and for stores that say they use it."""
        return time.time_ns() // 1000


system_clock: SystemClock = SystemClock()
