"""What is said to those who mistype: the nearest option or subcommand, and where its help is."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import click

MEANT: dict[str, tuple[str, ...]] = {
    "--help": ("help", "usage", "man", "?"),
    "--version": ("version",),
    "run": ("acquire", "do", "exec", "hold", "lock", "mutex", "with"),
    "ls": ("all", "dir", "list", "locks", "ps", "status", "top"),
    "show": ("cat", "describe", "get", "info", "inspect", "stat", "who"),
    "wait": ("await", "until", "watch"),
    "break": ("clear", "delete", "force-unlock", "kill", "release", "remove", "rm", "steal", "unlock"),
    "demo": ("example", "tour", "try"),
}
"""What we call it, and what others call it."""


def nearest(name: str, known: list[str]) -> str:
    """What may have been meant by a subcommand that there is not."""
    name = name.lower()
    for ours, theirs in MEANT.items():
        if name in theirs:
            return f"did you mean {ours!r}?"
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"


class Subcommand(click.Command):
    """A subcommand whose errors all know that they are its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


class Number(click.IntRange):
    """A whole number, called so."""

    name = "whole number"


def usage(error: click.ClickException) -> str:
    """The sentence of a usage error."""
    message = error.format_message().replace(". Did you", " (did you").replace(". (Did you", " (did you")
    message = message.strip().rstrip(".")
    if message.endswith("?") and message.count("(") > message.count(")"):
        message += ")"
    context: Any = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context is not None else "holdfast"
    return f"{message[:1].lower()}{message[1:]}; see `{path} --help`"
