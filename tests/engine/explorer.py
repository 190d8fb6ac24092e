"""Every order in which the programs of several clients can reach their store.

The programs are the real ones, yielded by the public locks; what is made up is only who moves next.  They are switched
at each send, at each pause and wherever a test says `CHECKPOINT`.  A run is made of choices; the explorer makes them in
every possible way, each run from the beginning (so nothing is ever copied).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from holdfast.client import Settings
from holdfast.client_threads import Client
from holdfast.engine.bell import Bell
from holdfast.engine.program import Pause, Send, Ticks
from holdfast.stores import memory
from holdfast.testing.clock import VirtualClock
from holdfast.url import parse

CHECKPOINT = Pause(None, 0)
"""A moment at which somebody else may move."""


class Ear:
    def __init__(self):
        self.rung = False

    def ring(self):
        self.rung = True


def make_transport(backend, endpoint, clock):
    if backend is memory.backend:
        return memory.MemoryTransport(endpoint, clock.wall)
    return backend.transport(endpoint)


class Puppet:
    """The driver of a client that the explorer moves."""

    def __init__(self, backend, endpoint, keeper, clock):
        self.clock = clock
        self.bell = Bell(Ear)
        self.tell = None
        self.transport = make_transport(backend, endpoint, clock)
        self.transport.listen(self.bell)

    def run(self, program):
        """To its end at once; only for what is prepared before the exploration."""
        result = None
        try:
            while True:
                command = program.send(result)
                result = self.transport.send(command.request) if isinstance(command, Send) else self.clock.ticks()
        except StopIteration as stop:
            return stop.value


def client_on(url: str, clock: VirtualClock) -> Client:
    return Client(parse(url), None, Settings(), lambda *parts: Puppet(*parts, clock))


class Actor:
    """One program, and the command it waits on."""

    def __init__(self, client: Client, program: Generator[Any, Any, Any]) -> None:
        self.client = client
        self.program = program
        self.command: Any = None
        self.is_done = False
        self.resume(None)

    def resume(self, result: Any) -> None:
        clock = self.client.driver.clock
        try:
            self.command = self.program.send(result)
            while not isinstance(self.command, (Send, Pause)):
                self.command = self.program.send(clock.ticks() if isinstance(self.command, Ticks) else clock.wall())
        except StopIteration:
            self.is_done = True

    def ready(self) -> bool:
        command = self.command
        if isinstance(command, Pause) and command is not CHECKPOINT:
            return bool(command.ear is not None and command.ear.rung)
        return True

    def move(self) -> None:
        command = self.command
        if isinstance(command, Send):
            self.resume(self.client.driver.transport.send(command.request))
        elif command is CHECKPOINT or command.ear is None:
            self.resume(False)
        else:
            rang, command.ear.rung = command.ear.rung, False
            self.resume(rang)


def play(actors: list[Actor], clock: VirtualClock, choices: list[int]) -> list[int]:
    """One run; how many could move at each step.  Beyond `choices` the first one moves."""
    options: list[int] = []
    while alive := [actor for actor in actors if not actor.is_done]:
        ready = [actor for actor in alive if actor.ready()]
        if not ready:  # all sleep: time passes until the first of them wakes
            first = min(alive, key=lambda actor: actor.command.until)
            clock._now = max(clock._now, first.command.until)
            first.move()
            continue
        choice = choices[len(options)] if len(options) < len(choices) else 0
        options.append(len(ready))
        ready[choice].move()
    return options


def explore(begin: Callable[[VirtualClock], list[Actor]], *, at_most: int) -> int:
    """Play every run; how many there are.  What a run finds wrong, it raises itself."""
    choices: list[int] = []
    runs = 0
    while True:
        clock = VirtualClock()
        options = play(begin(clock), clock, choices)
        runs += 1
        assert runs <= at_most, f"more than {at_most} runs: narrow the scenario"
        choices += [0] * (len(options) - len(choices))
        while choices and choices[-1] + 1 >= options[len(choices) - 1]:
            choices.pop()
        if not choices:
            return runs
        choices[-1] += 1
