"""A record as bytes: one line of text for each part, so that an operator can read it, and the payload as it is.

    1 1791504000000000 mutex 1 0 -
    g 5f0c.1 1791504000000000 1791504000000000 1791504030000000 30000000 1 web-1 4711 MainThread
    w 77aa.9 1791504005000000 5000000 30000000 1 web-2 812 worker-3
    b 90be.4 1791504030000000 6d1c ops%20on%20web-1 stuck

    (an empty line, then the payload's bytes, where the first line ends in `+`)

The first number is the version of the format; then come fence, kind, limit, and until when the record is kept.  A record of another version was written by a newer holdfast: it is
refused and left as it is.
"""

from __future__ import annotations

from typing import cast, get_args

from holdfast.core.record import EMPTY, Broken, Grant, Kind, Record, Waiter

VERSION = "1"
KINDS = frozenset(get_args(Kind))

_HIDE = str.maketrans({"%": "%25", "\n": "%0A", "\r": "%0D", " ": "%20"})
_HIDE_LINES = str.maketrans({"%": "%25", "\n": "%0A", "\r": "%0D"})


class Unreadable(ValueError):
    """These bytes are no record of ours."""


def dump(record: Record) -> bytes:
    """The record as bytes."""
    has_payload = "-" if record.payload is None else "+"
    lines = [f"{VERSION} {record.fence} {record.kind} {record.limit} {record.kept} {has_payload}"]
    for owner, fence, since, expires, ttl, weight, holder in record.grants:
        lines.append(f"g {owner} {fence} {since} {expires} {ttl} {weight} {_line(holder)}")
    for owner, expires, linger, ttl, weight, holder in record.queue:
        lines.append(f"w {owner} {expires} {linger} {ttl} {weight} {_line(holder)}")
    for owner, until, by, reason, mark in record.broken:
        lines.append(f"b {owner} {until} {mark} {by.translate(_HIDE)} {_line(reason)}")
    head = "\n".join(lines).encode("utf-8", "surrogatepass")
    return head if record.payload is None else head + b"\n\n" + record.payload


def load(data: bytes) -> Record:
    """The record that these bytes are; raises `Unreadable`."""
    version = data.partition(b" ")[0]
    if version != VERSION.encode():
        raise Unreadable(f"format {version[:20]!r} is not the one this version of holdfast writes ({VERSION})")
    head, _, payload = data.partition(b"\n\n")
    try:
        return _parse(head.decode("utf-8", "surrogatepass").split("\n"), payload)
    except (ValueError, IndexError) as error:
        raise Unreadable(f"not a record: {error}") from None


def _parse(lines: list[str], payload: bytes) -> Record:
    _, fence, kind, limit, kept, has_payload = lines[0].split(" ")
    if kind not in KINDS or has_payload not in ("-", "+"):
        raise ValueError("unknown kind or end of the first line")
    grants: list[Grant] = []
    queue: list[Waiter] = []
    broken: list[Broken] = []
    for line in lines[1:]:
        tag, owner, rest = line.split(" ", 2)
        if tag == "g":
            number, since, expires, ttl, weight, holder = rest.split(" ", 5)
            grants.append(Grant(owner, int(number), int(since), int(expires), int(ttl), int(weight), _unhide(holder)))
        elif tag == "w":
            expires, linger, ttl, weight, holder = rest.split(" ", 4)
            queue.append(Waiter(owner, int(expires), int(linger), int(ttl), int(weight), _unhide(holder)))
        elif tag == "b":
            until, mark, by, reason = rest.split(" ", 3)
            broken.append(Broken(owner, int(until), _unhide(by), _unhide(reason), mark))
        else:
            raise ValueError(f"unknown part {tag[:20]!r}")
    body = payload if has_payload == "+" else None
    return Record(
        int(fence), cast("Kind", kind), int(limit), tuple(grants), tuple(queue), tuple(broken), body, int(kept)
    )


def _line(text: str) -> str:
    return text.translate(_HIDE_LINES) if "%" in text or "\n" in text or "\r" in text else text


def _unhide(text: str) -> str:
    if "%" not in text:
        return text
    return text.replace("%20", " ").replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")


__all__ = ["EMPTY", "KINDS", "VERSION", "Unreadable", "dump", "load"]
