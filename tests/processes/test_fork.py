"""After a fork the child holds nothing and works on its own; the parent is undisturbed."""

from __future__ import annotations

import os
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

FORK = """
def forked(work):
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(write, repr(work()).encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    with open(read) as told:
        said = told.read()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return eval(said)

import warnings
warnings.simplefilter("ignore", DeprecationWarning)
"""


def test_the_child_holds_nothing_and_the_parent_still_does(run):
    assert run(
        FORK
        + """
locks = holdfast.connect(URL)
lease = locks.mutex("k").acquire()

def child():
    assert lease.lost == "forked" and lease.remaining == 0
    try:
        lease.ensure()
    except holdfast.LeaseLost as error:
        assert error.reason == "forked"
    lease.release()
    assert locks.mutex("k").try_acquire() is None, "it is the parent's"
    mine = locks.mutex("child").acquire()
    mine.renew()
    return mine.fence

fence = forked(child)
assert lease.lost is None
lease.renew()
other = holdfast.connect(URL)
assert other.mutex("k").try_acquire() is None
assert other.mutex("child").acquire(timeout=10).fence > fence, "the child's end was seen"
lease.release()
assert other.mutex("k").try_acquire()
print("good")
"""
    ) == ["good"]


def test_a_block_that_a_child_leaves_disturbs_nobody(run):
    assert run(
        FORK
        + """
locks = holdfast.connect(URL)

def child():
    try:
        with inside:
            pass
    except holdfast.LeaseLost as error:
        return error.reason

with locks.mutex("k").acquire() as inside:
    assert forked(child) == "forked"
    inside.ensure()
print("good")
"""
    ) == ["good"]


def test_a_child_that_asks_for_nothing_leaves_nothing(run, tmp_path):
    run(
        FORK
        + """
locks = holdfast.connect(URL)
locks.mutex("k").acquire()
for _ in range(3):
    forked(lambda: 1)
"""
    )
    assert not list((tmp_path / "locks.db-clients").iterdir())


def test_forked_while_the_keeper_is_at_work(run):
    """Whatever the parent's other threads have locked, the child does not wait for it."""
    assert run(
        FORK
        + """
locks = holdfast.connect(URL)
lease = locks.mutex("k").acquire()
with lease.site.keeper._mutex, locks.driver.transport._mutex:
    def child():
        lease.release()
        assert lease.lost == "forked"
        return locks.mutex("child").acquire(timeout=10).fence
    assert forked(child)
lease.ensure()
print("good")
"""
    ) == ["good"]


def test_a_server_that_forks_its_workers(run):
    """Connected before the fork, as gunicorn does with preload: each worker is a client, and they exclude each other."""
    out = run(
        """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
locks = holdfast.connect(URL)
with locks.mutex("warm up"):
    pass
counter = os.path.join(os.path.dirname(URL[10:]), "counter")
open(counter, "w").write("0")
workers = []
for _ in range(4):
    pid = os.fork()
    if not pid:
        code = 1
        try:
            for _ in range(25):
                with locks.mutex("counter", ttl=10) as lease:
                    number = int(open(counter).read())
                    open(counter, "w").write(str(number + 1))
            locks.close()
            code = 0
        finally:
            os._exit(code)
    workers.append(pid)
print(*(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in workers), open(counter).read())
"""
    )
    assert out == ["0", "0", "0", "0", "100"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(run, method):
    if sys.platform == "win32" and method != "spawn":
        pytest.skip("Windows only spawns")
    out = run(
        f"""
import multiprocessing, warnings
warnings.simplefilter("ignore", DeprecationWarning)

def work(url, path):
    with holdfast.connect(url) as locks:
        for _ in range(20):
            with locks.mutex("counter"):
                number = int(open(path).read())
                open(path, "w").write(str(number + 1))

if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    locks = holdfast.connect(URL)
    lease = locks.mutex("held by the parent").acquire()
    path = os.path.join(os.path.dirname(URL[10:]), "counter")
    open(path, "w").write("0")
    workers = [context.Process(target=work, args=(URL, path)) for _ in range(3)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    lease.ensure()
    print(*(worker.exitcode for worker in workers), open(path).read())
"""
    )
    assert out == ["0", "0", "0", "60"]


def test_a_client_of_asyncio_says_that_a_child_can_not_use_it(run):
    assert run(
        FORK
        + """
import asyncio

async def main():
    locks = await holdfast.connect_async(URL)
    lease = await locks.mutex("k").acquire()
    def child():
        try:
            locks.mutex("k")
        except holdfast.ConfigError:
            return lease.lost
    assert forked(child) == "forked"
    lease.ensure()
    await locks.close()
    print("good")

asyncio.run(main())
"""
    ) == ["good"]
