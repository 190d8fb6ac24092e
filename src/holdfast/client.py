"""One store, and all the locks on it: what a client for threads and one for asyncio have in common."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from holdfast.core.ops import Revoke, Revoked, Want
from holdfast.core.record import MANY, Kind
from holdfast.durations import LONGEST_TTL, Seconds, micros
from holdfast.engine.insisting import GRACE, insist
from holdfast.engine.keeper import Keeper
from holdfast.engine.program import SECOND, TICKS, Program
from holdfast.engine.releasing import give_back_all, leave_queues
from holdfast.engine.site import Site
from holdfast.engine.store import Page, look
from holdfast.errors import ConfigError
from holdfast.info import HOST, LockInfo, info_of
from holdfast.keys import Area, check_name, check_payload, head
from holdfast.observe import events
from holdfast.spec import Spec, line_of
from holdfast.stores import Backend, Endpoint
from holdfast.url import Address, backend_for, check_options

if TYPE_CHECKING:
    from holdfast.observe.events import Hook

PAGE = 200
DEFAULT_TTL = 30.0


class Settings(NamedTuple):
    """What `connect` was told besides where to connect."""

    namespace: str = ""
    ttl: Seconds = DEFAULT_TTL
    hooks: Sequence[Hook] = ()
    metadata: bool = True


DEFAULTS = Settings()

DriverMaker: TypeAlias = Callable[[Backend, Endpoint, Keeper], Any]
"""What makes the driver of a client: the real one, or one with virtual time."""


class BaseClient:
    """What both colours of a client have in common."""

    colour: str
    driver: Any
    site: Site

    def __init__(self, address: Address, users_driver: Any, settings: Settings, make_driver: DriverMaker) -> None:
        self._backend = backend_for(address.scheme)
        check_options(address, tuple(self._backend.options))
        namespace = settings.namespace
        if namespace:
            check_name(namespace, "namespace")
        self.address = address
        self.namespace = namespace
        self._users_driver = users_driver
        self._make_driver = make_driver
        if callable(settings.hooks):
            raise ConfigError("hooks are several functions: write hooks=[...] also for one")
        self._hooks = tuple(settings.hooks)
        self._metadata = settings.metadata
        self._heads: dict[Area, str] = {area: head(namespace, area) for area in ("lock", "pool", "once")}
        self._store = self._backend.store(address)
        self._min_ttl = micros(self._store.traits.min_ttl, "min_ttl")
        self._ttl = self._check_ttl(settings.ttl)
        self._closed = False
        self._open()

    def _open(self) -> None:
        """Take a name of our own, and connect."""
        endpoint = Endpoint(self.address, os.urandom(10).hex(), self._users_driver)
        keeper = Keeper()
        driver = self.driver = self._make_driver(self._backend, endpoint, keeper)
        site = Site(
            endpoint.client,
            self._store,
            ticks=driver.clock.ticks,
            chance=random.random,
            bell=driver.bell,
            keeper=keeper,
        )
        keeper.site = site
        site.hooks = self._hooks
        if self._hooks:
            driver.tell = site.tell
        self.site = site
        self._pid = os.getpid()

    def __repr__(self) -> str:
        where = f"{self.address}{f', namespace {self.namespace!r}' if self.namespace else ''}"
        return f"<{type(self).__name__} of {where}{', closed' if self._closed else ''}>"

    def who(self) -> tuple[object, str]:
        """The thread or task that is running, and how it is described to others."""
        raise NotImplementedError

    # --- making locks -------------------------------------------------------------------------------------------------

    def store_key(self, area: Area, key: str) -> str:
        """The key under which a store knows it."""
        return self._heads[area] + check_name(key)

    def _check_ttl(self, ttl: Seconds | None) -> int:
        if ttl is None:
            return self._ttl
        length = micros(ttl, "ttl")
        if not self._min_ttl <= length <= LONGEST_TTL:
            raise ConfigError(
                f"a ttl of {length / SECOND} s can't work on {self.address.scheme}: "
                f"choose from {self._min_ttl / SECOND} to {LONGEST_TTL // SECOND} s"
            )
        return length

    def _spec(
        self,
        kind: Kind,
        key: str,
        limit: int,
        weight: int,
        ttl: Seconds | None,
        renew: bool,
        *,
        fair: bool | None = None,
        reentrant: bool = False,
        payload: bytes | None = None,
        on_lost: Callable[[Any], object] | str | None = None,
    ) -> Spec:
        if self._closed:
            raise ConfigError(f"this client of {self.address} is closed: connect again")
        if payload is not None:
            check_payload(payload)
        if isinstance(on_lost, str):
            on_lost = self._named_reaction(on_lost)
        want = Want(kind, limit, weight, self._check_ttl(ttl), payload)
        in_line = self.site.push if fair is None else fair
        store_key = self.store_key("lock", key)
        return Spec(key, store_key, line_of(want, store_key), want, in_line, reentrant, renew, on_lost)

    def _named_reaction(self, name: str) -> Callable[[Any], object]:
        raise ConfigError(f"on_lost={name!r} is not known here: pass a function that takes the lease")

    def _mutex(self, key: str, kind: Kind, ttl: Seconds | None, renew: bool, **how: Any) -> Spec:
        return self._spec(kind, key, 1, 1, ttl, renew, **how)

    def _semaphore(
        self, key: str, permits: int, weight: int, ttl: Seconds | None, fair: bool | None, renew: bool
    ) -> Spec:
        for what, number in (("permits", permits), ("weight", weight)):
            if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MANY:
                raise ConfigError(f"{what} is {number!r}: it must be a whole number from 1 to {MANY}")
        if weight > permits:
            raise ConfigError(f"a weight of {weight} never fits into {permits} permits: ask for fewer")
        return self._spec("semaphore", key, permits, weight, ttl, renew, fair=fair)

    def _rwlock(self, key: str, weight: int, ttl: Seconds | None, renew: bool) -> Spec:
        in_line = True if weight > 1 else None
        return self._spec("rwlock", key, MANY, weight, ttl, renew, fair=in_line)

    # --- looking and breaking -----------------------------------------------------------------------------------------

    def _inspect(self, key: str) -> Program[LockInfo | None]:
        store_key = self.store_key("lock", key)
        record, now = yield from look(self.site.store, store_key)
        info = info_of(key, record, now)
        return info if info.holders or info.waiting or info.payload else None

    def _page(self, prefix: str, after: str) -> Program[tuple[list[LockInfo], str]]:
        """The locks of one page that are held, waited for or carry something; and where the next page begins."""
        start = self._heads["lock"]
        if prefix:
            check_name(prefix, "prefix")
        page: Page = yield from self.site.store.scan(start + prefix, after, PAGE)
        infos = [info_of(key[len(start) :], record, page.now) for key, record in page.records]
        last = page.records[-1][0] if len(page.records) == PAGE else ""
        return [info for info in infos if info.holders or info.waiting or info.payload], last

    def _break_lock(self, key: str, fence: int | None, reason: str) -> Program[bool]:
        by = f"pid {os.getpid()} on {HOST}" if self._metadata else "somebody"
        op = Revoke(self.site.new_owner(), by, reason, fence)
        now = yield TICKS
        reply, _ = yield from insist(self.site, self.store_key("lock", key), op, now + GRACE)
        if type(reply) is not Revoked or not reply.owners:
            return False
        self.site.keeper.learn_of_break(reply.owners, by, reason)
        self.site.tell(events.Broken(key, reason))
        return True

    # --- leaving ------------------------------------------------------------------------------------------------------

    def _leave(self) -> Program[None]:
        """Give back all that is held; the leases in hand believe in nothing any more."""
        keeper = self.site.keeper
        yield from leave_queues(self.site)
        yield from give_back_all(self.site, [hold for hold in keeper.holds() if keeper.retire(hold)])
