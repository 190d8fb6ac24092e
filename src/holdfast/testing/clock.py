"""Virtual time: drivers whose waiting takes none, for tests of what happens after a minute or a day.

Everything that shares one `VirtualClock` lives in its time.  Time passes when a test says `advance`, and when somebody
waits: then it goes on to the moment when that wait ends, and all that is due on the way (renewals, expiries) happens in
its order.
"""

from __future__ import annotations

import asyncio
from typing import Any

from holdfast.drive.clock import SystemClock
from holdfast.drive.tasks import AsyncDriver
from holdfast.drive.threads import Driver
from holdfast.durations import Seconds, micros
from holdfast.engine.keeper import Keeper
from holdfast.engine.program import SECOND, Micros
from holdfast.stores import AsyncTransport, Transport

START: Micros = 1_700_000_000 * SECOND
LONGEST_WAIT: Micros = 30 * 24 * 3600 * SECOND
OTHERS_TURNS = 25
"""So often the other tasks may run before one that waits moves the time."""


class VirtualClock(SystemClock):
    """A clock that stands still until it is moved."""

    __slots__ = ("_keeping", "_now", "_waits")

    def __init__(self) -> None:
        self._now = START
        self._keeping: list[VirtualDriver] = []
        self._waits: dict[object, Micros] = {}

    def ticks(self) -> Micros:
        return self._now

    def wall(self) -> Micros:
        return self._now

    def advance(self, length: Seconds) -> None:
        """Let so much time pass, and with it all that is due."""
        self.advance_to(self._now + micros(length, "length"))

    def advance_to(self, until: Micros) -> None:
        """Let time pass until then; the keepers of clients for threads do what they have to on the way."""
        while self._keeping:
            driver = min(self._keeping, key=lambda one: one.keeper.plan())
            due = driver.keeper.plan()
            if due > until:
                break
            self._now = max(self._now, due)
            driver.run(driver.keeper.round())
        self._now = max(self._now, until)

    def sleep(self, length: Seconds) -> None:
        """What the process does not see pass: it was stopped, or the machine slept.  No keeper runs."""
        self._now += micros(length, "length")


class VirtualDriver(Driver):
    """Runs the programs of a client for threads, in virtual time."""

    def __init__(self, transport: Transport, keeper: Keeper, clock: VirtualClock) -> None:
        super().__init__(transport, keeper, clock)
        self.keeper = keeper
        self._time = clock
        clock._keeping.append(self)

    def _poke(self) -> None:
        """No thread: whoever moves the time runs the keeper."""

    def pause(self, ear: Any, until: Micros) -> bool:
        began = self._time.ticks()
        if self.listen():
            ear.rung = True
        if not ear.rung:
            if until - began > LONGEST_WAIT:
                raise AssertionError("this would wait for ever: in virtual time nobody else runs while somebody waits")
            self._time.advance_to(until)
        rang: bool = ear.rung
        ear.rung = False
        return rang

    def close(self) -> None:
        self._time._keeping.remove(self)
        super().close()


class AsyncVirtualDriver(AsyncDriver):
    """Runs the programs of a client for asyncio, in virtual time: it passes when all tasks wait."""

    def __init__(self, transport: AsyncTransport, keeper: Keeper, clock: VirtualClock) -> None:
        super().__init__(transport, keeper, clock)
        self._time = clock

    async def pause(self, ear: Any, until: Micros) -> bool:
        if self.listen():
            ear.rung = True
        await self._pass_time(ear, until)
        rang: bool = ear.rung
        ear.rung = False
        return rang

    async def _pass_time(self, ear: Any, until: Micros) -> None:
        waits = self._time._waits
        waits[ear] = until
        try:
            while not ear.rung and self._time.ticks() < until and not self._dismissed:
                for _ in range(OTHERS_TURNS):
                    await asyncio.sleep(0)
                if not ear.rung and until <= min(waits.values()):
                    self._time.advance_to(until)
        finally:
            del waits[ear]

    async def _keep(self) -> None:
        ear = self._task_ear = self.new_ear()  # type: ignore[assignment]
        while not self._closed:
            ear.rung = False
            due = self._keeper.plan()
            if due > self._time.ticks():
                await self._pass_time(ear, due)
                continue
            await self.run(self._keeper.round())
