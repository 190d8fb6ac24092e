"""The rows of the file: what is stored, and every statement that touches it."""

from __future__ import annotations

import random
import sqlite3
import zlib
from typing import TYPE_CHECKING

from holdfast.core.record import EMPTY, FOREVER, Micros, Record
from holdfast.core.step import settle, vacate
from holdfast.engine.records import dump, record_of
from holdfast.errors import BadRecord
from holdfast.stores.here import pool_of

if TYPE_CHECKING:
    from holdfast.stores.sqlite.presence import Presence

VERSION = 1

SCHEMA = """
create table if not exists holdfast_meta (name text primary key, value not null) without rowid;
create table if not exists holdfast_boots (
  number integer primary key,
  id text not null,
  epoch integer not null,    -- microseconds since 1970 when this boot's monotonic clock was 0, as we count time
  high integer not null      -- a time that this boot has surely seen
);
create table if not exists holdfast_locks (
  key text primary key,
  boot integer not null,     -- in which its leases were granted; those of an earlier boot are over
  record blob not null,      -- see holdfast.core.codec
  pool text,                 -- of a member: its pool; else null, and so not in the index
  busy integer,              -- of a member: until when it is held at the latest; 0: free
  lot integer                -- of a member: where the search for a free one may begin
) without rowid;
create index if not exists holdfast_members on holdfast_locks (pool, busy, lot) where pool is not null;
"""

GET = "select boot, record from holdfast_locks where key = ?"
PUT = "insert or replace into holdfast_locks (key, boot, record) values (?, ?, ?)"
PUT_MEMBER = "insert or replace into holdfast_locks (key, boot, record, pool, busy, lot) values (?, ?, ?, ?, ?, ?)"
DELETE = "delete from holdfast_locks where key = ?"
PAGE = "select key, boot, record from holdfast_locks where key > ? and key >= ? and key < ? order by key limit ?"
DRAW_ABOVE = "select key from holdfast_locks where pool = ? and busy = 0 and lot >= ? order by lot limit 1"
DRAW_BELOW = "select key from holdfast_locks where pool = ? and busy = 0 order by lot limit 1"
DRAW_EXPIRED = "select key from holdfast_locks where pool = ? and busy > 0 and busy <= ? limit 1"
FREE_AT = "select min(busy) from holdfast_locks where pool = ? and busy > 0"
FIND = "select key from holdfast_locks where pool = ? and busy > 0 and instr(record, cast(? as blob)) limit 1"
SWEEP = "select key, boot, record from holdfast_locks where key > ? order by key limit ?"

LAST = "\U0010ffff" * 130
"""Behind all that a key may have after a prefix: the last character there is, more often than a key has room for it."""


LAST_BOOT = "select number, id, epoch, high from holdfast_boots order by number desc"
NEW_BOOT = "insert into holdfast_boots values (?, ?, ?, ?)"
SEEN = "update holdfast_boots set high = ? where number = ? and high < ?"
VOID_MEMBERS = "update holdfast_locks set busy = 0 where pool is not null and busy > 0"


def enter_boot(cursor: sqlite3.Cursor, boot: str, ticks: Micros, wall: Micros, *, slack: Micros) -> tuple[int, Micros]:
    """The number of this boot, and what to add to its monotonic clock to get the file's time.

    A boot that the file has not seen begins where the last one's time ended (and a little later, because its very end
    was not written down), so no fence is given twice; every lease of an earlier boot is void.
    """
    last = cursor.execute(LAST_BOOT).fetchone()
    if last is not None:
        number, name, epoch, high = last
        if name == boot and epoch + ticks >= high:
            cursor.execute(SEEN, (epoch + ticks, number, epoch + ticks))
            return number, epoch
    number = last[0] + 1 if last else 1
    epoch = max(wall, last[3] + slack if last else 0) - ticks
    cursor.execute(NEW_BOOT, (number, boot, epoch, epoch + ticks))
    cursor.execute(VOID_MEMBERS)
    return number, epoch


class Rows:
    """The table of one connection, inside the transaction that its transport has begun."""

    def __init__(self, cursor: sqlite3.Cursor, presence: Presence, boot: int) -> None:
        self._cursor = cursor
        self._presence = presence
        self._boot = boot
        self._hand = ""

    def get(self, key: str) -> Record:
        row = self._cursor.execute(GET, (key,)).fetchone()
        return EMPTY if row is None else self._read(key, row[0], row[1])

    def _read(self, key: str, boot: int, data: bytes) -> Record:
        record = record_of(key, data)
        return record if boot == self._boot else record._replace(grants=(), queue=(), broken=())

    def put(self, key: str, record: Record) -> None:
        if record is EMPTY:
            self._cursor.execute(DELETE, (key,))
        elif record.kept and (pool := pool_of(key)):
            busy = max((grant.expires for grant in record.grants), default=0)
            lot = zlib.crc32(key.encode())
            self._cursor.execute(PUT_MEMBER, (key, self._boot, dump(record), pool, busy, lot))
        else:
            self._cursor.execute(PUT, (key, self._boot, dump(record)))

    def page(self, prefix: str, after: str, limit: int) -> list[tuple[str, Record]]:
        rows = self._cursor.execute(PAGE, (after, prefix, prefix + LAST, limit)).fetchall()
        return [(key, self._read(key, boot, data)) for key, boot, data in rows if key.startswith(prefix)]

    def draw(self, prefix: str, now: Micros) -> str | None:
        ask = self._cursor.execute
        row = (
            ask(DRAW_ABOVE, (prefix, random.getrandbits(32))).fetchone()
            or ask(DRAW_BELOW, (prefix,)).fetchone()
            or ask(DRAW_EXPIRED, (prefix, now)).fetchone()
        )
        return row[0] if row else None

    def free_at(self, prefix: str) -> Micros:
        row = self._cursor.execute(FREE_AT, (prefix,)).fetchone()
        return FOREVER if row[0] is None else row[0]

    def find(self, prefix: str, owner: str) -> str | None:
        row = self._cursor.execute(FIND, (prefix, f"g {owner} ")).fetchone()
        return row[0] if row else None

    def dead(self, owner: str) -> bool:
        return self._presence.is_dead(owner.partition(".")[0])

    def sweep(self, now: Micros, count: int) -> None:
        """Forget the next few records that have expired and were never asked for again; every row gets its turn."""
        rows = self._cursor.execute(SWEEP, (self._hand, count)).fetchall()
        self._hand = rows[-1][0] if len(rows) == count else ""
        for key, boot, data in rows:
            try:
                record = self._read(key, boot, data)
            except BadRecord:
                continue
            if vacate(settle(record, now), now) is EMPTY:
                self._cursor.execute(DELETE, (key,))
