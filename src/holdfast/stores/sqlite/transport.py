"""Requests to the file: one transaction for each, or one statement where a bet is won, and whom to wake afterwards."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from holdfast.core.ops import Acquire, Amend, Denied, Dismiss, Enrol
from holdfast.engine import forks
from holdfast.engine.bell import Bell
from holdfast.engine.store import Page
from holdfast.errors import StoreError
from holdfast.stores import CLOSED, NOT_NOW, Endpoint, Inbox
from holdfast.stores.here import Apply, ApplyMany, Request, Ring, Scan, evict, execute
from holdfast.stores.sqlite.bet import Bet
from holdfast.stores.sqlite.choices import choices
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.failures import is_busy

if TYPE_CHECKING:
    from holdfast.stores.sqlite.doorbell import Doorbells, Inbox as SqliteInbox
    from holdfast.stores.sqlite.presence import Presence

CHECKPOINT_EVERY = 1000


class _Requests:
    """What both colours have in common; only one thread at a time is inside."""

    _checkpoints = True

    def __init__(self, endpoint: Endpoint) -> None:
        self._client = endpoint.client
        self._mutex = Lock()
        self._closed = False
        self._bell: Bell | None = None
        self._doorbells: Doorbells | None = None
        self._inbox: SqliteInbox | None = None
        self._connection = Connection(choices(endpoint.address), endpoint.client, checkpoints=self._checkpoints)
        self._bet = Bet(self._connection)
        if not forks.in_child:
            self._connection.patiently(self._connection.open)

    def _perform(self, request: Request) -> tuple[Any, list[Ring]]:
        connection = self._connection
        connection.open()
        connection.check_file()
        if isinstance(request, Apply):
            reply = self._bet.place(request.key, request.op)
            if reply is not None:
                return reply, []
        elif isinstance(request, Scan):
            return Page(connection.now(), connection.rows.page(request.prefix, request.after, request.limit)), []
        elif isinstance(request, ApplyMany):
            for key, _ in request.ops:
                self._bet.forget(key)
        return connection.transact(lambda now: execute(connection.rows, request, now), lasting=lasts(request))

    def _send(self, request: Request) -> Any:
        with self._mutex:
            self._check_open()
            answer, rings = self._connection.patiently(lambda: self._perform(request))
        self._tell(answer, rings)
        return answer

    def _check_open(self) -> None:
        """A thread that asks while another closes the client must not open the file anew."""
        if self._closed:
            raise StoreError(CLOSED)

    # --- others -------------------------------------------------------------------------------------------------------

    def _tell(self, answer: Any, rings: list[Ring]) -> None:
        """Wake whom this concerns, and watch over those whom we wait for."""
        for ring in rings:
            self._wake(ring)
        if self._inbox is not None and isinstance(answer, Denied):
            self._inbox.watch((*(grant.owner for grant in answer.grants), *answer.ahead[-1:]))

    def _wake(self, ring: Ring) -> None:
        """Tell another client; one that is dead is evicted, and the next is told."""
        client = ring.owner.partition(".")[0]
        if client == self._client:
            if self._bell is not None:
                self._bell.ring(ring.owner)
            return
        connection = self._connection
        with self._mutex:
            if self._closed:
                return  # we have given it back, and are leaving: they will ask
            doorbells, presence = self._neighbours()
        if doorbells.ring(client, ring.owner) or not presence.is_dead(client):
            return
        with self._mutex:
            if self._closed:
                return
            more = connection.patiently(
                lambda: connection.transact(lambda now: evict(connection.rows, ring.key, ring.owner, now))
            )
        for another in more:
            self._wake(another)

    def _neighbours(self) -> tuple[Doorbells, Presence]:
        presence = self._connection.presence
        assert presence is not None, "a request was made before"
        if self._doorbells is None:
            from holdfast.stores.sqlite.doorbell import Doorbells

            self._doorbells = Doorbells(presence.folder)
        return self._doorbells, presence

    def listen(self, bell: Bell) -> Inbox | None:
        """Open our own doorbell."""
        from holdfast.stores.sqlite.doorbell import open_inbox

        with self._mutex:
            self._check_open()
            self._bell = bell
            doorbells, presence = self._neighbours()
            self._inbox = open_inbox(bell, presence, doorbells)
            bell.deaf = self._inbox is None
            return self._inbox

    # --- leaving ------------------------------------------------------------------------------------------------------

    def _close(self) -> None:
        with self._mutex:
            self._closed = True
            if self._inbox is not None:
                self._inbox.close()
                self._inbox = None
            if self._doorbells is not None:
                self._doorbells.close()
                self._doorbells = None
            self._connection.close()

    def forget(self) -> None:
        """In a forked child: let go without touching what the parent uses."""
        self._connection.forget()
        if self._inbox is not None:
            self._inbox.close(unlink=False)
        if self._doorbells is not None:
            self._doorbells.close()


class SqliteTransport(_Requests):
    """Requests to the file, from any thread."""

    def send(self, request: Request) -> Any:
        return self._send(request)

    def close(self) -> None:
        self._close()


class AsyncSqliteTransport(_Requests):
    """The same for asyncio: what takes microseconds is done at once, what may wait for the disk goes to a thread.

    Copying the log back into the database is such a thing, so it is taken out of the statements that would do it.
    """

    _checkpoints = False
    _until_checkpoint = CHECKPOINT_EVERY

    def at_once(self, request: Request) -> Any:
        """The answer, unless somebody else has the file, or the disk must be waited for."""
        connection = self._connection
        if not connection.is_open or connection.chosen.synchronous == "full" or lasts(request):
            return NOT_NOW
        self._until_checkpoint -= 1
        if self._until_checkpoint < 0 or self._closed or not self._mutex.acquire(blocking=False):
            return NOT_NOW
        try:
            answer, rings = self._perform(request)
        except sqlite3.Error as error:
            if is_busy(error):
                connection.roll_back()
                return NOT_NOW
            raise connection.failed(error) from error
        finally:
            self._mutex.release()
        self._tell(answer, rings)
        return answer

    async def send(self, request: Request) -> Any:
        import asyncio

        return await asyncio.to_thread(self._send_and_tidy, request)

    def _send_and_tidy(self, request: Request) -> Any:
        answer = self._send(request)
        if self._until_checkpoint < 0:
            self._until_checkpoint = CHECKPOINT_EVERY
            with self._mutex, suppress(sqlite3.Error):
                self._connection.cursor.execute("pragma wal_checkpoint(passive)")
        return answer

    async def close(self) -> None:
        self._close()


def lasts(request: Request) -> bool:
    """Whether it promises something beyond a power cut: marks, members, payloads."""
    if not isinstance(request, Apply):
        return False
    op = request.op
    return isinstance(op, (Amend, Enrol, Dismiss)) or (isinstance(op, Acquire) and op.want.payload is not None)
