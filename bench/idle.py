"""Fifty processes wait for one lock that somebody keeps: what that costs, and how soon all have had it afterwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from time import monotonic, process_time, sleep

from bench import contenders
from bench.crew import Hand, crew, together
from bench.measure import Figure, at_most

WAITERS = 50
RIVAL = "filelock"
SETTLE = 2.0

_waiting: dict[str, threading.Thread] = {}


def measure(quick: bool) -> Iterator[Figure]:
    names = (RIVAL, contenders.OURS)
    seconds = 5.0 if quick else 10.0
    with TemporaryDirectory() as folder, crew(WAITERS) as hands:
        found = {name: wait_together(name, folder, hands, seconds) for name in names}
        together(hands, contenders.forget, folder)
        contenders.forget(folder)
    for name, (share, drained) in found.items():
        ours = name == contenders.OURS
        beside = RIVAL if ours else ""
        target = at_most(share, 2, "% of a core") if ours else None
        ratio = share / found[RIVAL][0] if ours else None
        yield Figure(f"{name}, {WAITERS} waiters together", share, "% of a core", None, beside, ratio, target)
        ratio = drained / found[RIVAL][1] if ours else None
        yield Figure(f"{name}, until all have had it", drained * 1e3, "ms", None, beside, ratio)


def wait_together(name: str, folder: str, hands: list[Hand], seconds: float) -> tuple[float, float]:
    """CPU in percent of a core, and seconds to drain."""
    contenders.take(name, folder)
    together(hands, begin, name, folder)
    sleep(SETTLE)
    before, began = sum(together(hands, process_time)), monotonic()
    sleep(seconds)
    spent = sum(together(hands, process_time)) - before
    share = 100 * spent / (monotonic() - began)
    given = monotonic()
    contenders.give(name, folder)
    return share, max(together(hands, end, name)) - given


def begin(name: str, folder: str) -> None:
    """In each of them: wait, in a thread."""
    thread = _waiting[name] = threading.Thread(target=_take_and_give, args=(name, folder))
    thread.start()


def _take_and_give(name: str, folder: str) -> None:
    contenders.take(name, folder)
    contenders.give(name, folder)


def end(name: str) -> float:
    """In each of them: when it has had it."""
    _waiting.pop(name).join()
    return monotonic()
