"""Processes that do as they are told: fresh interpreters, each with a pipe, gone when the block is left."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

_context = multiprocessing.get_context("spawn")
PATIENCE = 10.0


class Hand:
    """One process."""

    def __init__(self) -> None:
        self._pipe, theirs = _context.Pipe()
        self._process = _context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def tell(self, function: Callable[..., object], *args: object) -> None:
        """Let it call that; `answer` gives the result."""
        self._pipe.send((function, args))

    def answer(self) -> Any:
        result = self._pipe.recv()
        if isinstance(result, BaseException):
            raise result
        return result

    def ask(self, function: Callable[..., object], *args: object) -> Any:
        self.tell(function, *args)
        return self.answer()

    def kill(self) -> None:
        """As `kill -9` does."""
        self._process.kill()

    def dismiss(self) -> None:
        with suppress(OSError):
            self._pipe.send(None)

    def bury(self) -> None:
        self._process.join(PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()
        self._pipe.close()


@contextmanager
def crew(size: int) -> Iterator[list[Hand]]:
    """So many processes, which are ready."""
    hands: list[Hand] = []
    try:
        hands += (Hand() for _ in range(size))
        together(hands, ready)
        yield hands
    except BaseException:
        for hand in hands:
            hand.kill()
        raise
    finally:
        for hand in hands:
            hand.dismiss()
        for hand in hands:
            hand.bury()


def together(hands: list[Hand], function: Callable[..., object], *args: object) -> list[Any]:
    """All of them at once."""
    for hand in hands:
        hand.tell(function, *args)
    return [hand.answer() for hand in hands]


def ready() -> None:
    """Nothing is left to be imported."""
    from bench import contenders  # noqa: F401


def _serve(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started us says when it is over
    while True:
        try:
            told = pipe.recv()
        except EOFError:
            return
        if told is None:
            return
        function, args = told
        try:
            pipe.send(function(*args))
        except Exception as error:
            pipe.send(error)
