"""What must never be shown: passwords in URLs, wherever a message or an environment may carry them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_WORDS = "pass|secret|token|key"
_IN_AUTHORITY = re.compile(r"(://[^\s:/@]*):\S*@")
_IN_OPTION = re.compile(rf"([?&][^\s=&]*(?:{_WORDS})[^\s=&]*=)[^\s&]+", re.IGNORECASE)

SHORTEST = 4
"""A shorter word stands in ordinary sentences too; it is hidden inside URLs only."""


def secrets_of(url: str) -> set[str]:
    """The passwords in a URL, as they stand there and as they are meant."""
    from urllib.parse import unquote

    address, _, query = url.partition("?")
    found: set[str] = set()
    who, at, _ = address.partition("://")[2].rpartition("@")
    if at:
        found.add(who.partition(":")[2])
    for option in query.split("&"):
        name, _, value = option.partition("=")
        if re.search(_WORDS, name, re.IGNORECASE):
            found.add(value)
    return {form for secret in found if secret for form in (secret, unquote(secret))}


def redact(text: str, *urls: str) -> str:
    """The text without the secrets of these URLs, nor of any other URL in it."""
    hidden = {secret for url in urls for secret in secrets_of(url) if len(secret) >= SHORTEST}
    for secret in sorted(hidden, key=len, reverse=True):
        text = text.replace(secret, "***")
    return _IN_OPTION.sub(r"\1***", _IN_AUTHORITY.sub(r"\1:***@", text))


def for_child(key: str, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a command that runs under the lock `key`: ours, without a URL that holds a password."""
    clean = dict(environment)
    if secrets_of(clean.get("HOLDFAST_URL", "")):
        del clean["HOLDFAST_URL"]
    clean["HOLDFAST_KEY"] = key
    return clean
