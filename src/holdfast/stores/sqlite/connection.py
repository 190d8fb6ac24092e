"""One connection to the file: opening it, telling its time, and transactions that are whole or not at all."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from holdfast.core.record import Micros
from holdfast.drive.clock import system_clock
from holdfast.errors import BadRecord, HoldfastError, StoreUnavailable
from holdfast.stores.sqlite import table
from holdfast.stores.sqlite.boot import boot_id
from holdfast.stores.sqlite.choices import Choices
from holdfast.stores.sqlite.failures import is_busy, translate
from holdfast.stores.sqlite.files import prepare
from holdfast.stores.sqlite.presence import Presence

T = TypeVar("T")

SWEEP_EVERY = 256
SWEEP_ROWS = 256
CHECK_EVERY: Micros = 1_000_000

NORMAL_WAIT = 0.01
"""Who has the file for longer than this does more than take a lock."""

SHORT_PAUSE = 0.0003
LONG_PAUSE = 0.005


class Connection:
    """The file, opened when it is first needed and again after whatever broke it.  Not thread-safe.

    checkpoints: whether a statement may copy the log back into the database when that is due, which waits for the disk.
    """

    def __init__(self, chosen: Choices, client: str, *, checkpoints: bool) -> None:
        self.chosen = chosen
        self._client = client
        self._checkpoints = checkpoints
        self.presence: Presence | None = None
        self.writes: int = 0
        self.on_open: Callable[[sqlite3.Connection], None] = _nothing
        self._raw: sqlite3.Connection | None = None

    # --- opening ------------------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether a request would find the file open."""
        return self._raw is not None

    def open(self) -> None:
        """Make sure that the file is open, has our tables, and that we are known to live."""
        if self._raw is not None:
            return
        path = self.chosen.path
        prepare(path, self.chosen.network_fs)
        raw = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            self.cursor: sqlite3.Cursor = raw.cursor()
            cursor = self.cursor
            if cursor.execute("pragma journal_mode = wal").fetchone()[0] != "wal":
                raise StoreUnavailable(f"{path} can't use SQLite's write-ahead log: name a file on a local disk")
            cursor.execute(f"pragma synchronous = {self.chosen.synchronous}")
            if not self._checkpoints:
                cursor.execute("pragma wal_autocheckpoint = 0")
            self._prepare_tables(cursor)
            if self.presence is None:
                self.presence = Presence(path, self._client)
                self.presence.sweep()
            self.on_open(raw)
        except BaseException:
            raw.close()
            raise
        self.rows: table.Rows = table.Rows(cursor, self.presence, self.boot)
        self._inode = os.stat(path).st_ino
        self._checked = system_clock.ticks()
        self._raw = raw

    def _prepare_tables(self, cursor: sqlite3.Cursor) -> None:
        cursor.execute("begin immediate")
        try:
            if cursor.execute("select 1 from sqlite_master where name = 'holdfast_meta'").fetchone() is None:
                for statement in table.SCHEMA.split(";\n"):
                    cursor.execute(statement)
                cursor.execute("insert into holdfast_meta values ('version', ?)", (table.VERSION,))
            version = cursor.execute("select value from holdfast_meta where name = 'version'").fetchone()
            if version is None or version[0] != table.VERSION:
                raise BadRecord(
                    f"{self.chosen.path} was written by another version of holdfast (its tables are of version "
                    f"{version[0] if version else 'unknown'}, ours {table.VERSION}) and was left as it is: "
                    "upgrade holdfast, or name another file"
                )
            self.boot: int
            self._epoch: Micros
            self.boot, self._epoch = table.enter_boot(
                cursor, boot_id(), system_clock.ticks(), system_clock.wall(), slack=CHECK_EVERY
            )
            cursor.execute("commit")
        except BaseException:
            with suppress(sqlite3.Error):
                cursor.execute("rollback")
            raise

    def now(self) -> Micros:
        """The time that leases in this file are counted in: monotonic within a boot, growing from one to the next."""
        return self._epoch + system_clock.ticks()

    def check_file(self) -> None:
        """A file that was removed or replaced under us would let two processes hold the same lock."""
        ticks = system_clock.ticks()
        if ticks - self._checked <= CHECK_EVERY:
            return
        self._checked = ticks
        try:
            same = os.stat(self.chosen.path).st_ino == self._inode
        except OSError:
            same = False
        if not same:
            self.disconnect()
            raise StoreUnavailable(
                f"the lock file {self.chosen.path} was removed or replaced while it was in use: "
                "what was held there is lost; the next call uses the new file"
            )

    # --- transactions -------------------------------------------------------------------------------------------------

    def patiently(self, work: Callable[[], T]) -> T:
        """Do it, again if somebody else has the file; SQLite's own waiting sleeps for whole milliseconds."""
        began, pause = time.monotonic(), 0.00002
        until, soon = began + self.chosen.busy_timeout, began + NORMAL_WAIT
        while True:
            try:
                return work()
            except sqlite3.Error as error:
                if not is_busy(error) or time.monotonic() >= until:
                    raise self.failed(error) from error
                time.sleep(pause * (0.5 + random.random()))
                pause = min(pause * 2, SHORT_PAUSE if time.monotonic() < soon else LONG_PAUSE)

    def transact(self, work: Callable[[Micros], T], *, lasting: bool = False) -> T:
        """Run it inside one transaction that nobody can interleave with.  `lasting`: on the disk before it ends."""
        cursor = self.cursor
        synced = lasting and self.chosen.synchronous != "full"
        if synced:
            cursor.execute("pragma synchronous = full")
        try:
            cursor.execute("begin immediate")
            result = work(self.now())
            self.writes += 1
            if self.is_dusty:
                self._sweep()
            cursor.execute("commit")
        except sqlite3.Error:
            raise
        except BaseException:
            self.roll_back()
            raise
        finally:
            if synced and self._raw is not None and not self._raw.in_transaction:
                cursor.execute(f"pragma synchronous = {self.chosen.synchronous}")
        return result

    @property
    def is_dusty(self) -> bool:
        """Whether the next transaction is to sweep."""
        return self.writes >= SWEEP_EVERY

    def _sweep(self) -> None:
        self.writes = 0
        now = self.now()
        self.rows.sweep(now, SWEEP_ROWS)
        self.cursor.execute(table.SEEN, (now, self.boot, now))

    def failed(self, error: sqlite3.Error) -> HoldfastError:
        """What to raise for this; the connection is in order again, or opened anew next time."""
        committing = self._raw is not None and self._raw.in_transaction
        self.roll_back()
        translated = translate(error, self.chosen.path, committing=committing)
        if not is_busy(error):
            self.disconnect()
        return translated

    def roll_back(self) -> None:
        """Undo what was begun, if anything was."""
        with suppress(sqlite3.Error):
            if self._raw is not None and self._raw.in_transaction:
                self.cursor.execute("rollback")

    # --- leaving ------------------------------------------------------------------------------------------------------

    def disconnect(self) -> None:
        """Close the file for now."""
        if self._raw is not None:
            with suppress(sqlite3.Error):
                self._raw.close()
            self._raw = None

    def close(self) -> None:
        """Close the file, and leave nothing beside it; the last to do so leaves only the database itself."""
        self.disconnect()
        if self.presence is not None:
            self.presence.close()
            self.presence = None

    def forget(self) -> None:
        """In a forked child: let go without touching what the parent uses."""
        _abandoned.append(self._raw)
        self._raw = None
        if self.presence is not None:
            self.presence.forget()


_abandoned: list[object] = []
"""Connections of the parent, in a forked child: closing them there could harm the parent's."""


def _nothing(_raw: sqlite3.Connection) -> None:
    """Nobody asked to be called."""
