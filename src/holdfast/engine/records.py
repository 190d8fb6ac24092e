"""Records as a store keeps them: bytes that say their own version."""

from __future__ import annotations

from holdfast.core.codec import Unreadable, dump, load
from holdfast.core.record import Record
from holdfast.errors import BadRecord


def record_of(key: str, data: bytes) -> Record:
    """The record in these bytes; `BadRecord` if they are not ours, or those of a newer version."""
    try:
        return load(data)
    except (Unreadable, TypeError) as error:
        raise BadRecord(
            f"the record of {key!r} can't be read ({error}) and was left as it is: "
            "upgrade holdfast, or find out who else writes there",
            key=key,
        ) from error


__all__ = ["dump", "record_of"]
