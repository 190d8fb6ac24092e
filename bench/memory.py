"""One free lock in this process: take it and give it back, through the public API."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import holdfast
from bench.measure import Figure, Target, Timing, Work, in_turns

FLOOR = "threading.Lock"
SCALE = 0.1
"""On a machine where the floor takes so many µs, ours may take 12 (in asyncio 20)."""


def measure(quick: bool) -> Iterator[Figure]:
    with holdfast.connect("memory:") as client, asyncio.Runner() as runner:
        tasks = runner.run(_connected())
        mutex = tasks.mutex("k")
        works = {
            FLOOR: lock_pairs,
            "asyncio.Lock": lambda number: runner.run(asyncio_pairs(number)),
            "threads: acquire, release": pairs(client.mutex("k")),
            "threads: mutex made, entered, left": entries(client),
            "asyncio: acquire, release": lambda number: runner.run(async_pairs(mutex, number)),
            "asyncio: mutex made, entered, left": lambda number: runner.run(async_entries(tasks, number)),
        }
        times = in_turns(works, 5 if quick else 25)
        runner.run(tasks.close())
    for name, timing in times.items():
        yield _figure(name, timing, times[FLOOR])


def _figure(name: str, timing: Timing, floor: Timing) -> Figure:
    micros, typical, ratio = timing.best * 1e6, timing.median * 1e6, timing.best / floor.best
    if "Lock" in name:
        return Figure(name, micros, "µs", typical, "" if name == FLOOR else FLOOR, None if name == FLOOR else ratio)
    limit, scaled = (20 if "asyncio" in name else 12), ratio * SCALE
    target = Target(f"<= {limit} µs where the floor takes {SCALE} (scaled: {scaled:.1f})", scaled <= limit)
    return Figure(name, micros, "µs", typical, FLOOR, ratio, target)


async def _connected() -> holdfast.AsyncClient:
    return await holdfast.connect_async("memory:")


def lock_pairs(number: int) -> None:
    lock = threading.Lock()
    acquire, release = lock.acquire, lock.release
    for _ in range(number):
        acquire()
        release()


async def asyncio_pairs(number: int) -> None:
    lock = asyncio.Lock()
    for _ in range(number):
        await lock.acquire()
        lock.release()


def pairs(lock: holdfast.Lock) -> Work:
    def work(number: int) -> None:
        for _ in range(number):
            lock.acquire().release()

    return work


def entries(client: holdfast.Client) -> Work:
    def work(number: int) -> None:
        for _ in range(number):
            with client.mutex("k"):
                pass

    return work


async def async_pairs(lock: holdfast.AsyncLock, number: int) -> None:
    for _ in range(number):
        lease = await lock.acquire()
        await lease.release()


async def async_entries(client: holdfast.AsyncClient, number: int) -> None:
    for _ in range(number):
        async with client.mutex("k"):
            pass
