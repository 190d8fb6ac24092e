"""What every subcommand is told: which store, which namespace, how much to say."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast.cli.durations import read_duration
from holdfast.cli.secrets import redact
from holdfast.cli.tables import printable

if TYPE_CHECKING:
    from holdfast import Client, Hook

F = TypeVar("F", bound=Callable[..., Any])


class Settings:
    """The options that all subcommands have in common; they may stand before or behind the subcommand's name."""

    url: str | None = None
    namespace: str | None = None
    debug: bool = False
    verbose: bool = False

    def connect(self, ttl: float | None = None, hooks: tuple[Hook, ...] = ()) -> Client:
        """A client of the store that was asked for; the command line wins over the environment."""
        import logging

        import holdfast

        if not self.debug:
            logging.getLogger("holdfast").addHandler(logging.NullHandler())  # errors are one sentence, and ours
        self._check()
        namespace = self.namespace if self.namespace is not None else os.environ.get("HOLDFAST_NAMESPACE", "")
        if ttl is None:
            return holdfast.connect(self.url, namespace=namespace, hooks=hooks)
        return holdfast.connect(self.url, namespace=namespace, ttl=ttl, hooks=hooks)

    def _check(self) -> None:
        """Refuse a store in which this command would be alone."""
        import holdfast

        if self.url == "":
            raise holdfast.ConfigError("--url is empty: name a store, or leave --url out")
        url = self.url or os.environ.get("HOLDFAST_URL", "")
        if url.partition(":")[0] == "memory":
            raise holdfast.ConfigError("no other process sees what is in memory: name a file, sqlite:///locks.db")

    def say(self, sentence: str) -> None:
        """One sentence on stderr, without secrets, and without anything that a terminal would obey."""
        with suppress(OSError):  # nobody listens
            click.echo(f"holdfast: {printable(self.redact(sentence))}", err=True)

    def redact(self, text: str) -> str:
        """The text without the passwords of this store."""
        return redact(text, self.url or "", os.environ.get("HOLDFAST_URL", ""))

    def remark(self, sentence: str) -> None:
        """The same, for those who asked for more with -v."""
        if self.verbose:
            self.say(sentence)


def ttl_from_environment() -> float | None:
    """What HOLDFAST_TTL says to `run`."""
    text = os.environ.get("HOLDFAST_TTL", "")
    if not text:
        return None
    try:
        return read_duration(text)
    except ValueError as error:
        import holdfast

        raise holdfast.ConfigError(f"HOLDFAST_TTL is {text!r}: {error}") from None


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> None:
    if value is not None and value is not False:
        setattr(context.ensure_object(Settings), parameter.name or "", value)


def store_options(function: F) -> F:
    """Give a subcommand --url, --namespace, --debug and -v."""
    shared: dict[str, Any] = {"expose_value": False, "callback": _remember}
    for option in (
        click.option("-v", "--verbose", is_flag=True, help="Say more on stderr.", **shared),
        click.option("--debug", is_flag=True, help="Show the traceback of an error.", **shared),
        click.option("--namespace", metavar="NAME", help="Keeps applications apart [HOLDFAST_NAMESPACE].", **shared),
        click.option("--url", metavar="URL", help="The store [HOLDFAST_URL, else a file of yours].", **shared),
    ):
        function = option(function)
    return function
