"""Durations as they are typed: `90`, `90s`, `5m`, `2h`, `1d`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

UNITS = {"ms": 0.001, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_FORM = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*(ms|[smhdw]?)", re.ASCII)


def read_duration(text: str) -> float:
    """The seconds that are meant; a `ValueError` that says how to write them if none are."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise ValueError("write seconds, or a number with a unit: 90, 500ms, 90s, 5m, 2h, 1d")
    return float(match[1]) * UNITS[match[2]]


def written(seconds: float) -> str:
    """A duration for people."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "m"), (rest, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 s"


if TYPE_CHECKING:
    _Parameter = click.ParamType[float]
else:
    _Parameter = click.ParamType  # generic since click 8.2 only


class Duration(_Parameter):
    """An option's value that is a duration."""

    name = "duration"

    def __init__(self, *, positive: bool = False) -> None:
        self._positive = positive

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            seconds = read_duration(str(value))
        except ValueError as error:
            self.fail(f"{value!r} is no duration: {error}", param, ctx)
        if self._positive and not seconds:
            self.fail(f"{value!r} is no time at all", param, ctx)
        return seconds
