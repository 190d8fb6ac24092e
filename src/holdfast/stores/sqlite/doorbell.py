"""Hints between processes: a datagram that names who is to wake up, and the news of a client's death.

Each client that waits has a socket beside the database; whoever grants it something sends it the owner's name.  Where
no socket can be made, waiters ask now and then, which is only slower.  On Linux a waiter also watches the presence
files of those before it: the kernel closes them when their processes die, which it reports by inotify.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import time
from contextlib import suppress

from holdfast.engine.bell import Bell
from holdfast.stores.sqlite.presence import Presence

LONGEST_PATH = 100
"""A little less than what the address of a local socket can hold."""

LONGEST_NAME = 200
IN_CLOSE_WRITE = 0x8
DEATHBED = 0.02
"""The kernel reports the closing of a dead process' file a moment before it drops the lock on it."""


class Doorbells:
    """The others' sockets, to ring at."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._socket: socket.socket | None = None
        if hasattr(socket, "AF_UNIX"):
            with suppress(OSError):
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                self._socket.setblocking(False)
        self._directory = -1

    def address(self, client: str) -> str:
        """Where that client's socket is, in so few characters as a socket's address may have."""
        path = os.path.join(self._folder, client + ".bell")
        if len(os.fsencode(path)) <= LONGEST_PATH:
            return path
        if sys.platform == "linux":
            if self._directory < 0:
                self._directory = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
            return f"/proc/self/fd/{self._directory}/{client}.bell"
        raise OSError("the path is too long for a socket")

    def ring(self, client: str, owner: str) -> bool:
        """Wake that owner.  False: nobody is there to be woken."""
        if self._socket is None:
            return True
        try:
            self._socket.sendto(owner.encode(), self.address(client))
        except BlockingIOError:
            return True  # its box is full of hints it has not read yet
        except OSError:
            return False
        return True

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._directory >= 0:
            os.close(self._directory)
            self._directory = -1


class Inbox:
    """Our own socket, and the watch over those we wait for."""

    def __init__(self, bell: Bell, presence: Presence, doorbells: Doorbells) -> None:
        self._bell = bell
        self._presence = presence
        self._path = os.path.join(presence.folder, presence.client + ".bell")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            self._socket.bind(doorbells.address(presence.client))
            os.chmod(self._path, 0o600)
        except OSError:
            self._socket.close()
            raise
        self._watch = DeathWatch(presence)
        self._poll: select.epoll | None = None
        if self._watch.fd >= 0:
            self._poll = select.epoll()
            self._poll.register(self._socket.fileno(), select.EPOLLIN)
            self._poll.register(self._watch.fd, select.EPOLLIN)

    def fileno(self) -> int:
        return self._socket.fileno() if self._poll is None else self._poll.fileno()

    def read(self) -> None:
        while True:
            try:
                owner = self._socket.recv(LONGEST_NAME)
            except OSError:  # nothing more to read
                break
            self._bell.ring(owner.decode("ascii", "replace"))
        if self._watch.has_news():
            self._bell.ring_all()

    def watch(self, owners: tuple[str, ...]) -> None:
        """Ring when the client of one of these dies."""
        for client in {owner.partition(".")[0] for owner in owners}:
            self._watch.add(client)

    def close(self, *, unlink: bool = True) -> None:
        if self._poll is not None:
            self._poll.close()
        self._watch.close()
        self._socket.close()
        if unlink:
            with suppress(OSError):
                os.unlink(self._path)


if sys.platform == "linux":
    import ctypes

    class DeathWatch:
        """Hears when a presence file is closed by its owner."""

        def __init__(self, presence: Presence) -> None:
            self._presence = presence
            self._clients: dict[int, str] = {}
            self._numbers: dict[str, int] = {}
            self._libc = ctypes.CDLL(None, use_errno=True)
            self.fd: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)

        def add(self, client: str) -> None:
            if client in self._numbers or self.fd < 0 or client == self._presence.client:
                return
            path = self._presence.path(client)
            if path is None:
                return
            number = self._libc.inotify_add_watch(self.fd, os.fsencode(path), IN_CLOSE_WRITE)
            if number >= 0:
                self._numbers[client] = number
                self._clients[number] = client

        def has_news(self) -> bool:
            """Whether somebody we watch has died; they are not watched any more."""
            try:
                events = os.read(self.fd, 4096)
            except OSError:  # nothing to read
                return False
            at = 0
            while at < len(events):
                number = int.from_bytes(events[at : at + 4], sys.byteorder, signed=True)
                at += 16 + int.from_bytes(events[at + 12 : at + 16], sys.byteorder)
                client = self._clients.pop(number, None)
                if client is not None:
                    del self._numbers[client]
                    self._libc.inotify_rm_watch(self.fd, number)
                    self._await_death(client)
            return True

        def _await_death(self, client: str) -> None:
            until = time.monotonic() + DEATHBED
            while not self._presence.is_dead(client) and time.monotonic() < until:
                if self._presence.path(client) is None:
                    return  # it has left in good order
                time.sleep(0.0005)

        def close(self) -> None:
            if self.fd >= 0:
                os.close(self.fd)
                self.fd = -1

else:

    class DeathWatch:  # pragma: no cover (needs inotify: elsewhere waiters find the dead by asking now and then)
        fd = -1

        def __init__(self, presence: Presence) -> None: ...

        def add(self, client: str) -> None: ...

        def has_news(self) -> bool:
            return False

        def close(self) -> None: ...


def open_inbox(bell: Bell, presence: Presence, doorbells: Doorbells) -> Inbox | None:
    """None where no socket can be made."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    try:
        return Inbox(bell, presence, doorbells)
    except OSError:
        return None
