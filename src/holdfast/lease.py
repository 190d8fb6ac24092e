"""Proof of holding a lock.  The logic is in `BaseLease`, as programs; its two children only run them."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from holdfast.core.ops import Amend, Granted, NotHeld as NotHeldReply, Op, Renew, Shrink
from holdfast.core.record import Kind
from holdfast.durations import LONGEST_TTL, Seconds, micros
from holdfast.engine import forks
from holdfast.engine.hold import Hold, LossReason
from holdfast.engine.insisting import insist
from holdfast.engine.program import FOREVER, SECOND, TICKS, Program
from holdfast.engine.releasing import relinquish
from holdfast.errors import ConfigError, LeaseLost, NotHeld
from holdfast.keys import check_payload
from holdfast.observe import events

if TYPE_CHECKING:
    from holdfast.drive.tasks import AsyncDriver
    from holdfast.drive.threads import Driver

_WHY: dict[str, str] = {
    "expired": "its time ran out and it was not renewed",
    "stolen": "the store says that it holds it no more",
    "broken": "it was taken away by force",
    "unreachable": "the store could not be reached to renew it",
    "suspended": "this process did not run for longer than the lease lasts",
    "forked": "it belongs to the process that this one was forked from",
}


class BaseLease(Hold):
    """What both colours of a lease have in common."""

    __slots__ = ("_driver", "_kind")

    _driver: Any
    _kind: Kind

    @property
    def remaining(self) -> float:
        """Seconds for which this lease can still be believed in; 0 once it is lost or released."""
        if self.ended or self.loss() is not None:
            return 0.0
        return (self.valid_until - self.site.ticks()) / SECOND

    @property
    def lost(self) -> LossReason | None:
        """Why the lease ended before its holder did; None while it is good, and after its own release.

        It is found out by this process' clock alone and needs no network.
        """
        return self.loss()

    def ensure(self) -> None:
        """Raise `LeaseLost` unless the lease is good at this instant."""
        if self.ended:
            raise NotHeld(f"the lease on {self.key!r} was released: acquire the lock again", key=self.key)
        if self.loss() is not None:
            raise self._error()

    def _error(self) -> LeaseLost:
        reason = self.lost_for or "expired"
        by = f" by {self.broken_by}" if self.broken_by else ""
        error = LeaseLost(
            f"the lease on {self.key!r} (fence {self.fence}) is lost ({reason}): {_WHY[reason]}{by}; "
            "stop what it guarded, and acquire the lock again",
            key=self.key,
            reason=reason,
            fence=self.fence,
        )
        error.__cause__ = self.failure
        return error

    def __repr__(self) -> str:
        state = "released" if self.ended else self.lost_for or f"{self.remaining:.3f} s left"
        return f"<{type(self).__name__} of {self.key!r}, fence {self.fence}, {state}>"

    # --- programs -----------------------------------------------------------------------------------------------------

    def _ask(self, op: Op) -> Program[None]:
        """Something that only the holder may do; it is told if it is the holder no more."""
        self.ensure()
        reply, asked = yield from insist(self.site, self.store_key, op, self.valid_until)
        if type(reply) is Granted:
            self.payload: bytes | None = reply.payload
            if type(op) is Renew:
                self.extend(asked, op.ttl)
                self.site.keeper.add(self)
                self.site.tell(events.Renewed(self.key, self.fence))
        elif type(reply) is NotHeldReply:
            self.site.keeper.learn(self, reply)
            raise self._error()

    def _renew(self, ttl: Seconds | None) -> Program[None]:
        length = self.ttl if ttl is None else micros(ttl, "ttl")
        if length > LONGEST_TTL:
            raise ConfigError(f"a ttl of {length / SECOND} s is too long: renew for {LONGEST_TTL // SECOND} s at most")
        yield from self._ask(Renew(self.owner, length))

    def _amend(self, payload: bytes) -> Program[None]:
        check_payload(payload)
        keep = FOREVER if payload or self.member is not None else 0
        yield from self._ask(Amend(self.owner, payload or None, keep))

    def _downgrade(self) -> Program[None]:
        self.ensure()
        if self._kind != "rwlock":
            raise ConfigError(f"{self.key!r} is a {self._kind}: only the writer of an rwlock can become a reader")
        yield from self._ask(Shrink(self.owner, 1))
        self.site.keeper.leave_line(self)

    def _release(self) -> Program[None]:
        if self.generation != forks.generation:
            return  # it is the parent's, whose keeper may have been at work just when we were forked
        if self.depth > 1:
            self.depth: int = self.depth - 1
            return
        if not self.site.keeper.retire(self):
            return
        yield from relinquish(self.site, self)
        if self.site.hooks and self.lost_for is None:
            held = ((yield TICKS) - self.born) / SECOND
            self.site.tell(events.Released(self.key, self.fence, held))

    def _verdict(self, error: BaseException | None, reason: LossReason | None) -> None:
        """At the end of a `with` block: a lease that was lost is said to be, next to the body's own error if any."""
        if reason is None:
            return
        lost = self._error()
        if error is None:
            raise lost
        last = error
        while last.__context__ is not None and last.__context__ is not lost:
            last = last.__context__
        last.__context__ = lost


class Lease(BaseLease):
    """Proof of holding a lock.  Made by acquiring; ended by `release()` or by the end of its `with` block.

    key: the lock's key.  owner: the nonce of this acquisition.  fence: a number above that of every earlier holder, for
    the guarded resource to compare.  member: which member of a pool it is.  payload: what the lock carries.
    """

    __slots__ = ()

    _driver: Driver

    def renew(self, ttl: Seconds | None = None) -> None:
        """Let the lease last at least another `ttl` from now.  Leases renew themselves unless told not to."""
        self._driver.run(self._renew(ttl))

    def amend(self, payload: bytes) -> None:
        """Replace the payload that the lock carries; empty bytes remove it."""
        self._driver.run(self._amend(payload))

    def downgrade(self) -> None:
        """From the writer of a readers-writer lock to a reader, with no gap for another writer between."""
        self._driver.run(self._downgrade())

    def release(self) -> None:
        """Give the lock back.  Once is enough; again does nothing."""
        self._driver.run(self._release())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        reason = self.loss()
        self.release()
        self._verdict(error, reason)
        return False


class AsyncLease(BaseLease):
    """Proof of holding a lock, in asyncio; see `Lease`."""

    __slots__ = ()

    _driver: AsyncDriver

    async def renew(self, ttl: Seconds | None = None) -> None:
        """Let the lease last at least another `ttl` from now.  Leases renew themselves unless told not to."""
        await self._driver.run(self._renew(ttl))

    async def amend(self, payload: bytes) -> None:
        """Replace the payload that the lock carries; empty bytes remove it."""
        await self._driver.run(self._amend(payload))

    async def downgrade(self) -> None:
        """From the writer of a readers-writer lock to a reader, with no gap for another writer between."""
        await self._driver.run(self._downgrade())

    async def release(self) -> None:
        """Give the lock back.  Once is enough; again does nothing."""
        await self._driver.run(self._release())

    async def __aenter__(self) -> Self:
        if self.on_lost is cancel_body:
            self.on_lost: Callable[[Any], object] | None = Cancel()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        reason = self.loss()
        if isinstance(self.on_lost, Cancel) and self.on_lost.caught(error, last=self.depth == 1):
            error = None
        await self.release()
        self._verdict(error, reason)
        return False


def cancel_body(_lease: object) -> None:
    """What `on_lost="cancel"` means to a lease whose block has not begun: there is nothing to cancel yet."""


class Cancel:
    """Cancels the task that is inside a lease's block when the lease is lost, and knows its own cancellation again.

    The same way as `asyncio.timeout`: a cancellation of ours becomes `LeaseLost` only if nobody else has cancelled the
    task as well.  It is never sent by the task itself (which may be the one to find out, by asking its lease), because
    that would strike at the first await behind the block, nor from another thread.
    """

    def __init__(self) -> None:
        import asyncio

        task = asyncio.current_task()
        assert task is not None, "a block of asyncio runs in a task"
        self._task = task
        self._before = task.cancelling()
        self._inside = True
        self._sent = False

    def __call__(self, _lease: object) -> None:
        self._task.get_loop().call_soon_threadsafe(self._send)

    def _send(self) -> None:
        if self._inside and not self._sent:
            self._sent = True
            self._task.cancel()

    def caught(self, error: BaseException | None, *, last: bool) -> bool:
        """A block has ended (`last`: and with it all of them).  Whether this error is our cancellation arriving, and nobody else's."""
        import asyncio

        self._inside = not last
        if not self._sent:
            return False
        self._sent = False
        return self._task.uncancel() <= self._before and isinstance(error, asyncio.CancelledError)
