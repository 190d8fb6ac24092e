"""The bet: a lock that nobody else wants costs one statement to take, and one to give back.

Most of the time there is no record when a lock is asked for, and only ours when it is released.  So the first try is a
single insert that does nothing if there is a record after all, and a single delete that does nothing if the record is
not, to the byte, the one that was inserted.  A bet that is lost has changed nothing; a transaction then does it.
The rules are not repeated here: SQLite calls `step` from inside the statement, when nobody else can write any more.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from holdfast.core.codec import dump
from holdfast.core.ops import Acquire, Op, Release, Released, Reply
from holdfast.core.record import EMPTY
from holdfast.core.step import step

if TYPE_CHECKING:
    from holdfast.stores.sqlite.connection import Connection

TAKE = "insert into holdfast_locks (key, boot, record) values (?, ?, holdfast_take()) on conflict do nothing"
GIVE_BACK = "delete from holdfast_locks where key = ? and record = ?"

REMEMBERED = 1024
"""So many of our own records are remembered, to bet on finding them unchanged."""


class Bet:
    """The bets of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._mine: dict[str, tuple[int, bytes]] = {}
        self._op: Op
        self._reply: Reply
        self._fence = 0
        self._data = b""
        self._denied = ""
        connection.on_open = self._teach

    def _teach(self, raw: sqlite3.Connection) -> None:
        raw.create_function("holdfast_take", 0, self._take)
        self._mine.clear()

    def place(self, key: str, op: Op) -> Reply | None:
        """The answer; None: the bet was lost, or this is nothing to bet on."""
        if self._connection.is_dusty:
            self.forget(key)
            return None  # only a transaction sweeps
        if type(op) is Release:
            return self._give_back(key)
        mine = self._mine.pop(key, None)
        if type(op) is not Acquire or op.want.payload is not None or mine is not None or op.owner == self._denied:
            return None  # nothing to bet on, or somebody asks again for what others had a moment ago
        self._op = op
        connection = self._connection
        if connection.cursor.execute(TAKE, (key, connection.boot)).rowcount != 1:
            self._denied = op.owner
            return None
        connection.writes += 1
        if len(self._mine) < REMEMBERED:
            self._mine[key] = (self._fence, self._data)
        return self._reply

    def forget(self, key: str) -> None:
        """Whatever we knew of this record, it has changed."""
        self._mine.pop(key, None)

    def _take(self) -> bytes:
        after, self._reply = step(EMPTY, self._op, self._connection.now())
        self._fence = after.fence
        self._data = dump(after)
        return self._data

    def _give_back(self, key: str) -> Reply | None:
        mine = self._mine.pop(key, None)
        if mine is None:
            return None
        fence, data = mine
        connection, now = self._connection, self._connection.now()
        if now <= fence or connection.cursor.execute(GIVE_BACK, (key, data)).rowcount != 1:
            return None  # forgetting a fence that the clock has not passed yet could give it twice
        connection.writes += 1
        return Released(now)
