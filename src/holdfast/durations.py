"""Durations as users write them (seconds, or a timedelta) and as everything inside counts them (microseconds)."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeAlias

from holdfast.engine.program import FOREVER, SECOND, Micros
from holdfast.errors import ConfigError

Seconds: TypeAlias = float | timedelta
"""A duration: a number of seconds, or a `datetime.timedelta`."""

LONGEST_TTL: Micros = 7 * 24 * 3600 * SECOND
"""A longer lease is a typing error, or wants to be a `once`."""


def micros(length: Seconds, what: str) -> Micros:
    """The duration in microseconds; never rounded down to nothing."""
    if isinstance(length, timedelta):
        seconds = length.total_seconds()
    elif isinstance(length, (int, float)) and type(length) is not bool:
        seconds = length
    else:
        raise ConfigError(f"{what} is a number of seconds or a timedelta, not {type(length).__name__}")
    if not 0 <= seconds <= 1e9:
        found = "far too many" if abs(seconds) >= 1e300 else repr(seconds)
        raise ConfigError(f"{what} is {found} s: it must be a number of seconds from 0 to 1e9")
    return round(seconds * SECOND) or (1 if seconds else 0)


def in_seconds(length: Seconds | None) -> str:
    """The duration as messages say it."""
    if length is None:
        return "any time"
    return f"{length.total_seconds() if isinstance(length, timedelta) else length:g} s"


def deadline(timeout: Seconds | None, now: Micros) -> Micros:
    """When waiting ends: never for `None`, at once for 0."""
    return FOREVER if timeout is None else now + micros(timeout, "timeout")
