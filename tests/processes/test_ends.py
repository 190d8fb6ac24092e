"""How a process ends with leases in its hand: in good order, by Ctrl-C, by exit in a thread, or killed."""

from __future__ import annotations

import signal

import pytest

import holdfast

AT_MOST = 30.0


@pytest.fixture
def locks(url):
    with holdfast.connect(url) as client:
        yield client


def test_the_end_of_the_interpreter_gives_everything_back(run, locks, tmp_path):
    run(
        """
locks = holdfast.connect(URL)
leases = [locks.mutex(f"k{number}").acquire() for number in range(50)]
reader = locks.rwlock("rw").reader.acquire()
"""
    )
    assert not list(locks.list())
    assert len(list((tmp_path / "locks.db-clients").iterdir())) <= 1, "only ours"


def test_an_error_that_nobody_catches_gives_everything_back(start, locks):
    process = start('locks = holdfast.connect(URL)\nlocks.mutex("k").acquire()\nraise SystemError("crash")\n')
    process.communicate(timeout=AT_MOST)
    assert process.returncode == 1
    assert locks.mutex("k").try_acquire() is not None


def test_a_thread_that_waits_for_ever_does_not_keep_the_process(start, locks):
    """Interpreter exit sends waiters away."""
    lease = locks.mutex("k").acquire()
    process = start(
        """
import threading
locks = holdfast.connect(URL)

def wait():
    try:
        locks.mutex("k").acquire()
    except holdfast.HoldfastError:
        pass

threading.Thread(target=wait, daemon=True).start()
print("waits", flush=True)
sys.stdin.read()
"""
    )
    assert process.stdout.readline() == "waits\n"
    out, err = process.communicate(timeout=AT_MOST)
    assert (process.returncode, out, err) == (0, "", "")
    lease.ensure()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_it_waits(start, locks, number):
    """Ctrl-C is KeyboardInterrupt out of `acquire`, at once; nobody is left in line."""
    lease = locks.mutex("k").acquire()
    process = start(
        """
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
locks = holdfast.connect(URL)
print("asks", flush=True)
try:
    locks.mutex("k").acquire()
except KeyboardInterrupt:
    sys.exit(6)
"""
    )
    assert process.stdout.readline() == "asks\n"
    wait_for_line(locks)
    process.send_signal(number)
    out, err = process.communicate(timeout=AT_MOST)
    assert (process.returncode, out, err) == ({signal.SIGINT: 6, signal.SIGTERM: 7}[number], "", "")
    assert locks.inspect("k").waiting == 0
    lease.ensure()


def test_a_killed_holder_is_followed_at_once_and_its_fence_too(start, locks):
    process = start(
        """
locks = holdfast.connect(URL, ttl=600)
print(locks.mutex("k").acquire().fence, flush=True)
sys.stdin.read()
"""
    )
    fence = int(process.stdout.readline())
    assert locks.mutex("k").try_acquire() is None
    process.kill()
    process.wait()
    lease = locks.mutex("k").try_acquire()
    assert lease is not None, "asking is enough: nobody has to wait"
    assert lease.fence > fence


def test_killed_at_any_instant(start, locks):
    """A process that takes and gives back all the time is killed in the middle of it, again and again."""
    fence = 0
    for _ in range(10):
        process = start(
            """
locks = holdfast.connect(URL, ttl=600)
print("goes", flush=True)
while True:
    for key in "abc":
        with locks.mutex(key), locks.semaphore("s" + key, 2):
            pass
"""
        )
        assert process.stdout.readline() == "goes\n"
        process.kill()
        process.wait()
        for key in "abc":
            with locks.mutex(key).acquire(timeout=AT_MOST) as lease:
                assert lease.fence > fence
                fence = lease.fence
            with locks.semaphore("s" + key, 2, weight=2).acquire(timeout=AT_MOST):
                pass
    assert not list(locks.list())


def wait_for_line(locks, key="k"):
    for _ in range(3000):
        if locks.inspect(key).waiting:
            return
    raise AssertionError("nobody got in line")
