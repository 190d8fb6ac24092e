"""A process and its forked children, told apart by a number; and what a child must let go of."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet

generation: int = 0
"""Grows in the child at every fork; whatever remembers an older one belongs to the parent."""


in_child: bool = False
"""Whether a child has just begun, and what it inherited is being told: connect to nothing that may never be used."""


class Forkable(Protocol):
    """Something that a forked child must not go on using as it is."""

    def after_fork(self) -> None: ...


_inherited: WeakSet[Forkable] = WeakSet()


def tell(thing: Forkable) -> None:
    """Call its `after_fork` in every forked child, for as long as it lives."""
    _inherited.add(thing)


def _in_child() -> None:
    global generation, in_child
    generation += 1
    in_child = True
    try:
        for thing in list(_inherited):
            thing.after_fork()
    finally:
        in_child = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)

__all__ = ["Forkable", "generation", "in_child", "tell"]
