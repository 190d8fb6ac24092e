"""The processes of `holdfast demo`, and the folder they work in."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

from holdfast.cli import endings, worker
from holdfast.cli.endings import Ending

PATIENCE = 15.0


class Crew:
    """The processes of a demonstration; none is left at its end."""

    def __init__(self, folder: str) -> None:
        self._url = "sqlite:///" + os.path.join(folder, "locks.db").replace("\\", "/")
        self._counter = os.path.join(folder, "counter")
        self.register: str = os.path.join(folder, "register.db")
        self._processes: list[subprocess.Popen[str]] = []
        worker.make_register(self.register)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    def hire(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a process that plays this part."""
        part, *rest = arguments
        command = [sys.executable, "-m", "holdfast.cli.worker", str(os.getpid()), part, self._url, *rest]
        process = subprocess.Popen(  # noqa: S603 - our own module
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._processes.append(process)
        return process

    def cue(self, process: subprocess.Popen[str]) -> None:
        """Let it go on."""
        assert process.stdin is not None, "it was hired with pipes"
        with suppress(BrokenPipeError):
            process.stdin.write("go\n")
            process.stdin.flush()

    def line(self, process: subprocess.Popen[str]) -> list[str]:
        """The words it says next."""
        assert process.stdout is not None, "it was hired with pipes"
        words = process.stdout.readline().split()
        if not words:
            raise Ending(endings.CLAIM_FAILED, f"a process of the demonstration ended early: {process.args!r}")
        return words

    def answer(self, process: subprocess.Popen[str], expected: str) -> list[str]:
        """What it says next, which must begin so."""
        said, *rest = self.line(process)
        if said != expected:
            raise Ending(endings.CLAIM_FAILED, f"a process of the demonstration said {said!r} and not {expected!r}")
        return rest

    def count(self, workers: int, times: int, locked: str) -> tuple[int, float]:
        """Let all count at once; what the file says then, and how long it took."""
        with open(self._counter, "wb") as file:
            file.write(b"0" * worker.WIDTH)
        counters = [self.hire("count", self._counter, str(times), locked) for _ in range(workers)]
        for process in counters:
            self.answer(process, "ready")
        begun = time.monotonic()
        for process in counters:
            self.cue(process)
        for process in counters:
            if process.wait(PATIENCE):
                raise Ending(endings.CLAIM_FAILED, "a process of the demonstration failed to count")
        seconds = time.monotonic() - begun
        with open(self._counter, "rb") as file:
            return int(file.read()), seconds

    def wait_for_a_waiter(self) -> None:
        """Until somebody stands in line for the lock."""
        import holdfast

        until = time.monotonic() + PATIENCE
        with holdfast.connect(self._url) as locks:
            while (info := locks.inspect(worker.KEY)) is not None and not info.waiting:
                if time.monotonic() > until:
                    raise Ending(endings.CLAIM_FAILED, "the next holder did not get in line")
                time.sleep(0.005)
