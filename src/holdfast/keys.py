"""How the names that users choose become the keys that stores see.

`<namespace>:<area>:<rest>`; in the namespace `%` and `:` are percent-encoded, so that no two pairs of a namespace and a
key meet in one key, and a key can be read (and typed) as it was given.  The areas keep apart what is not the same
thing: `lock` is whatever can be held, `pool` the members of pools (`<pool>/<member>`, the pool's own `/` encoded), and
`once` the marks of what is done once per period.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from holdfast.errors import ConfigError

Area: TypeAlias = Literal["lock", "pool", "once"]

LONGEST = 512
BIGGEST_PAYLOAD = 65_536


def check_name(name: object, what: str = "key") -> str:
    """The name itself, if it can be one; a `ConfigError` that says what is wrong with it otherwise."""
    if not isinstance(name, str):
        raise ConfigError(f"a {what} is text, not {type(name).__name__}: pass a str")
    if not name:
        raise ConfigError(f"an empty {what} names nothing: pass at least one character")
    if "\0" in name:
        raise ConfigError(f"the {what} {shown(name)} has a NUL character, which not every store can hold: leave it out")
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise ConfigError(
            f"the {what} {shown(name)} has a lone surrogate, which is no character: decode it properly first"
        ) from None
    if size > LONGEST:
        raise ConfigError(
            f"the {what} {shown(name)} takes {size} bytes in UTF-8 and may take {LONGEST}: "
            "shorten it, or use a hash of it as its end"
        )
    return name


def check_payload(payload: object) -> None:
    """A `ConfigError` unless it can be stored as it is."""
    if not isinstance(payload, bytes):
        raise ConfigError(f"a payload is bytes, not {type(payload).__name__}: encode it first")
    if len(payload) > BIGGEST_PAYLOAD:
        raise ConfigError(
            f"a payload of {len(payload)} bytes is too big for a lock, which carries {BIGGEST_PAYLOAD} at most: "
            "store it elsewhere, and let the lock carry where"
        )


def shown(name: str) -> str:
    """The name as a message can carry it."""
    return ascii(name if len(name) <= 60 else name[:57] + "...")


def head(namespace: str, area: Area) -> str:
    """What all keys of this area of this namespace begin with."""
    return f"{namespace.replace('%', '%25').replace(':', '%3A')}:{area}:"


def pool_prefix(namespace: str, pool: str) -> str:
    """What the keys of all members of this pool begin with."""
    return head(namespace, "pool") + pool.replace("%", "%25").replace("/", "%2F") + "/"


def member_of(key: str) -> str:
    """The name of the member whose key this is."""
    _, _, rest = key.split(":", 2)
    return rest.partition("/")[2]
