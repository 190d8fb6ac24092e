"""What it costs to begin: importing, the command, and a first lock."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from bench.measure import Figure, at_most, in_turns

BARE = "bare `python -c pass`"
LOCK = "with holdfast.connect({!r}) as c: c.mutex('k').acquire().release()"


def measure(quick: bool) -> Iterator[Figure]:
    holdfast = os.path.join(os.path.dirname(sys.executable), "holdfast")
    commands = {
        BARE: _python("pass"),
        "import holdfast": _python("import holdfast"),
        "holdfast --version": [holdfast, "--version"],
        "import and one lock, memory": _python("import holdfast\n" + LOCK.format("memory:")),
        "import asyncio": _python("import asyncio"),
    }
    times = in_turns({name: _runner(command) for name, command in commands.items()}, 5 if quick else 25, 0)
    bare = times[BARE]
    yield Figure(BARE, bare.best * 1e3, "ms", bare.median * 1e3)
    for name in list(commands)[1:]:
        more = (times[name].best - bare.best) * 1e3
        whole = name == "holdfast --version"
        value, typical = (
            (times[name].best, times[name].median) if whole else (more / 1e3, times[name].median - bare.median)
        )
        limit = {"import holdfast": 30.0, "holdfast --version": 150.0}.get(name)
        target = at_most(value * 1e3, limit, "ms" if whole else "ms above bare") if limit else None
        what = name if whole else f"{name}, above bare"
        yield Figure(what, value * 1e3, "ms", typical * 1e3, BARE, times[name].best / bare.best, target)


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def _runner(command: list[str]):
    def run(number: int) -> None:
        for _ in range(number):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    return run
