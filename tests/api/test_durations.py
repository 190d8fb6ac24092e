"""Durations: seconds or a timedelta, and whole microseconds inside."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast import ConfigError
from holdfast.durations import deadline, in_seconds, micros
from holdfast.engine.program import FOREVER


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (0, 0),
        (0.0, 0),
        (-0.0, 0),
        (timedelta(0), 0),
        (1, 1_000_000),
        (1.5, 1_500_000),
        (timedelta(seconds=1.5), 1_500_000),
        (timedelta(days=1), 86_400_000_000),
        (0.1, 100_000),
        (1e-6, 1),
        (1e9, 10**15),
    ],
)
def test_they_are_whole_microseconds(length, expected):
    assert micros(length, "it") == expected


@pytest.mark.parametrize("length", [1e-7, 1e-300, 5e-324])
def test_something_is_never_rounded_down_to_nothing(length):
    assert micros(length, "it") == 1


@pytest.mark.parametrize(
    ("length", "sentence"),
    [
        (-1, "it is -1 s"),
        (-1e-9, "it is -1e-09 s"),
        (timedelta(microseconds=-1), "it is -1e-06 s"),
        (float("nan"), "it is nan s"),
        (float("inf"), "it is far too many s"),
        (float("-inf"), "it is far too many s"),
        (1.1e9, "it is 1100000000.0 s"),
        (timedelta.max, "it is 8"),
        (10**400, "it is far too many s"),
        ("1", "it is a number of seconds or a timedelta, not str"),
        (None, "not NoneType"),
        (True, "not bool"),
        (1j, "not complex"),
    ],
)
def test_what_is_none_is_refused(length, sentence):
    with pytest.raises(ConfigError, match=sentence):
        micros(length, "it")


def test_a_deadline_is_never_now_or_then():
    assert deadline(None, 5) == FOREVER
    assert deadline(0, 5) == 5
    assert deadline(2, 5) == 2_000_005
    with pytest.raises(ConfigError, match="timeout is -1 s"):
        deadline(-1, 5)


def test_messages_say_them_in_seconds():
    assert [in_seconds(length) for length in (None, 0, 0.0, 1.5, timedelta(minutes=2))] == [
        "any time",
        "0 s",
        "0 s",
        "1.5 s",
        "120 s",
    ]
