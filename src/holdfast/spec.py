"""What a lock is and how it is to be acquired, in one value; and the lease that comes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from holdfast.core.ops import Want
from holdfast.engine.locking import Taken
from holdfast.lease import BaseLease

if TYPE_CHECKING:
    from holdfast.client import BaseClient

L = TypeVar("L", bound=BaseLease)


class Spec(NamedTuple):
    """What a lock is and how it is to be acquired."""

    key: str
    store_key: str
    line: str
    """The same for all who mean the same lock, and for nobody else."""
    want: Want
    fair: bool
    reentrant: bool
    renewing: bool
    on_lost: Callable[[Any], object] | None


def line_of(want: Want, store_key: str) -> str:
    """The name of the line for such a lock."""
    return f"{want.kind} {want.limit} {store_key}"


def lease_on(client: BaseClient, made: type[L], spec: Spec, owner: str, taken: Taken, line: str) -> L:
    """The lease for a grant, renewed from now on."""
    site, reply = client.site, taken.reply
    lease = made(site, spec.key, spec.store_key, owner, spec.want.ttl, taken.asked)
    lease._driver = client.driver
    lease._kind = spec.want.kind
    lease.fence = reply.fence
    lease.payload = reply.payload
    lease.renewing = spec.renewing
    lease.on_lost = spec.on_lost
    lease.passes = taken.passes
    lease.line = line
    site.keeper.add(lease)
    return lease
