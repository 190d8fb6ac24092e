"""What can go wrong between a client and its store, on demand.

faults.lose_request()      # the next request never arrives
faults.lose_reply()        # the next one arrives, and its answer does not
faults.repeat()            # the next one arrives twice
faults.down = True         # nothing arrives until it is False again
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from holdfast.engine.bell import Bell
from holdfast.errors import OutcomeUnknown, StoreUnavailable
from holdfast.stores import NOT_NOW, AsyncTransport, Immediate, Inbox, Transport

Fault: TypeAlias = Literal["lost request", "lost reply", "repeated"] | BaseException
"""An exception is raised once the request has taken effect, as a Ctrl-C or a cancellation would be."""


class Faults:
    """What is to go wrong with the next requests, and what was asked so far."""

    def __init__(self) -> None:
        self.down = False
        self.requests: list[Any] = []
        self._planned: deque[Fault | None] = deque()

    def plan(self, *faults: Fault | None) -> None:
        """What is to happen to the next requests, in their order; None: nothing."""
        self._planned.extend(faults)

    def lose_request(self) -> None:
        """The next request never arrives."""
        self.plan("lost request")

    def lose_reply(self) -> None:
        """The next request takes effect, but its answer is lost."""
        self.plan("lost reply")

    def repeat(self) -> None:
        """The next request arrives twice, as a retry of a driver would."""
        self.plan("repeated")

    def before(self, request: Any) -> Fault | None:
        """Called for each request before it is made."""
        self.requests.append(request)
        fault = self._planned.popleft() if self._planned else None
        if self.down or fault == "lost request":
            raise StoreUnavailable("the store can't be reached (a fault that was asked for): try again")
        return fault

    def after(self, fault: Fault | None) -> None:
        """Called when its answer has come."""
        if fault == "lost reply":
            raise OutcomeUnknown("no answer came (a fault that was asked for): try again")
        if isinstance(fault, BaseException):
            raise fault


class FaultyTransport:
    """A transport for threads with faults."""

    def __init__(self, inner: Transport, faults: Faults) -> None:
        self._inner = inner
        self._faults = faults

    def send(self, request: Any) -> Any:
        fault = self._faults.before(request)
        if fault == "repeated":
            self._inner.send(request)
        answer = self._inner.send(request)
        self._faults.after(fault)
        return answer

    def listen(self, bell: Bell) -> Inbox | None:
        return self._inner.listen(bell)

    def close(self) -> None:
        self._inner.close()

    def forget(self) -> None:
        self._inner.forget()


class AsyncFaultyTransport:
    """A transport for asyncio with faults."""

    def __init__(self, inner: AsyncTransport, faults: Faults) -> None:
        self._inner = inner
        self._faults = faults
        self._at_once: Callable[[Any], Any] = inner.at_once if isinstance(inner, Immediate) else _never

    async def send(self, request: Any) -> Any:
        fault = self._faults.before(request)
        if fault == "repeated":
            await self._answer(request)
        answer = await self._answer(request)
        self._faults.after(fault)
        return answer

    async def _answer(self, request: Any) -> Any:
        answer = self._at_once(request)
        return await self._inner.send(request) if answer is NOT_NOW else answer

    def listen(self, bell: Bell) -> Inbox | None:
        return self._inner.listen(bell)

    async def close(self) -> None:
        await self._inner.close()


def _never(_request: Any) -> Any:
    return NOT_NOW
