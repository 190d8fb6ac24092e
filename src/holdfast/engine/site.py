"""What the programs of one client share."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

from holdfast.engine.bell import Bell
from holdfast.engine.program import Micros
from holdfast.engine.queueing import Lines
from holdfast.engine.store import Store

if TYPE_CHECKING:
    from holdfast.engine.hold import Hold
    from holdfast.engine.keeper import Keeper


class Site:
    """One client's store, clock, bell, lines and keeper."""

    def __init__(
        self,
        name: str,
        store: Store,
        *,
        ticks: Callable[[], Micros],
        chance: Callable[[], float],
        bell: Bell,
        keeper: Keeper,
    ) -> None:
        self.name = name
        self.store = store
        self.push: bool = store.traits.wakes == "push"
        self.ticks = ticks
        self.chance = chance
        self.bell = bell
        self.keeper = keeper
        self.lines: Lines = Lines()
        self.held: dict[tuple[str, object], Hold] = {}
        self.orphans: dict[str, tuple[str, Micros]] = {}
        self.queued: dict[str, str] = {}
        """Who of us stands in a queue of the store, and for which key."""
        self.hooks: tuple[Callable[[Any], object], ...] = ()
        self._numbers = count(1)

    @property
    def woken(self) -> bool:
        """Whether a waiter may count on being woken."""
        return self.push and not self.bell.deaf

    def new_owner(self) -> str:
        """A name that nobody has used before; its first part says whose it is."""
        return f"{self.name}.{next(self._numbers):x}"

    def orphan(self, owner: str, key: str, until: Micros) -> None:
        """This owner may hold something nobody wants: release it until that is certain, or until then."""
        self.orphans[owner] = (key, until)
        self.keeper.poke()

    def tell(self, event: Any) -> None:
        """Give the event to every hook."""
        for hook in self.hooks:
            self.shield(hook, event)

    def shield(self, callback: Callable[[Any], object], value: Any) -> None:
        """Call what the user gave us; what it raises is logged, and breaks nothing here."""
        try:
            callback(value)
        except Exception:
            import logging

            logging.getLogger("holdfast").exception("a hook or callback raised; the lock is not affected")
