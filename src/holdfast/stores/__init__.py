"""Where locks live: one store for each technology, and what a store is made of.

To add one, see CONTRIBUTING.md: a program (a `Store`, or a `SwapStore` given to `BySwap`), a transport for threads and
one for asyncio, and a `Backend` that names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from holdfast.engine.bell import Bell
from holdfast.engine.store import Store

if TYPE_CHECKING:
    from holdfast.url import Address


class Endpoint(NamedTuple):
    """Where to connect: a parsed URL, or an object that the user has already; and as whom."""

    address: Address
    client: str
    """A name that no other client ever has; the first part of all its owners."""
    driver: Any = None
    """The user's own client, connection or pool.  What they made, they close."""


class Inbox(Protocol):
    """Where hints arrive from outside of this process."""

    def fileno(self) -> int:
        """Readable when there is something to read."""
        ...

    def read(self) -> None:
        """Ring the bell for whatever has arrived, without blocking."""
        ...


class Transport(Protocol):
    """A connection for threads: `send` blocks, from any thread."""

    def send(self, request: Any) -> Any:
        """One round trip.  Raises `StoreUnavailable` if nothing was sent, `OutcomeUnknown` if no answer came."""
        ...

    def listen(self, bell: Bell) -> Inbox | None:
        """Called once, before the first wait.  None: hints come in other ways, or never: then say so, `bell.deaf`."""
        ...

    def close(self) -> None: ...

    def forget(self) -> None:
        """After a fork, in the child: let go of everything without touching what the parent still uses."""
        ...


class AsyncTransport(Protocol):
    """A connection for asyncio, used from one event loop."""

    async def send(self, request: Any) -> Any: ...

    def listen(self, bell: Bell) -> Inbox | None: ...

    async def close(self) -> None: ...


@runtime_checkable
class Immediate(Protocol):
    """An asyncio transport that can often answer without waiting for anything."""

    def at_once(self, request: Any) -> Any:
        """The answer, or `NOT_NOW`."""
        ...


class _NotNow:
    __slots__ = ()

    def __repr__(self) -> str:
        return "NOT_NOW"


NOT_NOW = _NotNow()


CLOSED = "this client was closed meanwhile: connect again"
"""What a driver answers whoever still asks after `close()`."""


class Backend(NamedTuple):
    """What an entry point in `holdfast.backends` names."""

    store: Callable[[Address], Store]
    transport: Callable[[Endpoint], Transport] | None
    async_transport: Callable[[Endpoint], AsyncTransport] | None
    options: Iterable[str] = ()
    """The options its URLs may carry."""


__all__ = [
    "CLOSED",
    "NOT_NOW",
    "AsyncTransport",
    "Backend",
    "Endpoint",
    "Immediate",
    "Inbox",
    "Transport",
]
