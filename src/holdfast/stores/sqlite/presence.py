"""Who lives: each client holds an operating-system lock on a file of its own, beside the database.

The kernel drops that lock when the process ends, however it ends, and never before.  So a lock on that file that can be
had proves the death of its owner; a file that is missing proves nothing.  No process id is looked at.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

from holdfast.errors import StoreUnavailable

STALE = 24 * 3600.0
"""What the dead left behind is swept away when it is this old."""

if sys.platform == "win32":
    import msvcrt

    def _hold(fd: int) -> None:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)

    def _is_free(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
        return True

else:
    import fcntl

    def _hold(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)

    def _is_free(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: those who look do not hinder each other
        except BlockingIOError:
            return False
        return True


class Presence:
    """That this client lives, and whether another one does."""

    def __init__(self, database: str, client: str) -> None:
        self.folder: str = f"{database}-clients"
        self.client = client
        self._file = self._path(client)
        self._fd: int | None = None
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            fd = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise StoreUnavailable(
                f"the folder {self.folder}, where clients show that they live, can't be used ({error.strerror}): "
                "see that this user can make files there"
            ) from error
        try:
            _hold(fd)
            self._fd = fd
        except OSError:
            os.close(fd)  # this file system has no such locks: nobody's death can be proved, leases end by their ttl
            os.unlink(self._file)

    def _path(self, client: str) -> str:
        return os.path.join(self.folder, client + ".live")

    def path(self, client: str) -> str | None:
        """The file that says whether that client lives; None if it has none."""
        path = self._path(client)
        return path if os.path.exists(path) else None

    def is_dead(self, client: str) -> bool:
        """Whether it is proved that this client lives no more."""
        if client == self.client or not client.isalnum():
            return False
        try:
            fd = os.open(self._path(client), os.O_RDONLY)
        except OSError:
            return False
        try:
            return _is_free(fd)
        except OSError:
            return False
        finally:
            os.close(fd)

    def sweep(self) -> None:
        """Remove what clients that died long ago have left behind."""
        with suppress(OSError):
            for name in os.listdir(self.folder):
                client, _, ending = name.partition(".")
                path = os.path.join(self.folder, name)
                if time.time() - os.stat(path).st_mtime < STALE or not self.is_dead(client):
                    continue
                if ending == "live":
                    with suppress(OSError):
                        os.unlink(os.path.join(self.folder, client + ".bell"))
                    os.unlink(path)

    def close(self) -> None:
        """Leave, and leave nothing behind."""
        if self._fd is not None:
            with suppress(OSError):
                os.unlink(self._file)
            os.close(self._fd)
            self._fd = None

    def forget(self) -> None:
        """In a forked child: the lock is the parent's, and must end with the parent alone."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
