"""Locks between processes with one face: holdfast, the floor, and others as they come out of the box."""

from __future__ import annotations

import os
from functools import cache
from typing import Any, Protocol

import fasteners
import filelock
import portalocker

import holdfast

FLOOR = "floor: fcntl.flock, file kept open"
OURS = "holdfast, SQLite"
DAY = 86_400.0


class Contender(Protocol):
    def take(self) -> None:
        """Wait for it for as long as it takes."""
        ...

    def give(self) -> None: ...


class Floor:
    """What the kernel can do, with nothing in between."""

    def __init__(self, folder: str) -> None:
        import fcntl

        self._flock, self._take, self._give = fcntl.flock, fcntl.LOCK_EX, fcntl.LOCK_UN
        self._fd = os.open(os.path.join(folder, "floor.lock"), os.O_RDWR | os.O_CREAT, 0o600)

    def take(self) -> None:
        self._flock(self._fd, self._take)

    def give(self) -> None:
        self._flock(self._fd, self._give)


class Holdfast:
    def __init__(self, folder: str, query: str = "") -> None:
        self.client = holdfast.connect(f"sqlite:///{folder}/holdfast.db{query}", ttl=30)
        self._lock = self.client.mutex("bench")
        self._lease: holdfast.Lease

    def take(self) -> None:
        self._lease = self._lock.acquire()

    def give(self) -> None:
        self._lease.release()


class Rival:
    """Whatever has `acquire` and `release`."""

    def __init__(self, lock: Any) -> None:
        self.take = lock.acquire
        self.give = lock.release


def fasteners_lock(folder: str) -> Rival:
    return Rival(fasteners.InterProcessLock(os.path.join(folder, "fasteners.lock")))


def filelock_lock(folder: str) -> Rival:
    return Rival(filelock.FileLock(os.path.join(folder, "filelock.lock"), thread_local=False))


def portalocker_lock(folder: str) -> Rival:
    return Rival(portalocker.Lock(os.path.join(folder, "portalocker.lock"), timeout=DAY))


ALL = {
    FLOOR: Floor,
    OURS: Holdfast,
    "fasteners": fasteners_lock,
    "filelock": filelock_lock,
    "portalocker": portalocker_lock,
}
RIVALS = ("fasteners", "filelock", "portalocker")


@cache
def contender(name: str, folder: str) -> Contender:
    """This process' own, made when it is first asked for."""
    return ALL[name](folder)


def contender_ready(name: str, folder: str) -> None:
    """Open what is opened at the first use."""
    lock = contender(name, folder)
    lock.take()
    lock.give()


def take(name: str, folder: str) -> None:
    contender(name, folder).take()


def give(name: str, folder: str) -> None:
    contender(name, folder).give()


def forget(folder: str) -> None:
    """Be done with all that this process has in a folder that is going to be removed."""
    ours = contender(OURS, folder)
    assert isinstance(ours, Holdfast)
    ours.client.close()
    contender.cache_clear()
