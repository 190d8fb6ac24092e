"""`holdfast show`: one lock, in words and in JSON."""

from __future__ import annotations

import base64
import json

import pytest
from test_command_ls import FIELDS, OF_A_HOLDER


def test_a_free_lock_is_said_to_be_free(ask):
    assert ask("show", "k") == (0, "k is free: nobody holds it or waits for it.\n", "")
    document = json.loads(ask("show", "k", "--json").stdout)
    assert document == {
        "key": "k", "kind": None, "limit": None, "fence": None, "held": False, "holders": [], "waiting": 0, "payload": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda client: [client().mutex("k")], "is a mutex, held by 1, with 0 waiting."),
        (lambda client: [client().rwlock("k").reader for _ in "ab"], "is a rwlock, held by 2, with 0 waiting."),
        (
            lambda client: [client().semaphore("k", 7, weight=3) for _ in "ab"],
            "is a semaphore of 7 permits, held by 2, with 0 waiting.",
        ),
    ],
)
def test_who_holds_it_is_said_with_fences(ask, client, make, words):
    leases = [lock.acquire() for lock in make(client)]
    first, *rest = ask("show", "k").stdout.splitlines()
    assert first == f"k {words}"
    assert len(rest) == len(leases)
    for line, lease in zip(rest, leases, strict=True):
        assert f"fence {lease.fence}" in line
        assert "MainThread" in line
        assert ("weight 3" in line) is ("semaphore" in words)


def test_those_who_wait_are_counted(ask, locks, holdfast, start):
    from commanding import wait_for_waiter

    locks.mutex("k").acquire()
    start("run", "k", "--", "true")
    wait_for_waiter(holdfast, "k")
    assert "with 1 waiting" in ask("show", "k").stdout


def test_what_it_carries_is_shown_as_it_is_or_as_base64(ask, locks):
    payload = b"v1\x1b[2J" + b"x" * 100
    locks.mutex("k", payload=payload).acquire()
    said = ask("show", "k").stdout
    assert "it carries 106 bytes: b'v1\\x1b[2Jxxx" in said
    assert "\x1b" not in said
    document = json.loads(ask("show", "k", "--json").stdout)
    assert set(document) == FIELDS | {"payload"}
    assert set(document["holders"][0]) == OF_A_HOLDER
    assert base64.b64decode(document["payload"]) == payload


def test_a_free_lock_that_carries_something_is_shown_with_it(ask, locks):
    with locks.mutex("k", payload=b"x"):
        ...
    assert ask("show", "k").stdout.splitlines() == ["k is a mutex, free, with 0 waiting.", "  it carries 1 byte: b'x'"]
