"""Completing the keys of locks in a shell."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from holdfast.cli.settings import Settings

if TYPE_CHECKING:
    import click

MOST = 100


def complete_key(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The keys in the store that begin like that; none if the store can't be asked, because a shell is waiting."""
    import holdfast

    try:
        with context.ensure_object(Settings).connect() as client:
            return [info.key for info in islice(client.list(incomplete), MOST)]
    except (holdfast.HoldfastError, OSError):
        return []
