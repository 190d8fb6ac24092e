"""`holdfast break`: from whom it takes a lock.  What it asks in a terminal is in test_command_terminal.py."""

from __future__ import annotations

import json

from commanding import is_sentence

FORCE = ("--reason", "the host is gone", "--yes")


def test_it_takes_the_lock_and_says_so(ask, locks):
    locks.mutex("k").acquire()
    assert ask("break", "k", *FORCE) == (0, "k was taken from its holder.\n", "")
    assert locks.inspect("k") is None
    assert ask("break", "k", *FORCE) == (0, "k is not held: nothing done.\n", "")


def test_the_holder_is_told_by_whom_and_why(ask, locks):
    lease = locks.mutex("k").acquire()
    ask("break", "k", *FORCE)
    try:
        lease.renew()
    except Exception as error:
        told = error
    assert type(told).__name__ == "LeaseLost"
    assert told.reason == "broken"
    assert "the host is gone" in str(told)
    assert "pid " in str(told)


def test_only_the_one_with_that_fence(ask, locks, client):
    readers = [client().rwlock("k").reader.acquire() for _ in range(3)]
    middle = readers[1].fence
    assert ask("break", "k", *FORCE, "--fence", str(middle)).stdout == "k was taken from its holder.\n"
    assert {holder.fence for holder in locks.inspect("k").holders} == {readers[0].fence, readers[2].fence}
    again = ask("break", "k", *FORCE, "--fence", str(middle))
    assert (again.returncode, again.stdout) == (0, f"k is not held with fence {middle}: nothing done.\n")
    assert len(locks.inspect("k").holders) == 2


def test_without_a_fence_from_all(ask, locks):
    for _ in range(3):
        locks.semaphore("k", 5).acquire()
    assert ask("break", "k", *FORCE).returncode == 0
    assert locks.inspect("k") is None


def test_json(ask, locks):
    locks.mutex("k").acquire()
    assert json.loads(ask("break", "k", *FORCE, "--json").stdout) == {"key": "k", "broken": True}
    assert json.loads(ask("break", "k", *FORCE, "--json").stdout) == {"key": "k", "broken": False}


def test_without_a_terminal_it_wants_to_be_told_twice(holdfast, locks):
    locks.mutex("k").acquire()
    for stdin in ("", "y\n"):
        done = holdfast("break", "k", "--reason", "r", stdin=stdin)
        assert (done.returncode, done.stdout) == (64, "")
        assert "add --yes" in done.stderr
        assert is_sentence(done.stderr)
    assert locks.inspect("k").holders


def test_a_reason_is_required_and_says_something(ask, locks):
    locks.mutex("k").acquire()
    for reason in ((), ("--reason", ""), ("--reason", "  ")):
        said = ask("break", "k", "--yes", *reason)
        assert (said.returncode, said.stdout) == (64, "")
        assert "--reason" in said.stderr
    assert locks.inspect("k").holders


def test_the_next_in_line_has_it_then(ask, locks, holdfast, start):
    from commanding import AT_MOST, wait_for_waiter

    locks.mutex("k").acquire()
    heir = start("run", "k", "--", "echo", "mine")
    wait_for_waiter(holdfast, "k")
    assert ask("break", "k", *FORCE).returncode == 0
    assert heir.communicate(timeout=AT_MOST) == ("mine\n", "")
