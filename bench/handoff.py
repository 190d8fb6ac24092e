"""From one process to another: how soon a waiter that sleeps has the lock once it is given back."""

from __future__ import annotations

import random
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from time import monotonic_ns, sleep

from bench import contenders
from bench.crew import Hand, crew
from bench.measure import Figure, Target, percentile

RIVAL = "filelock"
ASLEEP = (0.05, 0.15)
"""How long the other one has waited; at random, so that whoever looks every 50 ms is met at any moment."""


def measure(quick: bool) -> Iterator[Figure]:
    taken: dict[str, list[float]] = {name: [] for name in contenders.ALL}
    with TemporaryDirectory() as folder, crew(1) as (waiter,):
        for _ in range(5 if quick else 60):
            for name, times in taken.items():
                times.append(hand_over(name, folder, waiter))
        waiter.ask(contenders.forget, folder)
        contenders.forget(folder)
    yield from figures(taken)


def hand_over(name: str, folder: str, waiter: Hand) -> float:
    """Microseconds from the beginning of our release until the waiter has it."""
    contenders.take(name, folder)
    waiter.tell(take_and_give, name, folder)
    sleep(random.uniform(*ASLEEP))
    given = monotonic_ns()
    contenders.give(name, folder)
    return (waiter.answer() - given) / 1e3


def take_and_give(name: str, folder: str) -> int:
    """In the other process: when it had the lock."""
    contenders.take(name, folder)
    now = monotonic_ns()
    contenders.give(name, folder)
    return now


def figures(taken: dict[str, list[float]]) -> Iterator[Figure]:
    median = {name: percentile(times, 0.5) for name, times in taken.items()}
    for name, times in taken.items():
        beside = "" if name == contenders.FLOOR else contenders.FLOOR
        ratio = median[name] / median[beside] if beside else None
        note = f"p90 {percentile(times, 0.9):,.0f}, longest {max(times):,.0f}"
        yield Figure(f"{name}, p50", median[name], "µs", None, beside, ratio, None, note)
    ours, theirs = median[contenders.OURS], median[RIVAL]
    target = Target(f"< 0.1 x {RIVAL}", ours < theirs / 10)
    yield Figure(f"{contenders.OURS}, p50", ours, "µs", None, RIVAL, ours / theirs, target)
