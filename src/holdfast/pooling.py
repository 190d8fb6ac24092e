"""Give me any free one: a set of named members, each a lock of its own, with a payload.

No record holds them all.  Who finds none free waits for the pool's turn, a mutex of its own; whoever has the turn is
woken when a member becomes free, and tries again.  So waiters are served in order, and only one of them asks.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar

from holdfast.core.ops import Acquire, Denied, Dismiss, Enrol, Granted, Want
from holdfast.durations import Seconds, deadline, in_seconds
from holdfast.engine.hold import Hold
from holdfast.engine.insisting import GRACE, insist
from holdfast.engine.locking import Attempt, Taken, acquire, ask
from holdfast.engine.patience import LINGER, Patience
from holdfast.engine.program import FOREVER, SECOND, TICKS, Micros, Pause, Program
from holdfast.engine.releasing import relinquish
from holdfast.engine.store import Page, Picked, look
from holdfast.errors import AcquireTimeout, ConfigError, StoreError
from holdfast.info import LockInfo, info_of
from holdfast.keys import check_name, check_payload, member_of, pool_prefix
from holdfast.lease import BaseLease
from holdfast.observe import events
from holdfast.spec import Spec, lease_on

if TYPE_CHECKING:
    from holdfast.client import BaseClient

L = TypeVar("L", bound=BaseLease)
PAGE = 200


class Member(NamedTuple):
    """A member of a pool at the moment of looking."""

    name: str
    payload: bytes | None
    info: LockInfo
    """Who holds it, if anybody does."""


Where: TypeAlias = Callable[[bytes | None], bool]
"""A predicate on a member's payload."""


class BasePool(Generic[L]):
    """What both colours of a pool have in common."""

    _lease: type[L]

    def __init__(self, client: BaseClient, spec: Spec) -> None:
        self._client = client
        self._spec = spec
        self._prefix = pool_prefix(client.namespace, spec.key)

    @property
    def key(self) -> str:
        """The pool's key."""
        return self._spec.key

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.key!r}>"

    # --- membership ---------------------------------------------------------------------------------------------------

    def _add(self, member: str, payload: bytes | None) -> Program[None]:
        if payload is not None:
            check_payload(payload)
        now = yield TICKS
        yield from insist(self._client.site, self._member_key(member), Enrol(payload), now + GRACE)

    def _remove(self, member: str) -> Program[None]:
        now = yield TICKS
        yield from insist(self._client.site, self._member_key(member), Dismiss(), now + GRACE)

    def _member_key(self, member: str) -> str:
        return self._prefix + check_name(member, "member")

    def _page(self, after: str) -> Program[tuple[list[Member], str]]:
        page: Page = yield from self._client.site.store.scan(self._prefix, after or self._prefix, PAGE)
        found = [
            Member(member_of(key), record.payload, info_of(self.key, record, page.now, member_of(key)))
            for key, record in page.records
            if record.kept
        ]
        return found, page.records[-1][0] if len(page.records) == PAGE else ""

    # --- acquire ------------------------------------------------------------------------------------------------------

    def _acquire(self, timeout: Seconds | None, member: str | None, where: Where | None) -> Program[L]:
        lease = yield from self._take(timeout, member, where)
        if lease is None:
            what = f"the member {member!r} of" if member else "a fitting member of" if where else "a free member of"
            raise AcquireTimeout(
                f"{what} the pool {self.key!r} was not to be had within {in_seconds(timeout)}: "
                "wait longer, or add members to the pool",
                key=self.key,
            )
        return lease

    def _take(self, timeout: Seconds | None, member: str | None, where: Where | None) -> Program[L | None]:
        if member is not None and where is not None:
            raise ConfigError("a pool gives a named member, or any that fits, not both: pass member or where")
        now = yield TICKS
        until = FOREVER if timeout is None else deadline(timeout, now)
        site = self._client.site
        asker = site.new_owner() if site.hooks else ""
        site.tell(events.Asked(self.key, asker))
        lease = yield from self._find(member, where, now, until, asker)
        if lease is not None:
            site.tell(events.Granted(self.key, lease.fence, (lease.born - now) / SECOND))
        elif site.hooks:
            site.tell(events.Denied(self.key, ((yield TICKS) - now) / SECOND))
        return lease

    def _find(
        self, member: str | None, where: Where | None, now: Micros, until: Micros, asker: str
    ) -> Program[L | None]:
        if member is not None:
            return (yield from self._named(member, until))
        lease = yield from self._try(where)
        if lease is not None or until <= now:
            return lease
        self._client.site.tell(events.Waited(self.key, asker))
        return (yield from self._in_turn(where, until))

    def _named(self, member: str, until: Micros) -> Program[L | None]:
        key, site = self._member_key(member), self._client.site
        record, _ = yield from look(site.store, key)
        if not record.kept:
            raise ConfigError(f"the pool {self.key!r} has no member {member!r}: add it first", key=self.key)
        owner, (_, name) = site.new_owner(), self._client.who()
        answer = yield from acquire(site, Attempt(key, key, self._spec.want, owner, name, until, self._spec.fair))
        return self._lease_on(key, owner, answer, key) if type(answer) is Taken else None

    def _in_turn(self, where: Where | None, until: Micros) -> Program[L | None]:
        """Wait until it is our turn, then until a member is free."""
        site = self._client.site
        owner, (_, name) = site.new_owner(), self._client.who()
        want = Want(ttl=LINGER)
        turn = yield from acquire(site, Attempt(self._prefix, self._prefix, want, owner, name, until, True))
        if type(turn) is not Taken:
            return None
        hold = Hold(site, self.key, self._prefix, owner, LINGER, turn.asked)
        hold.passes = turn.passes
        hold.line = self._prefix
        site.keeper.add(hold)
        lease: L | None = None
        try:
            try:
                lease = yield from self._when_free(where, until, owner)
            finally:
                site.bell.forget(owner)
                site.keeper.retire(hold)
                yield from relinquish(site, hold)
        except GeneratorExit:
            raise
        except BaseException:
            if lease is not None:  # we were interrupted while passing the turn on
                yield from lease._release()
            raise
        return lease

    def _when_free(self, where: Where | None, until: Micros, owner: str) -> Program[L | None]:
        site = self._client.site
        ear = site.bell.listen(owner)
        patience = Patience(site.woken and where is None, site.chance)
        while True:
            lease = yield from self._try(where)
            now = yield TICKS
            if lease is not None or now >= until:
                return lease
            yield Pause(ear, min(until, now + patience.pause(), now + self._soonest))

    _soonest: Micros = FOREVER
    """How long the last answer said that it takes until a member can be free."""

    def _try(self, where: Where | None) -> Program[L | None]:
        """Any free member that fits, now."""
        if where is not None:
            return (yield from self._try_fitting(where))
        site = self._client.site
        owner, (_, name) = site.new_owner(), self._client.who()
        asked = yield TICKS
        try:
            picked: Picked = yield from site.store.pick(self._prefix, Acquire(owner, self._spec.want, 0, name))
        except GeneratorExit:
            raise
        except BaseException:
            with suppress(StoreError):  # it is not renewed, so it ends by itself
                yield from site.store.unpick(self._prefix, owner)
            raise
        if type(picked.reply) is Granted:
            return self._lease_on(picked.key, owner, Taken(picked.reply, asked, 0), "")
        if type(picked.reply) is Denied:
            self._soonest = max(picked.reply.free_at - picked.reply.now, 1_000)
        return None

    def _try_fitting(self, where: Where) -> Program[L | None]:
        site = self._client.site
        _, name = self._client.who()
        after = ""
        while True:
            members, after = yield from self._page(after)
            fitting = [member for member in members if not member.info.holders and where(member.payload)]
            while fitting:
                member = fitting.pop(int(site.chance() * len(fitting)))
                key, owner, now = self._member_key(member.name), site.new_owner(), (yield TICKS)
                answer = yield from ask(site, Attempt(key, "", self._spec.want, owner, name, now, False))
                if type(answer) is Taken:
                    return self._lease_on(key, owner, answer, "")
            if not after:
                self._soonest = FOREVER
                return None

    def _lease_on(self, key: str, owner: str, taken: Taken, line: str) -> L:
        spec = self._spec._replace(store_key=key)
        lease = lease_on(self._client, self._lease, spec, owner, taken, line)
        lease.member = member_of(key)
        return lease
