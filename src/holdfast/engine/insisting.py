"""Asking a store again that did not answer.  Harmless, because every operation may be asked for twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from holdfast.core.ops import Op, Reply
from holdfast.engine.program import SECOND, TICKS, Micros, Pause, Program
from holdfast.engine.site import Site
from holdfast.errors import StoreUnavailable

T = TypeVar("T")

GRACE: Micros = 5 * SECOND
"""How long to go on asking a store that does not answer, before giving up."""

RETRY: Micros = 50_000


def insist(site: Site, key: str, op: Op, until: Micros) -> Program[tuple[Reply, Micros]]:
    """The answer, and when the request was sent that it answers; asked for until then, or until there is one."""
    return (yield from persist(site, lambda: site.store.apply(key, op), until))


def persist(site: Site, ask_store: Callable[[], Program[T]], until: Micros) -> Program[tuple[T, Micros]]:
    """The same for whatever asks the store."""
    while True:
        asked = yield TICKS
        try:
            return (yield from ask_store()), asked
        except StoreUnavailable:
            now = yield TICKS
            if now >= until:
                raise
            yield Pause(None, min(until, now + int(RETRY * (0.5 + site.chance()))))
