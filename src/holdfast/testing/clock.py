"""Virtual time: drivers whose waiting takes none, for tests of what happens after a minute or a day.

Everything that shares one `VirtualClock` lives in its time.  Time passes when a test says `advance` (in asyncio: `await
elapse`), and when somebody waits: then it goes on to the moment when that wait ends, and all that is due on the way
(renewals, expiries) happens in its order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from holdfast.drive.clock import SystemClock
from holdfast.drive.tasks import AsyncDriver, finish
from holdfast.drive.threads import Driver
from holdfast.durations import Seconds, micros
from holdfast.engine.keeper import Keeper
from holdfast.engine.program import SECOND, Micros
from holdfast.errors import StoreError
from holdfast.stores import CLOSED, AsyncTransport, Transport

START: Micros = 1_700_000_000 * SECOND
LONGEST_WAIT: Micros = 30 * 24 * 3600 * SECOND
OTHERS_TURNS = 25
"""So many turns of the loop nothing must happen before time passes."""


class VirtualClock(SystemClock):
    """A clock that stands still until it is moved."""

    __slots__ = ("_async_keeping", "_busy", "_keeping", "_moving", "_now", "_waits")

    def __init__(self) -> None:
        self._now = START
        self._keeping: list[VirtualDriver] = []
        self._async_keeping: list[AsyncVirtualDriver] = []
        self._waits: dict[object, Micros] = {}
        self._moving = False
        self._busy = 0
        """Counts requests and waits: while it grows, somebody is at work, and no time passes."""

    def ticks(self) -> Micros:
        return self._now

    def wall(self) -> Micros:
        return self._now

    def sleep(self, length: Seconds) -> None:
        """What the process does not see pass: it was stopped, or the machine slept.  No keeper runs."""
        self._now += micros(length, "length")

    # --- threads ----------------------------------------------------------------------------------------------------

    def advance(self, length: Seconds) -> None:
        """Let so much time pass, and with it all that is due."""
        if self._async_keeping:
            raise AssertionError("clients for asyncio can't do here what is due: write `await ... .elapse(seconds)`")
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

    # --- asyncio ----------------------------------------------------------------------------------------------------

    async def elapse(self, length: Seconds) -> None:
        """Let so much time pass, and with it all that is due; in asyncio."""
        await self.wait(self._now + micros(length, "length"), bool)

    async def wait(self, until: Micros, over: Callable[[], bool]) -> None:
        """Until then, or until it is over; who waits for the nearest moment moves the time, when all others wait too."""
        me = object()
        self._waits[me] = until
        self._busy += 1
        try:
            while self._now < until and not over():
                seen = self._busy
                for _ in range(OTHERS_TURNS):
                    await asyncio.sleep(0)
                calm = seen == self._busy and not over() and not self._moving
                if calm and until <= min(self._waits.values()) < self._now + LONGEST_WAIT:
                    await finish(asyncio.ensure_future(self._move(until)))
        finally:
            del self._waits[me]
            self._busy += 1

    async def _move(self, until: Micros) -> None:
        self._moving = True
        try:
            while self._async_keeping:
                driver = min(self._async_keeping, key=lambda one: one.keeper.plan())
                due = driver.keeper.plan()
                if due > until:
                    break
                self.advance_to(due)
                await driver.run(driver.keeper.round())
            self.advance_to(until)
        finally:
            self._moving = False


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
    """Runs the programs of a client for asyncio, in virtual time."""

    def __init__(self, transport: AsyncTransport, keeper: Keeper, clock: VirtualClock) -> None:
        super().__init__(transport, keeper, clock)
        self.keeper = keeper
        self._time = clock
        clock._async_keeping.append(self)

    async def _send(self, request: Any) -> Any:
        self._time._busy += 1
        return await super()._send(request)

    def _poke(self) -> None:
        """No task: whoever moves the time runs the keeper."""

    async def pause(self, ear: Any, until: Micros) -> bool:
        if self.listen():
            ear.rung = True
        await self._time.wait(until, lambda: ear.rung or self._dismissed)
        rang: bool = ear.rung
        if not rang and self._dismissed:
            raise StoreError(CLOSED)
        ear.rung = False
        return rang

    async def close(self) -> None:
        self._time._async_keeping.remove(self)
        await super().close()
