"""A hundred thousand leases in one client: what each weighs, and what keeping them all costs."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Callable, Iterator
from time import perf_counter, process_time, sleep, thread_time

import holdfast
from bench.crew import crew
from bench.measure import Figure

TTL = 30.0
PERIOD = TTL / 3
WEIGHED = 10_000
FLOOR = "a dict of threading.Lock"


def measure(quick: bool) -> Iterator[Figure]:
    count, periods = (10_000, 1) if quick else (100_000, 2)
    with crew(1) as (hand,):
        bare = hand.ask(weigh_bare)
        each = hand.ask(weigh)
        found = hand.ask(hold_many, count, periods)
    many = f"{count:,} leases held on memory"
    yield Figure(f"{FLOOR}, each", bare, "bytes")
    yield Figure(f"{many}: memory a lease, record included", each, "bytes", None, FLOOR, each / bare)
    yield Figure(f"{many}: first acquire", found["first"], "µs")
    ratio = found["last"] / found["first"]
    yield Figure(f"{many}: last acquire", found["last"], "µs", None, "the first", ratio)
    ratio = found["kept"] / found["by hand"]
    yield Figure("lease.renew() by hand", found["by hand"], "µs")
    yield Figure("one renewal by the keeper", found["kept"], "µs", None, "by hand", ratio)
    share = found["share"]
    yield Figure(f"{many}: keeper's CPU at ttl {TTL:g} s", share, "% of a core")
    ratio = found["stall"] / found["alone"]
    yield Figure("longest acquire + release of another thread meanwhile", found["stall"], "ms", None, "alone", ratio)


def weigh_bare() -> float:
    """Bytes for each of so many plain locks by name."""
    names = [f"jobs/{number}" for number in range(WEIGHED)]
    return _weight(lambda: {name: threading.Lock() for name in names})


def weigh() -> float:
    """Bytes for each lease, its record in the store, and all that is kept of both anywhere."""
    with holdfast.connect("memory:", ttl=TTL) as client:
        locks = [client.mutex(f"jobs/{number}") for number in range(WEIGHED)]
        locks[0].acquire().release()
        return _weight(lambda: [lock.acquire() for lock in locks])


def _weight(work: Callable[[], object]) -> float:
    tracemalloc.start()
    kept = work()
    size = tracemalloc.get_traced_memory()[0] / WEIGHED
    tracemalloc.stop()
    del kept
    return size


def hold_many(count: int, periods: int) -> dict[str, float]:
    """In a process of its own."""
    client = holdfast.connect("memory:", ttl=TTL)
    locks = [client.mutex(f"jobs/{number}") for number in range(count)]
    renewing = client.mutex("by hand").acquire()
    leases: list[holdfast.Lease] = []
    tenth = count // 10
    times = [
        _timed(lambda at=at: leases.extend(lock.acquire() for lock in locks[at : at + tenth]))
        for at in range(0, count, tenth)
    ]
    found = {"first": times[0] / tenth * 1e6, "last": times[-1] / tenth * 1e6}
    found["by hand"] = min(_timed(renewing.renew) for _ in range(2000)) * 1e6
    probe = client.mutex("probe")
    found["alone"] = max(_timed(lambda: probe.acquire().release()) for _ in range(200)) * 1e3
    spent, found["stall"] = _watch(probe, periods * PERIOD)
    found["share"] = 100 * spent / (periods * PERIOD)
    found["kept"] = spent / (periods * count) * 1e6
    assert not any(lease.lost for lease in leases[:: count // 100]), "the keeper kept them"
    client.close()
    return found


def _watch(probe: holdfast.Lock, seconds: float) -> tuple[float, float]:
    """CPU of all threads but this, which looks 100 times a second how long the lock of its own takes: ms at most."""
    end, longest = perf_counter() + seconds, 0.0
    before = process_time() - thread_time()
    while perf_counter() < end:
        longest = max(longest, _timed(lambda: probe.acquire().release()))
        sleep(0.01)
    return process_time() - thread_time() - before, longest * 1e3


def _timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
