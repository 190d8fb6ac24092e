"""Finding the command to run, before any lock is asked for."""

from __future__ import annotations

import errno
import os

from holdfast.cli import endings
from holdfast.cli.endings import Ending


def find_program(name: str) -> str:
    """The path of the program that a shell would run; an `Ending` of 127 or 126 if there is none."""
    if os.path.dirname(name):
        candidates = [name]
    else:
        folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
        candidates = [os.path.join(folder or os.curdir, name) for folder in folders if name]
        candidates = [path for path in candidates if not os.path.isdir(path)]
    if os.name == "nt":
        return _find_as_windows_does(name)
    found = [path for path in candidates if os.path.exists(path)]
    for path in found:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    if not found:
        raise Ending(endings.NOT_FOUND, f"{name or repr(name)}: there is no such command")
    why = "is a folder" if os.path.isdir(found[0]) else "may not be executed (chmod +x lets it)"
    raise Ending(endings.NOT_EXECUTABLE, f"{found[0]} {why}")


def _find_as_windows_does(name: str) -> str:
    from shutil import which

    path = which(name)
    if path is None:
        raise Ending(endings.NOT_FOUND, f"{name}: there is no such command")
    return path


def failed_to_start(program: str, number: int) -> Ending:
    """What to say when the system would not run it after all."""
    if number == errno.ENOENT:
        return Ending(endings.NOT_FOUND, f"{program} could not be started: it, or the interpreter it names, is missing")
    hint = ": begin it with a #! line" if number == errno.ENOEXEC else ""
    return Ending(endings.NOT_EXECUTABLE, f"{program} could not be started: {os.strerror(number).lower()}{hint}")
