"""What is asked of the server, and what its answers mean.  Nothing here waits, or knows of connections."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote, urlencode

from holdfast.stores.writing import EMPTY, Page, Program, Record, Send, StoreError, There, Traits, dump, record_of

NOT_THERE = HTTPStatus.NOT_FOUND
CHANGED = (HTTPStatus.PRECONDITION_FAILED, HTTPStatus.NOT_FOUND)  # some servers say 404 when If-Match finds nothing


class Request(NamedTuple):
    """One round trip, as the transports take it."""

    method: str
    target: str
    """Where, below the folder that the URL names."""
    condition: Mapping[str, str] = {}
    body: bytes | None = None


class Answer(NamedTuple):
    """What came back."""

    status: int
    etag: str
    body: bytes


class EtagStore:
    """Read, write on a condition, list: the least that makes a store."""

    traits = Traits(
        clock="none",  # a Date header is too coarse, and may be a proxy's
        wakes="poll",
        scope="network",
        survives="nothing",  # what every server keeps; say more of the one that you know
        min_ttl=0.2,
    )

    def load(self, key: str) -> Program[There[str] | None]:
        """What is there now, and its ETag."""
        answer: Answer = yield Send(Request("GET", _target(key)))
        return None if answer.status == NOT_THERE else There(record_of(key, answer.body), _version(answer))

    def swap(self, key: str, new: Record, expected: str | None) -> Program[str | There[str] | None]:
        """Write if the ETag is still the expected one.  A refusal does not say what is there instead, so we look."""
        condition = {"If-None-Match": "*"} if expected is None else {"If-Match": expected}
        if new is EMPTY:  # not under an `Observer`, which keeps rows for their fences' sake
            answer: Answer = yield Send(Request("DELETE", _target(key), condition))
        else:
            answer = yield Send(Request("PUT", _target(key), condition, dump(new)))
        if answer.status in CHANGED:
            return (yield from self.load(key))
        return "deleted" if new is EMPTY else _version(answer)

    def scan(self, prefix: str, after: str, limit: int) -> Program[Page]:
        """The next records in the order of their keys.  Their time is not ours to tell: the `Observer` does."""
        query = urlencode({"prefix": prefix, "after": after, "limit": limit})
        answer: Answer = yield Send(Request("GET", f"?{query}"))
        if answer.status != HTTPStatus.OK:
            raise StoreError("the server does not list what it has: check the folder in the URL")
        rows: list[dict[str, str]] = json.loads(answer.body)
        return Page(0, [(row["key"], record_of(row["key"], b64decode(row["value"]))) for row in rows])


def _target(key: str) -> str:
    """A key is one segment of the path, so no key is a way out of the folder."""
    return quote(key, safe="")


def _version(answer: Answer) -> str:
    """If-Match never finds a weak ETag the same, so on one we could not write a second time."""
    if not answer.etag or answer.etag.startswith("W/"):
        raise StoreError("the server gives no strong ETags, so it can't keep locks: use another, or configure it")
    return answer.etag
