"""What SQLite says when something is wrong with the file, as our errors: one sentence that ends with what to do."""

from __future__ import annotations

import sqlite3

from holdfast.errors import BadRecord, HoldfastError, OutcomeUnknown, StoreError, StoreUnavailable

_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY: "another process has kept it locked for too long: find the one that reads or copies it",
    sqlite3.SQLITE_LOCKED: "another connection of this process has kept it locked for too long: close that",
    sqlite3.SQLITE_FULL: "the disk is full: make room, and it works again",
    sqlite3.SQLITE_READONLY: "it can't be written: give this user write access to the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "it can't be opened: check that its folder exists and that this user may write there",
    sqlite3.SQLITE_PERM: "it can't be opened: give this user access to the file and its folder",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write it: look at the system's log",
    sqlite3.SQLITE_NOMEM: "there was not enough memory for it: free some",
}
_BAD = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def is_busy(error: sqlite3.Error) -> bool:
    """Whether somebody else has the file for a moment."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def translate(error: sqlite3.Error, path: str, *, committing: bool) -> HoldfastError:
    """Our error for one of SQLite's."""
    code = _code(error)
    if code in _BAD:
        return BadRecord(
            f"{path} is not a (sound) SQLite database and was left as it is: restore it, or name another file"
        )
    if code in _UNAVAILABLE:
        kind = OutcomeUnknown if committing and code == sqlite3.SQLITE_IOERR else StoreUnavailable
        return kind(f"the lock file {path} is of no use right now: {_UNAVAILABLE[code]}")
    return StoreError(f"SQLite refused to work with {path} ({error}): check that nobody else changes its tables")


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
