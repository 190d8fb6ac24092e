"""Runs programs in threads: `send` blocks, a pause is a wait on a lock, the keeper is one daemon thread."""

from __future__ import annotations

import select
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, TypeVar

from holdfast.drive.clock import SystemClock, system_clock
from holdfast.engine.bell import Bell
from holdfast.engine.keeper import Keeper
from holdfast.engine.program import FOREVER, SECOND, Ear, Micros, Pause, Program, Send, Ticks
from holdfast.errors import StoreError
from holdfast.observe.events import RoundTrip
from holdfast.stores import CLOSED, Inbox, Transport

T = TypeVar("T")

LONGEST_WAIT = 3600.0
IDLE: Micros = 5 * SECOND
"""A keeper thread with nothing to keep goes after this long."""


class ThreadEar:
    """An ear to block on."""

    __slots__ = ("_gate", "rung")

    def __init__(self) -> None:
        self.rung: bool = False
        self._gate = Lock()
        self._gate.acquire()

    def ring(self) -> None:
        self.rung = True
        self.nudge()

    def nudge(self) -> None:
        """Make the waiter look around; not a ring."""
        with suppress(RuntimeError):  # it was nudged already and has not looked yet
            self._gate.release()

    def wait(self, seconds: float) -> None:
        self._gate.acquire(timeout=min(seconds, LONGEST_WAIT))


class Driver:
    """Runs the programs of one client, from any thread."""

    new_ear: Callable[[], Ear] = ThreadEar

    def __init__(self, transport: Transport, keeper: Keeper, clock: SystemClock = system_clock) -> None:
        self.transport = transport
        self.clock = clock
        self.bell: Bell = Bell(self.new_ear)
        self.tell: Callable[[RoundTrip], None] | None = None
        self._keeper = keeper
        keeper.poke = self._poke
        self._keeping = Lock()
        self._thread: Thread | None = None
        self._thread_ear = ThreadEar()
        self._closed = False
        self._dismissed = False
        self._inbox: Inbox | None = None
        self._listening = Lock()
        self._heard = False
        self._sleepers: dict[ThreadEar, None] = {}

    def run(self, program: Program[T]) -> T:
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
                    result = self._send(command.request)  # type: ignore[union-attr]
                elif kind is Ticks:
                    result = self.clock.ticks()
                elif kind is Pause:
                    result = self.pause(command.ear or self.new_ear(), command.until)  # type: ignore[union-attr]
                else:
                    result = self.clock.wall()
            except BaseException as raised:
                error = raised

    def _send(self, request: Any) -> Any:
        if self._closed:
            raise StoreError(CLOSED)
        if self.tell is None:
            return self.transport.send(request)
        sent = self.clock.ticks()
        outcome = "ok"
        try:
            return self.transport.send(request)
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            self.tell(RoundTrip(type(request).__name__, (self.clock.ticks() - sent) / SECOND, outcome))

    # --- waiting ----------------------------------------------------------------------------------------------------

    def listen(self) -> bool:
        """Open the inbox, if there is to be one.  True: only now, so hints sent before may have been missed."""
        if self._heard:
            return False
        with self._listening:
            if not self._heard:
                self._inbox = self.transport.listen(self.bell)
                self._heard = True
        return True

    def pause(self, ear: Any, until: Micros) -> bool:
        """Wait for a ring.  The first who waits also reads the inbox, for everybody."""
        if self.listen():
            ear.rung = True
        self._sleepers[ear] = None
        try:
            while not ear.rung:
                left = until - self.clock.ticks()
                if left <= 0:
                    return False
                if self._dismissed:
                    raise StoreError(CLOSED)
                if self._inbox is not None and self._listening.acquire(blocking=False):
                    try:
                        if not ear.rung:
                            read_soon(self._inbox, left)
                    finally:
                        self._listening.release()
                else:
                    ear.wait(left / SECOND)
            ear.rung = False
            return True
        finally:
            del self._sleepers[ear]
            if self._inbox is not None:
                self._nudge_one()

    def _nudge_one(self) -> None:
        """We read the inbox no more: somebody else who waits must."""
        with suppress(StopIteration, RuntimeError):  # nobody waits, or whoever is just coming looks for itself
            next(iter(self._sleepers)).nudge()

    # --- the keeper's thread ------------------------------------------------------------------------------------------

    def _poke(self) -> None:
        with self._keeping:
            if self._thread is not None:
                self._thread_ear.ring()
            elif not self._closed:
                self._thread = Thread(target=self._keep, name="holdfast-keeper", daemon=True)
                self._thread.start()

    def _keep(self) -> None:
        ear = self._thread_ear
        while True:
            ear.rung = False
            at = self._keeper.plan()
            if at == FOREVER:
                ear.wait(IDLE / SECOND)
                with self._keeping:
                    if self._closed or (not ear.rung and self._keeper.plan() == FOREVER):
                        self._thread = None
                        return
                continue
            left = at - self.clock.ticks()
            if left > 0:
                ear.wait(left / SECOND)
                if self._closed:
                    return
                continue
            try:
                self.run(self._keeper.round())
            except Exception:
                import logging

                logging.getLogger("holdfast").exception("the keeper stumbled, and goes on")

    def dismiss(self) -> None:
        """Send away all who wait: the client is being closed."""
        self._dismissed = True
        for ear in list(self._sleepers):
            ear.nudge()

    def close(self) -> None:
        """Stop the keeper and close the transport."""
        with self._keeping:
            self._closed = True
            thread = self._thread
            self._thread_ear.ring()
        if thread is not None and thread.is_alive():
            thread.join(1.0)
        self.transport.close()


def read_soon(inbox: Inbox, left: Micros) -> None:
    """Block until something arrives, at most that long, and let it ring."""
    milliseconds = min(-(-left // 1000), 3_600_000)
    if hasattr(select, "poll"):
        poller = select.poll()
        poller.register(inbox.fileno(), select.POLLIN)
        poller.poll(milliseconds)
    else:
        select.select([inbox.fileno()], [], [], milliseconds / 1000)
    inbox.read()
