"""What the tests of the command share besides fixtures; named so that no other folder of tests has a module like it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

HOLDFAST = (sys.executable, "-m", "holdfast.cli")
AT_MOST = 20.0


class Said(NamedTuple):
    """How the command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


def is_sentence(text: str) -> bool:
    """Whether this is one sentence of ours: one line, no traceback."""
    return text.startswith("holdfast: ") and text.count("\n") == 1 and text.endswith("\n")


def end(process: subprocess.Popen) -> int:
    """Let a process of `hold` end."""
    process.stdin.close()
    return process.wait(AT_MOST)


def wait_for_waiter(holdfast, key: str) -> None:
    """Until somebody stands in line."""
    for _ in range(200):
        if json.loads(holdfast("show", key, "--json").stdout)["waiting"]:
            return
    raise AssertionError("nobody got in line")


def until(condition: Callable[[], object]) -> None:
    """Until it is so, which nobody tells us of."""
    deadline = time.monotonic() + AT_MOST
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.005)


def gone(pid: int) -> bool:
    """Whether no process of that number runs (a zombie runs no more)."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def read_until(process: subprocess.Popen, text: str) -> None:
    """Read what it says up to the line that has this text."""
    while text not in (line := process.stdout.readline()):
        assert line, process.communicate()
