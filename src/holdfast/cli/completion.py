"""Completion in a shell: the script that it loads, and its questions."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.cli import endings
from holdfast.cli.endings import Ending
from holdfast.cli.settings import Settings

if TYPE_CHECKING:
    import click

VARIABLE = "_HOLDFAST_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
MOST = 100


def complete(command: click.Command) -> int:
    """Print what the shell has asked for in `VARIABLE`.  To a question that has no answer nothing is said, because
    somebody is typing there.
    """
    from click.shell_completion import shell_complete

    asked = os.environ[VARIABLE]
    shell, _, what = asked.partition("_")
    if shell not in SHELLS or what not in ("source", "complete"):
        known = ", ".join(f"{name}_source" for name in SHELLS)
        raise Ending(endings.USAGE, f"{VARIABLE} is {asked!r}: write one of {known}")
    try:
        return shell_complete(command, {"obj": Settings()}, "holdfast", VARIABLE, asked)
    except Exception:
        if what == "source":
            raise
        return endings.OK


def complete_key(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The keys in the store that begin like that; none if the store can't be asked."""
    import holdfast

    try:
        with context.ensure_object(Settings).connect() as client:
            keys = (info.key for info in client.list(incomplete))
            return list(islice((key for key in keys if key.isprintable()), MOST))
    except (holdfast.HoldfastError, OSError):
        return []
