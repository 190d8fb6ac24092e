"""From a URL to an address, and from its scheme to the backend that serves it.

scheme[+driver]://user:password@host:port,host:port/path?option=value
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from holdfast.stores import Backend

BUILT_IN: dict[str, tuple[str, str]] = {
    "memory": ("holdfast.stores.memory:backend", ""),
    "sqlite": ("holdfast.stores.sqlite:backend", ""),
}
"""Scheme -> where its backend is, and what to install for it; sorted."""

DRIVERS: dict[str, str] = {}
"""The package that a user's own driver object comes from -> the scheme that takes it."""

CLIENT_OPTIONS = ("namespace", "ttl")
"""What `connect` itself takes; it is not part of a URL."""

_registered: dict[str, Backend] = {}


class Address(NamedTuple):
    """A URL taken apart.  Its repr and `str` never show the password."""

    scheme: str
    driver: str
    user: str
    password: str
    host: str
    """As it stands in the URL: `host:port,host:port`."""
    path: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    def __str__(self) -> str:
        who = f"{self.user}{':***' if self.password else ''}@" if self.user or self.password else ""
        options = "&".join(f"{name}={'***' if _secret(name) else value}" for name, value in self.options.items())
        scheme = f"{self.scheme}+{self.driver}" if self.driver else self.scheme
        slashes = "//" if self.host or self.path or who else ""
        return f"{scheme}:{slashes}{who}{self.host}{self.path}{'?' if options else ''}{options}"


def _secret(name: str) -> bool:
    return any(part in name.lower() for part in ("pass", "secret", "token", "key"))


def parse(url: str) -> Address:
    """The address that a URL means; a `ConfigError`, without its secrets, if it means none."""
    scheme, colon, rest = url.partition(":")
    if not colon or not scheme or not scheme.replace("+", "").replace("-", "").isalnum():
        raise ConfigError("this is no URL: write scheme://..., for example sqlite:///locks.db or memory:")
    scheme, _, driver = scheme.lower().partition("+")
    rest, _, query = rest.partition("?")
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
    elif rest:
        raise ConfigError(f"a {scheme} URL begins with {scheme}://, or is {scheme}: alone: add the two slashes")
    else:
        authority = path = ""
    who, at, host = authority.rpartition("@")
    _check_hosts(scheme, host, path if not at else "")
    user, _, password = who.partition(":") if at else ("", "", "")
    return Address(scheme, driver, _decode(user), _decode(password), host, _decode(path), _options(query, scheme))


def _check_hosts(scheme: str, host: str, behind: str) -> None:
    """A password with a / in it that is not encoded would end up where it is not known as one."""
    if host and "@" in behind:
        raise ConfigError(
            f"there is an @ behind the host of the {scheme} URL: write %2F for a / in a password, %40 for @"
        )
    for one in host.split(","):
        port = one.rpartition("]")[2].partition(":")[2]
        if port and not (port.isascii() and port.isdigit() and int(port) < 65536):
            raise ConfigError(
                f"a port in the {scheme} URL is no number up to 65535: write host:port, and percent-encode a password"
            )


def _options(query: str, scheme: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in query.split("&") if query else ():
        name, equals, value = part.partition("=")
        if not equals or not name:
            raise ConfigError(f"an option of a {scheme} URL is name=value, joined by &: check what follows the ?")
        if name in options:
            raise ConfigError(f"the option {name!r} stands twice in the {scheme} URL: keep one")
        options[_decode(name)] = _decode(value)
    return options


def _decode(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)


# --- backends --------------------------------------------------------------------------------------------------------


def register(scheme: str, backend: Backend) -> None:
    """Serve URLs of this scheme by this backend from now on, in this process."""
    _registered[scheme] = backend


def backend_for(scheme: str) -> Backend:
    """The backend that serves a scheme: registered by hand, built in, or installed by another package."""
    if scheme in _registered:
        return _registered[scheme]
    if scheme in BUILT_IN:
        return _load(*BUILT_IN[scheme])
    from importlib.metadata import entry_points

    for entry in entry_points(group="holdfast.backends", name=scheme):
        backend: Backend = entry.load()
        _registered[scheme] = backend
        return backend
    raise ConfigError(
        f"no backend serves {scheme}:// URLs{_meant(scheme, (*BUILT_IN, *_registered))}; "
        "there are " + ", ".join(sorted({*BUILT_IN, *_registered}))
    )


def _load(where: str, install: str) -> Backend:
    from importlib import import_module

    module, _, name = where.partition(":")
    try:
        backend: Backend = getattr(import_module(module), name)
    except ImportError as error:
        raise ConfigError(f"{error.name} is not installed: {install}") from error
    return backend


def check_options(address: Address, known: tuple[str, ...]) -> None:
    """A `ConfigError` for the first option that this backend does not have."""
    for name in address.options:
        if name in CLIENT_OPTIONS:
            raise ConfigError(f"{name} is no option of a URL: write connect(..., {name}=...)")
        if name not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise ConfigError(f"{address.scheme} has no option {name!r}{_meant(name, known)}; {there}")


def _meant(word: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, known, 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


# --- what connect() was given ----------------------------------------------------------------------------------------


def locate(target: Any, options: Mapping[str, object]) -> tuple[Address, Any]:
    """The address to use, and the user's own driver object if that is what they gave."""
    driver = None
    if target is None:
        target = os.environ.get("HOLDFAST_URL") or default_url()
    if isinstance(target, str):
        address = parse(target)
    else:
        package = type(target).__module__.partition(".")[0]
        if package not in DRIVERS:
            raise ConfigError(
                f"connect() takes a URL or a database client, and knows no store for a {type(target).__name__}: "
                f"pass a URL{', or one of ' if DRIVERS else ''}{', '.join(sorted(DRIVERS))}"
            )
        address, driver = Address(DRIVERS[package], "", "", "", "", "", {}), target
    merged = {**address.options, **{name: str(value) for name, value in options.items()}}
    return address._replace(options=merged), driver


def default_url() -> str:
    """The embedded file in the user's own state directory."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
        return "sqlite:///" + os.path.join(base, "holdfast", "locks.db").replace("\\", "/")
    if sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Application Support")
    else:
        base = os.environ.get("XDG_STATE_HOME", "")
        if not os.path.isabs(base):  # its specification says that such are to be ignored
            base = os.path.expanduser("~/.local/state")
    return "sqlite:///" + _encode(os.path.join(base, "holdfast", "locks.db"))


def _encode(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3F")
