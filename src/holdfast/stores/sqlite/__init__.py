"""Locks in a file of this machine, for all its processes and for containers that share the volume.

The rules run here, inside one transaction of SQLite.  Time is the machine's monotonic clock within one boot: setting
the clock changes nothing, and a reboot ends every lease.  A client shows that it lives by an operating-system lock
beside the file, which the kernel drops when the process dies; whoever is in its way may take over on that proof.
"""

from __future__ import annotations

from holdfast.engine.store import Traits
from holdfast.stores import AsyncTransport, Backend, Endpoint, Transport
from holdfast.stores.here import HereStore
from holdfast.url import Address

TRAITS = Traits(clock="host", wakes="push", scope="host", survives="power cut", proof_of_death=True, min_ttl=0.02)

OPTIONS = ("synchronous", "network_fs", "busy_timeout")


def _transport(endpoint: Endpoint) -> Transport:
    from holdfast.stores.sqlite.transport import SqliteTransport

    return SqliteTransport(endpoint)


def _async_transport(endpoint: Endpoint) -> AsyncTransport:
    from holdfast.stores.sqlite.transport import AsyncSqliteTransport

    return AsyncSqliteTransport(endpoint)


def _store(_address: Address) -> HereStore:
    return HereStore(TRAITS)


backend: Backend = Backend(_store, _transport, _async_transport, OPTIONS)
