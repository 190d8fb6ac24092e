"""`holdfast wait`: until a lock is free, or held, without taking it."""

from __future__ import annotations

import json
import signal

import pytest
from commanding import AT_MOST, end, is_sentence


def test_what_is_so_already_needs_no_waiting(ask, locks):
    assert ask("wait", "k") == (0, "", "")
    lease = locks.mutex("k").acquire()
    assert ask("wait", "k", "--held") == (0, "", "")
    lease.release()
    assert ask("wait", "k", "--free", "--timeout", "0") == (0, "", "")


def test_not_in_time_is_75_and_says_what_it_is(ask, locks):
    said = ask("wait", "k", "--held", "--timeout", "0")
    assert (said.returncode, said.stdout) == (75, "")
    assert "'k' is free still" in said.stderr
    locks.mutex("k").acquire()
    for timeout in ("0", "10ms"):
        said = ask("wait", "k", "--timeout", timeout)
        assert said.returncode == 75
        assert "'k' is held still" in said.stderr
        assert is_sentence(said.stderr)


def test_a_lock_that_carries_something_is_free(ask, locks):
    with locks.mutex("k", payload=b"x"):
        ...
    assert ask("wait", "k", "--timeout", "0").returncode == 0


def test_json_says_what_was_seen(ask, locks):
    free = json.loads(ask("wait", "k", "--json").stdout)
    assert free.pop("waited") >= 0
    assert free == {"key": "k", "held": False, "reached": True}
    said = ask("wait", "k", "--held", "--timeout", "0", "--json")
    assert said.returncode == 75
    assert is_sentence(said.stderr)
    seen = json.loads(said.stdout)
    del seen["waited"]
    assert seen == {"key": "k", "held": False, "reached": False}


def test_it_goes_on_when_the_lock_is_given_back_and_not_before(hold, start):
    holder = hold("k")
    waiter = start("wait", "k", "-v")
    assert "is held: waiting" in waiter.stderr.readline()  # it has looked
    assert waiter.poll() is None
    assert end(holder) == 0
    assert waiter.wait(AT_MOST) == 0


def test_it_goes_on_when_the_lock_is_taken(locks, start):
    waiter = start("wait", "k", "--held", "-v")
    assert "is free: waiting" in waiter.stderr.readline()
    locks.mutex("k").acquire()
    assert waiter.wait(AT_MOST) == 0


def test_it_takes_nothing_and_stands_in_no_line(ask, locks, start):
    lease = locks.mutex("k").acquire()
    waiter = start("wait", "k", "-v")
    assert waiter.stderr.readline()
    assert json.loads(ask("show", "k", "--json").stdout)["waiting"] == 0
    lease.release()
    assert waiter.wait(AT_MOST) == 0
    assert ask("ls") == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_it_leaves_quietly(locks, start, number):
    locks.mutex("k").acquire()
    waiter = start("wait", "k", "-v")
    assert waiter.stderr.readline()
    waiter.send_signal(number)
    assert waiter.communicate(timeout=AT_MOST) == ("", "")
    assert waiter.returncode in (128 + number, -number)  # to a shell they are the same
