"""What a client believes about one grant of its own.

Belief is local: it counts from the instant the request was *sent* that the store answered, ends before the store's own
lease can, and needs no network to end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from holdfast.engine import forks
from holdfast.engine.program import Micros

if TYPE_CHECKING:
    from holdfast.engine.site import Site

LossReason: TypeAlias = Literal["expired", "stolen", "broken", "unreachable", "suspended", "forked"]
"""Why a lease ended before its holder did."""

DRIFT_PER_MILLE = 10
"""Two clocks may differ by 1 % in speed without the holder believing longer than the store."""


def safe_for(ttl: Micros) -> Micros:
    """How long a holder may believe in a lease of `ttl`, counted from the sending of the request."""
    return ttl * (1000 - DRIFT_PER_MILLE) // (1000 + DRIFT_PER_MILLE)


class Hold:
    """One grant as its client sees it.  The public leases are holds with verbs."""

    __slots__ = (
        "__weakref__",
        "born",
        "broken_by",
        "depth",
        "ended",
        "failure",
        "fence",
        "generation",
        "holder",
        "key",
        "line",
        "lost_for",
        "member",
        "on_lost",
        "owner",
        "passes",
        "payload",
        "renewing",
        "site",
        "slot",
        "store_key",
        "tries",
        "ttl",
        "valid_until",
    )

    def __init__(self, site: Site, key: str, store_key: str, owner: str, ttl: Micros, born: Micros) -> None:
        self.site: Site = site
        self.key: str = key
        self.store_key: str = store_key
        self.owner: str = owner
        self.ttl: Micros = ttl
        self.born: Micros = born
        self.valid_until: Micros = born + safe_for(ttl)
        self.fence: int = 0
        self.payload: bytes | None = None
        self.member: str | None = None
        self.line: str = ""
        """The line of this client that it stands at the head of; none for what is shared."""
        self.renewing: bool = True
        self.on_lost: Callable[[Any], object] | None = None
        self.holder: tuple[str, object] | None = None
        """What to look it up by when the same thread or task asks again."""
        self.depth: int = 1
        self.passes: int = 0
        self.ended: bool = False
        self.generation: int = forks.generation
        self.failure: BaseException | None = None
        self.broken_by: str = ""
        self.tries: int = 0
        self.slot: int = -1
        self.lost_for: LossReason | None = None

    def loss(self) -> LossReason | None:
        """Why this lease is not to be believed in any more; None while it is, and after its own release."""
        if self.lost_for is None and not self.ended:
            if self.generation != forks.generation:
                self.lost_for = "forked"
            elif (now := self.site.ticks()) >= self.valid_until:
                self.site.keeper.lapse(self, now)
        return self.lost_for

    def extend(self, asked: Micros, ttl: Micros) -> None:
        """The store has answered a request sent at `asked`; neither this promise nor later ones get shorter for it."""
        self.ttl = max(self.ttl, ttl)
        self.valid_until = max(self.valid_until, asked + safe_for(ttl))
        self.failure = None
        self.tries = 0

    def tell_loss(self) -> None:
        """Call `on_lost`, whose errors are its own."""
        if self.on_lost is not None:
            self.site.shield(self.on_lost, self)
