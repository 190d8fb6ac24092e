"""Eight processes on one key: how often, how evenly, and how long one waits.

Held 1 ms with 5 ms elsewhere is what services do.  Asking again at once with nothing held rewards whoever takes the
lock again before anybody else has woken up: there the length of the longest run of one process says what it is worth.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import groupby, pairwise
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic_ns, sleep
from typing import NamedTuple

from bench import contenders
from bench.contenders import FLOOR, OURS
from bench.crew import Hand, crew, together
from bench.measure import Figure, Target, at_least, at_most, number, percentile

PROCESSES = 8
HEADSTART = 200_000_000


class Mode(NamedTuple):
    """How long a lock is held, and how long its holder is elsewhere before asking again, in seconds."""

    name: str
    held: float
    elsewhere: float
    seconds: float


class Outcome(NamedTuple):
    """What came of one contender in one mode, over all its slices."""

    rate: float
    """That of the median slice: other work on the machine is no matter of ours."""
    jain: float
    run: int
    gap: float
    """From the beginning of a release until the next one has it, at the median."""
    mean_wait: float
    longest_wait: float
    overlaps: int


def measure(quick: bool) -> Iterator[Figure]:
    modes = (Mode("1 ms held", 0.001, 0.005, 10.0), Mode("at once", 0, 0, 5.0))
    slices = 1 if quick else 5
    with TemporaryDirectory() as folder, crew(PROCESSES) as hands:
        for mode in modes:
            length = 1.5 if quick else mode.seconds / slices
            found: dict[str, list[Slice]] = {name: [] for name in contenders.ALL}
            for _ in range(slices):
                for name, done in found.items():
                    done.append(Slice(hands, name, folder, mode, length))
            outcomes = {name: judge(parts, length) for name, parts in found.items()}
            yield from figures(mode, outcomes)
        together(hands, contenders.forget, folder)


class Slice:
    """All of them at one lock for some time; times are in nanoseconds."""

    def __init__(self, hands: list[Hand], name: str, folder: str, mode: Mode, seconds: float) -> None:
        together(hands, contenders.contender_ready, name, folder)
        self.begin = monotonic_ns() + HEADSTART
        self.end = self.begin + int(seconds * 1e9)
        told = together(hands, contend, name, folder, self.begin, self.end, mode.held, mode.elsewhere)
        self.spells = [list(zip(*[iter(array("q", data))] * 3, strict=True)) for data in told]
        """For each process: when it asked, got and gave back, again and again."""

    def counts(self) -> list[int]:
        return [sum(got < self.end for _, got, _ in spells) for spells in self.spells]

    def waits(self) -> Iterator[float]:
        """A wait that the end of the slice found unfinished counts up to there."""
        return ((min(got, self.end) - asked) / 1e6 for spells in self.spells for asked, got, _ in spells)

    def line(self) -> list[tuple[int, int, int]]:
        """Who had it, from when to when, in order."""
        return sorted((got, gave, who) for who, spells in enumerate(self.spells) for _, got, gave in spells)


def contend(name: str, folder: str, begin: int, end: int, held: float, elsewhere: float) -> bytes:
    """In each of them: ask, hold, give back, be elsewhere, until the end."""
    lock, clock, spells = contenders.contender(name, folder), monotonic_ns, array("q")
    sleep((begin - clock()) / 1e9)
    while (asked := clock()) < end:
        lock.take()
        got = clock()
        if held:
            sleep(held)
        gave = clock()
        lock.give()
        spells.extend((asked, got, gave))
        if elsewhere:
            sleep(elsewhere)
    return spells.tobytes()


def judge(parts: list[Slice], seconds: float) -> Outcome:
    counts = [sum(column) for column in zip(*(part.counts() for part in parts), strict=True)]
    lines = [part.line() for part in parts]
    waits = [wait for part in parts for wait in part.waits()]
    return Outcome(
        median(sum(part.counts()) for part in parts) / seconds,
        sum(counts) ** 2 / (len(counts) * sum(count * count for count in counts)),
        max(len(list(run)) for line in lines for _, run in groupby(line, key=lambda spell: spell[2])),
        percentile([(later[0] - earlier[1]) / 1e3 for line in lines for earlier, later in pairwise(line)], 0.5),
        sum(waits) / len(waits),
        max(waits),
        sum(later[0] < earlier[1] for line in lines for earlier, later in pairwise(line)),
    )


def figures(mode: Mode, outcomes: dict[str, Outcome]) -> Iterator[Figure]:
    floor = outcomes[FLOOR]
    for name, it in outcomes.items():
        what, aimed = f"{mode.name}: {name}", name == OURS and mode.held > 0
        beside, ratio = ("", None) if name == FLOOR else (FLOOR, it.rate / floor.rate)
        note = f"hand-off p50 {number(it.gap, 'µs')}; longest run {it.run:,}; overlaps {it.overlaps}"
        target = at_least(it.rate / floor.rate, 0.9, "x floor") if aimed else None
        yield Figure(what, it.rate, "/s", None, beside, ratio, target, note)
        target = Target(">= 0.99", it.jain >= 0.99) if aimed else None
        yield Figure(
            f"{what}, Jain fairness", it.jain, "", None, beside, it.jain / floor.jain if beside else None, target
        )
        share, note = it.longest_wait / it.mean_wait, f"mean {number(it.mean_wait, 'ms')}"
        target = at_most(share, 3, "x its mean wait") if aimed else None
        yield Figure(f"{what}, longest wait", it.longest_wait, "ms", None, "its mean wait", share, target, note)
