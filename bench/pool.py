"""Any free one of a thousand, and of a million: acquire and release in a pool on SQLite.

A thousand members are added through the API, each on the disk before the next.  The million would take that long a
thousand times over, so the rest are copies of one of those rows, made in the file itself.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from tempfile import TemporaryDirectory
from time import perf_counter
from zlib import crc32

import holdfast
from bench.measure import Figure, Timing, Work, at_most, in_turns

FEW = 1000


def measure(quick: bool) -> Iterator[Figure]:
    many = 50_000 if quick else 1_000_000
    with TemporaryDirectory() as folder, ExitStack() as stack:
        pools, adding = {}, 0.0
        for size in (FEW, many):
            client = stack.enter_context(holdfast.connect(f"sqlite:///{folder}/{size}.db"))
            pools[size] = client.pool("runners")
            adding = enrol(pools[size])
            multiply(os.path.join(folder, f"{size}.db"), size)
        times = in_turns({f"{size:,} members": pairs(pool) for size, pool in pools.items()}, 5 if quick else 20)
    yield Figure("pool.add, each on the disk", adding * 1e6, "µs")
    yield from figures(times)


def figures(times: dict[str, Timing]) -> Iterator[Figure]:
    (few, base), (many, grown) = times.items()
    yield Figure(f"{few}: acquire any + release", base.best * 1e6, "µs", base.median * 1e6)
    ratio = grown.best / base.best
    target = at_most(ratio, 3, f"x {few}")
    yield Figure(f"{many}: acquire any + release", grown.best * 1e6, "µs", grown.median * 1e6, few, ratio, target)


def enrol(pool: holdfast.Pool) -> float:
    """Add a thousand members; seconds for each."""
    start = perf_counter()
    for number in range(FEW):
        pool.add(f"{number:07}")
    return (perf_counter() - start) / FEW


def multiply(path: str, size: int) -> None:
    """Copy one member's row until there are so many."""
    with closing(sqlite3.connect(path)) as file:
        file.row_factory = sqlite3.Row
        row = dict(file.execute("select * from holdfast_locks where key like '%/0000000'").fetchone())
        head, marks = row["key"][:-7], ", ".join(f":{column}" for column in row)
        keys = (f"{head}{number:07}" for number in range(FEW, size))
        copies = ({**row, "key": key, "lot": crc32(key.encode())} for key in keys)
        with file:
            file.executemany(f"insert into holdfast_locks ({', '.join(row)}) values ({marks})", copies)


def pairs(pool: holdfast.Pool) -> Work:
    def work(number: int) -> None:
        for _ in range(number):
            pool.acquire().release()

    return work
