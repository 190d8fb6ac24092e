"""The holder is killed: how soon the process that waits behind it has the lock, long before the ttl is over."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryDirectory
from time import monotonic_ns, sleep

from bench import contenders
from bench.crew import Hand, crew
from bench.handoff import take_and_give
from bench.measure import Figure, Target, percentile

NAMES = (contenders.FLOOR, contenders.OURS, "filelock")
LIMIT = 50.0


def measure(quick: bool) -> Iterator[Figure]:
    taken: dict[str, list[float]] = {name: [] for name in NAMES}
    with TemporaryDirectory() as folder, crew(1) as (waiter,):
        for _ in range(3 if quick else 20):
            with crew(len(NAMES)) as victims:
                for name, victim in zip(NAMES, victims, strict=True):
                    taken[name].append(kill(name, folder, victim, waiter))
        waiter.ask(contenders.forget, folder)
    median = {name: percentile(times, 0.5) for name, times in taken.items()}
    for name, times in taken.items():
        beside = "" if name == contenders.FLOOR else contenders.FLOOR
        ratio = median[name] / median[beside] if beside else None
        target = Target(f"< {LIMIT:g} ms", median[name] < LIMIT) if name == contenders.OURS else None
        what = f"{name}{', ttl 30 s' if target else ''}, p50"
        yield Figure(what, median[name], "ms", None, beside, ratio, target, f"longest {max(times):,.1f}")


def kill(name: str, folder: str, victim: Hand, waiter: Hand) -> float:
    """Milliseconds from the kill until the waiter has it."""
    victim.ask(contenders.take, name, folder)
    waiter.tell(take_and_give, name, folder)
    sleep(0.1)
    killed = monotonic_ns()
    victim.kill()
    return (waiter.answer() - killed) / 1e6
