"""Runs programs in asyncio: a send is awaited to its end even if the caller is cancelled, the keeper is one task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from typing import Any, TypeVar

from holdfast.drive.clock import SystemClock, system_clock
from holdfast.engine.bell import Bell
from holdfast.engine.keeper import Keeper
from holdfast.engine.program import FOREVER, SECOND, Ear, Micros, Pause, Program, Send, Ticks
from holdfast.errors import StoreError
from holdfast.observe.events import RoundTrip
from holdfast.stores import CLOSED, NOT_NOW, AsyncTransport, Immediate, Inbox

T = TypeVar("T")

LONGEST_WAIT = 3600.0


class TaskEar:
    """An ear to await; it may be rung from any thread."""

    __slots__ = ("_future", "_loop", "_thread", "rung")

    def __init__(self) -> None:
        self.rung: bool = False
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()
        self._future: asyncio.Future[None] | None = None

    def ring(self) -> None:
        self.rung = True
        if self._future is None:
            return
        if get_ident() == self._thread:
            self.nudge()
        else:
            with suppress(RuntimeError):  # its loop is closed: nobody listens any more
                self._loop.call_soon_threadsafe(self.nudge)

    def nudge(self) -> None:
        """Make the waiter look around; not a ring."""
        if self._future is not None and not self._future.done():
            self._future.set_result(None)

    async def wait(self, seconds: float) -> None:
        """Until it rings, at most that long."""
        self._future = self._loop.create_future()
        if self.rung:
            self._future = None
            return
        timer = self._loop.call_later(min(seconds, LONGEST_WAIT), self.nudge)
        try:
            await self._future
        finally:
            timer.cancel()
            self._future = None


async def finish(task: asyncio.Task[T]) -> T:
    """The result of the task, which is never cancelled: if we are, we say so only when it has ended."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()
        raise cancelled
    return task.result()


class AsyncDriver:
    """Runs the programs of one client, in one event loop."""

    new_ear: Callable[[], Ear] = TaskEar

    def __init__(self, transport: AsyncTransport, keeper: Keeper, clock: SystemClock = system_clock) -> None:
        self.transport = transport
        self.clock = clock
        self.bell: Bell = Bell(self.new_ear)
        self.tell: Callable[[RoundTrip], None] | None = None
        self._at_once = transport.at_once if isinstance(transport, Immediate) else None
        self._keeper = keeper
        keeper.poke = self._poke
        self._task: asyncio.Task[None] | None = None
        self._task_ear: TaskEar | None = None
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._dismissed = False
        self._sleepers: set[TaskEar] = set()
        self._inbox: Inbox | None = None
        self._heard = False

    async def run(self, program: Program[T]) -> T:
        """Run it to its end.  Whatever is raised meanwhile is thrown into it, and leaves by its end."""
        result: Any = None
        error: BaseException | None = None
        while True:
            try:
                command = program.send(result) if error is None else program.throw(error)
            except StopIteration as stop:
                value: T = stop.value
                return value
            error = None
            try:
                kind = type(command)
                if kind is Send:
                    result = await self._send(command.request)  # type: ignore[union-attr]
                elif kind is Ticks:
                    result = self.clock.ticks()
                elif kind is Pause:
                    result = await self.pause(command.ear or self.new_ear(), command.until)  # type: ignore[union-attr]
                else:
                    result = self.clock.wall()
            except BaseException as raised:
                error = raised

    async def _send(self, request: Any) -> Any:
        if self._closed:
            raise StoreError(CLOSED)
        if self.tell is None:
            return await self._deliver(request)
        sent = self.clock.ticks()
        outcome = "ok"
        try:
            return await self._deliver(request)
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            self.tell(RoundTrip(type(request).__name__, (self.clock.ticks() - sent) / SECOND, outcome))

    async def _deliver(self, request: Any) -> Any:
        if self._at_once is not None:
            answer = self._at_once(request)
            if answer is not NOT_NOW:
                return answer
        return await finish(self._loop.create_task(self._whole(request)))

    async def _whole(self, request: Any) -> Any:
        return await self.transport.send(request)

    # --- waiting ----------------------------------------------------------------------------------------------------

    def listen(self) -> bool:
        """Open the inbox, if there is to be one.  True: only now, so hints sent before may have been missed."""
        if self._heard:
            return False
        self._heard = True
        self._inbox = self.transport.listen(self.bell)
        if self._inbox is not None:
            self._loop.add_reader(self._inbox.fileno(), self._inbox.read)
        return True

    async def pause(self, ear: Any, until: Micros) -> bool:
        """Wait for a ring."""
        if self.listen():
            ear.rung = True
        self._sleepers.add(ear)
        try:
            while not ear.rung:
                left = until - self.clock.ticks()
                if left <= 0:
                    return False
                if self._dismissed:
                    raise StoreError(CLOSED)
                await ear.wait(left / SECOND)
        finally:
            self._sleepers.discard(ear)
        ear.rung = False
        return True

    # --- the keeper's task --------------------------------------------------------------------------------------------

    def _poke(self) -> None:
        if self._task is not None:
            if self._task_ear is not None:
                self._task_ear.ring()
        elif not self._closed:
            self._task = self._loop.create_task(self._keep(), name="holdfast-keeper")

    async def _keep(self) -> None:
        ear = self._task_ear = TaskEar()
        while not self._closed:
            ear.rung = False
            left = self._keeper.plan() - self.clock.ticks()
            if left > 0:
                await ear.wait(left / SECOND)
                continue
            try:
                await self.run(self._keeper.round())
            except Exception:
                import logging

                logging.getLogger("holdfast").exception("the keeper stumbled, and goes on")

    def dismiss(self) -> None:
        """Send away all who wait: the client is being closed."""
        self._dismissed = True
        for ear in self._sleepers:
            ear.nudge()

    async def close(self) -> None:
        """Stop the keeper and close the transport."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))
        if self._inbox is not None:
            self._loop.remove_reader(self._inbox.fileno())
        await self.transport.close()


__all__ = ["FOREVER", "AsyncDriver", "TaskEar", "finish"]
