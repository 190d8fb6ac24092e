"""Taking times, in turns, and what comes of it: figures beside their floors and targets.

Other work on the machine only ever adds time, so what is repeated is judged by its best repeat; the median stands
beside it, and tells how noisy the machine was.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import NamedTuple

Work = Callable[[int], object]
"""Does something so many times."""


class Target(NamedTuple):
    """What a figure should be, and whether it is."""

    text: str
    met: bool


class Figure(NamedTuple):
    """One line of the table."""

    what: str
    value: float
    unit: str
    typical: float | None = None
    """The median, where `value` is the best of several."""
    beside: str = ""
    """The floor or rival it is compared with, "" for one that is itself the comparison."""
    ratio: float | None = None
    target: Target | None = None
    note: str = ""


class Timing(NamedTuple):
    """Seconds for doing it once."""

    best: float
    median: float


def at_most(value: float, limit: float, unit: str) -> Target:
    return Target(f"<= {limit:g} {unit}".rstrip(), value <= limit)


def at_least(value: float, limit: float, unit: str) -> Target:
    return Target(f">= {limit:g} {unit}".rstrip(), value >= limit)


def in_turns(works: Mapping[str, Work], repeats: int, seconds: float = 0.1) -> dict[str, Timing]:
    """The time each takes; a repeat does each of them for about so long, in an order that changes."""
    numbers = {name: calibrate(work, seconds) for name, work in works.items()}
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name in random.sample(list(works), len(works)):
            taken[name].append(once(works[name], numbers[name]))
    return {name: Timing(min(times), median(times)) for name, times in taken.items()}


def calibrate(work: Work, seconds: float) -> int:
    """How often it can be done in that time."""
    number = 1
    while (each := once(work, number)) * number < seconds / 4:
        number *= 4
    return max(1, int(seconds / each))


def once(work: Work, number: int) -> float:
    """Seconds for each of so many."""
    start = perf_counter()
    work(number)
    return (perf_counter() - start) / number


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def number(value: float | None, unit: str = "") -> str:
    """Three digits that count."""
    if value is None:
        return ""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f} {unit}".rstrip()
