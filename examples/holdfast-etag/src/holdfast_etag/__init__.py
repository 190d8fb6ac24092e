"""Locks on any HTTP server that writes on the condition of an ETag: `etag://user:password@host:port/folder`.

This is all that holdfast sees of us, by the entry point in `pyproject.toml`.  Read on in `store`: what is asked, and
what the answers mean; then in `transport`: how it gets there, and what may go wrong on the way.
"""

from __future__ import annotations

from holdfast.stores.writing import Address, Backend, BySwap, Observer, Store
from holdfast_etag.store import EtagStore
from holdfast_etag.transport import AsyncEtagTransport, EtagTransport


def _store(_address: Address) -> Store:
    """Our server has no clock to go by, so an `Observer` judges leases by watching; `BySwap` runs holdfast's rules."""
    return BySwap(Observer(EtagStore()))


backend: Backend = Backend(_store, EtagTransport, AsyncEtagTransport, options=["timeout"])
