"""A process that is stopped for longer than its lease lasts sees that before it believes in it again."""

from __future__ import annotations

import os
import signal

import pytest

import holdfast

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system can't stop a process")

HOLD = """
locks = holdfast.connect(URL)
lease = locks.mutex("k", ttl=0.5).acquire()
print("held", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
{believe}
"""


def stopped_and_overtaken(start, url, believe):
    """What it says that was stopped while it held the lock, and woken when somebody else had it."""
    process = start(HOLD.format(believe=believe))
    assert process.stdout.readline() == "held\n"
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    with holdfast.connect(url) as locks:
        lease = locks.mutex("k").acquire(timeout=30)
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=30)
        lease.ensure()
        assert locks.inspect("k").fence == lease.fence
    assert process.returncode == 0, err
    return out.strip(), err


def test_it_is_told_before_it_can_believe(start, url):
    said, err = stopped_and_overtaken(start, url, "print(lease.lost, lease.remaining)")
    assert said == "suspended 0.0"
    assert "lost the lease on 'k'" in err


def test_its_release_does_not_harm_the_next(start, url):
    said, _ = stopped_and_overtaken(start, url, 'lease.release(); print(locks.mutex("k").try_acquire())')
    assert said == "None"


def test_its_block_ends_with_the_loss(start, url):
    said, _ = stopped_and_overtaken(
        start,
        url,
        """
try:
    with lease:
        pass
except holdfast.LeaseLost as error:
    print(error.reason)
""",
    )
    assert said == "suspended"
