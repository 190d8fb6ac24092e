"""One process of `holdfast demo`: it does what its arguments say, reads its cues from stdin and answers on stdout.

It needs no click, and ends when its stdin does, so nothing of a demonstration outlives it.
"""

from __future__ import annotations

import os
import queue
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, nullcontext

import holdfast
from holdfast.cli import kernel

KEY = "demo"
PAUSE = 0.0005
"""Between reading the counter and writing it: the time in which any real program does its work."""
WIDTH = 12
NEWS_TAKE = 5.0

_cues: queue.SimpleQueue[str] = queue.SimpleQueue()


def main() -> None:
    """Play the part that the arguments name."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the whole demonstration's; it ends us
    kernel.die_with_parent(int(sys.argv.pop(1)))  # its stdin ends then too, but one that is stopped does not notice
    threading.Thread(target=_hear, daemon=True).start()
    part, url, *arguments = sys.argv[1:]
    parts: dict[str, Callable[..., None]] = {"count": count, "hold": hold, "take": take, "sleep": sleep}
    with holdfast.connect(url) as locks:
        parts[part](locks, *arguments)


def _hear() -> None:
    for line in sys.stdin:
        _cues.put(line.strip())
    os._exit(0)


def _say(*words: object) -> None:
    print(*words, flush=True)


def count(locks: holdfast.Client, path: str, times: str, locked: str) -> None:
    """Add one to the number in a file, many times."""
    lock = locks.mutex(KEY)
    file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    _say("ready")
    _cues.get()
    for _ in range(int(times)):
        with lock if locked == "locked" else nullcontext():
            number = int(os.pread(file, WIDTH, 0))
            time.sleep(PAUSE)
            os.pwrite(file, b"%0*d" % (WIDTH, number + 1), 0)
    os.close(file)


def hold(locks: holdfast.Client, ttl: str) -> None:
    """Hold the lock until killed."""
    lease = locks.mutex(KEY, ttl=float(ttl)).acquire()
    _say("holds", lease.fence)
    _cues.get()


def take(locks: holdfast.Client, register: str) -> None:
    """Wait for the lock, say when it came, and write to the register."""
    lock = locks.mutex(KEY)
    _say("waits")
    with lock as lease:
        _say("holds", lease.fence, time.monotonic())
        _say("wrote" if write(register, lease.fence, "the new holder") else "refused")
        _cues.get()


def sleep(locks: holdfast.Client, ttl: str, register: str) -> None:
    """Hold the lock, be suspended without noticing, and go on with the work as if nothing had been."""
    told = threading.Event()
    lease = locks.mutex(KEY, ttl=float(ttl), on_lost=lambda _lease: told.set()).acquire()
    _say("holds", lease.fence, "wrote" if write(register, lease.fence, "the first holder") else "refused")
    _cues.get()
    told.wait(NEWS_TAKE)
    _say("told" if told.is_set() else "not-told", lease.lost)
    _say("wrote" if write(register, lease.fence, "the sleeper") else "refused")


# --- the register: a row that remembers the highest fence it has seen -------------------------------------------------


def make_register(path: str) -> None:
    """A new register, written by nobody."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("create table register (fence integer, text text)")
        database.execute("insert into register values (0, '')")


def write(path: str, fence: int, text: str) -> bool:
    """Write to the register; False: it has seen a later holder and refuses."""
    with closing(sqlite3.connect(path)) as database, database:
        changed = database.execute("update register set fence = ?, text = ? where fence <= ?", (fence, text, fence))
        return changed.rowcount == 1


def read(path: str) -> tuple[int, str]:
    """The highest fence that the register has seen, and what is written in it."""
    with closing(sqlite3.connect(path)) as database:
        fence, text = database.execute("select fence, text from register").fetchone()
        return int(fence), str(text)


if __name__ == "__main__":
    main()
