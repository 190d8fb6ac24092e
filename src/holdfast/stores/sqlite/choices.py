"""What the URL says of the file, checked."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.errors import ConfigError
from holdfast.stores.sqlite.files import path_of
from holdfast.url import Address

BUSY_TIMEOUT = 5.0


class Choices(NamedTuple):
    """What the URL says of the file."""

    path: str
    synchronous: str
    network_fs: str
    busy_timeout: float


def choices(address: Address) -> Choices:
    """The options of a URL; a `ConfigError` for what can't be."""
    return Choices(
        path_of(address),
        _choice(address.options, "synchronous", ("normal", "full")),
        _choice(address.options, "network_fs", ("refuse", "allow")),
        _seconds(address.options, "busy_timeout", BUSY_TIMEOUT),
    )


def _choice(options: dict[str, str], name: str, known: tuple[str, ...]) -> str:
    value = options.get(name, known[0])
    if value not in known:
        raise ConfigError(f"{name}={value!r} is not known: choose {' or '.join(known)}")
    return value


def _seconds(options: dict[str, str], name: str, default: float) -> float:
    try:
        seconds = float(options.get(name, default))
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 3600:
        raise ConfigError(f"{name}={options[name]!r} is no number of seconds from 0 to 3600: write {name}={default}")
    return seconds
