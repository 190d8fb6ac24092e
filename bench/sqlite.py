"""One free lock in a file: take it and give it back, beside SQLite alone and beside locks on files."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from tempfile import TemporaryDirectory

import holdfast
from bench import contenders
from bench.measure import Figure, Timing, Work, at_most, in_turns
from bench.memory import pairs

RIVAL = "filelock"
SCHEMA = "create table locks (key text primary key, boot integer not null, record blob not null) without rowid"
RECORDS = [
    b"1 179150400000000%d mutex 1 0 -\ng 5f0c5f0c5f0c5f0c5f0c.1 1791504000000000" % n + b"." * 60 for n in (0, 1)
]


def measure(quick: bool) -> Iterator[Figure]:
    repeats = 5 if quick else 20
    with TemporaryDirectory() as folder:
        rivals = {name: _pairs(contenders.ALL[name](folder)) for name in contenders.RIVALS}
        for synchronous in ("normal", "full"):
            yield from _level(folder, synchronous, rivals if synchronous == "normal" else {}, repeats)


def _level(folder: str, synchronous: str, rivals: dict[str, Work], repeats: int) -> Iterator[Figure]:
    """All of them at one level of `synchronous`; the rivals never sync anything, and stand beside `normal`."""
    floor, single, ours = (f"{what}, {synchronous}" for what in ("2 raw transactions", "2 raw statements", "holdfast"))
    url = f"sqlite:///{folder}/ours-{synchronous}.db?synchronous={synchronous}"
    with ExitStack() as stack:
        raw = stack.enter_context(closing(_raw(os.path.join(folder, f"raw-{synchronous}.db"), synchronous)))
        client = stack.enter_context(holdfast.connect(url))
        works = {floor: transactions(raw), single: statements(raw), ours: pairs(client.mutex("k")), **rivals}
        times = in_turns(works, repeats)
    yield _figure(floor, times)
    yield _figure(single, times, floor)
    yield _figure(ours, times, floor, 1.6)
    for name in rivals:
        if name == RIVAL:
            yield _figure(ours, times, name, 1.0)
        yield _figure(name, times, floor)


def _figure(name: str, times: dict[str, Timing], beside: str = "", limit: float | None = None) -> Figure:
    ratio = times[name].best / times[beside].best if beside else None
    target = at_most(ratio, limit, f"x {beside}") if limit is not None and ratio is not None else None
    return Figure(name, times[name].best * 1e6, "µs", times[name].median * 1e6, beside, ratio, target)


def _raw(path: str, synchronous: str) -> sqlite3.Connection:
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("pragma journal_mode = wal")
    raw.execute(f"pragma synchronous = {synchronous}")
    raw.execute(SCHEMA)
    raw.execute("insert into locks values ('kept', 1, ?)", RECORDS[:1])
    return raw


def transactions(raw: sqlite3.Connection) -> Work:
    """Twice: begin immediate, an update that changes the bytes, commit."""
    execute = raw.cursor().execute

    def work(number: int) -> None:
        for _ in range(number):
            for record in RECORDS[::-1]:
                execute("begin immediate")
                execute("update locks set record = ? where key = 'kept'", (record,))
                execute("commit")

    return work


def statements(raw: sqlite3.Connection) -> Work:
    """An insert and a delete, each a transaction of its own."""
    execute = raw.cursor().execute

    def work(number: int) -> None:
        for _ in range(number):
            execute("insert into locks values ('new', 1, ?)", RECORDS[:1])
            execute("delete from locks where key = 'new'")

    return work


def _pairs(contender: contenders.Contender) -> Work:
    def work(number: int) -> None:
        for _ in range(number):
            contender.take()
            contender.give()

    return work
