"""What SQLite as a store does of its own: statements, time, boots, what lasts, who lives, and waking others."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from threading import Event, Thread

import pytest

import holdfast
from holdfast.stores.here import Scan
from holdfast.stores.sqlite import connection, doorbell
from holdfast.testing import Faults
from holdfast.testing.contract import Scene


@pytest.fixture
def connect(url):
    """Makes clients, closed at the end."""
    made = []

    def new(options="", **settings):
        made.append(holdfast.connect(url + options, **settings))
        return made[-1]

    yield new
    for client in made:
        client.close()


@pytest.fixture
def statements():
    """The statements that a client sends to SQLite from now on."""

    def listen(client):
        seen = []
        client.driver.transport._connection._raw.set_trace_callback(
            lambda text: seen.append(text.split("(")[0].strip())
        )
        return seen

    return listen


def rows(path):
    with closing(sqlite3.connect(path)) as raw, raw:
        return raw.execute("select count(*) from holdfast_locks").fetchone()[0]


# --- how little it asks ---------------------------------------------------------------------------------------------


def test_a_lock_that_nobody_wants_costs_two_statements(connect, statements):
    locks = connect()
    seen = statements(locks)
    lease = locks.mutex("k").acquire()
    assert [text[:6] for text in seen] == ["insert"]
    lease.release()
    assert [text[:6] for text in seen] == ["insert", "delete"]


def test_a_lock_that_is_held_costs_one_statement_and_one_transaction(connect, statements):
    ours, theirs = connect(), connect()
    ours.mutex("k").acquire()
    seen = statements(theirs)
    assert theirs.mutex("k").try_acquire() is None
    assert [text[:6] for text in seen] == ["insert", "begin ", "select", "commit"]


def test_keys_that_nobody_uses_any_more_leave_nothing(connect, path):
    locks = connect()
    for number in range(2000):
        with locks.mutex(f"k{number}"):
            pass
    assert rows(path) == 0


def test_what_expired_and_was_never_asked_for_again_is_swept_away(connect, path, monkeypatch):
    monkeypatch.setattr(connection, "SWEEP_EVERY", 8)
    locks = connect()
    for number in range(100):
        locks.mutex(f"k{number}", ttl=0.02, renew=False).acquire()
    assert rows(path) > 50
    connect().mutex("k99").acquire(timeout=10).release()  # when it has expired, all have
    for number in range(100):
        with locks.mutex(f"other{number}"):
            pass
    assert rows(path) == 0


# --- time -----------------------------------------------------------------------------------------------------------


def test_setting_the_clock_changes_nothing(connect, monkeypatch):
    ours = connect()
    lease = ours.mutex("k").acquire()
    for moved in (-(10**15), 10**15):
        monkeypatch.setattr(connection.system_clock.__class__, "wall", lambda _self, moved=moved: 10**15 + moved)
        theirs = connect()
        assert theirs.mutex("k").try_acquire() is None
        remaining = theirs.inspect("k").holders[0].remaining
        assert 20 < remaining <= 30
    lease.ensure()
    lease.renew()


@pytest.mark.parametrize("wall", [1, 10**15, 4 * 10**15])
def test_a_reboot_voids_every_lease_and_no_fence_goes_back(connect, monkeypatch, wall):
    before = connect()
    before.pool("p").add("member")
    fences = [before.mutex("k", payload=b"kept").acquire().fence, before.pool("p").acquire().fence]
    monkeypatch.setattr(connection, "boot_id", lambda: "another boot")
    monkeypatch.setattr(connection.system_clock.__class__, "wall", lambda _self: wall)
    after = connect()
    assert [info.holders for info in after.list()] == [()]
    lease = after.mutex("k").acquire(timeout=0)
    assert lease.payload == b"kept"
    member = after.pool("p").acquire(timeout=0)
    assert min(lease.fence, member.fence) > max(fences)


def test_without_a_boot_id_a_monotonic_clock_that_starts_anew_is_a_reboot(connect, monkeypatch):
    monkeypatch.setattr(connection, "boot_id", lambda: "")
    before = connect()
    fence = before.mutex("k").acquire().fence
    assert connect().mutex("k").try_acquire() is None, "the same boot"
    monkeypatch.setattr(connection.system_clock.__class__, "ticks", lambda _self: 5)
    after = connect()
    assert after.mutex("k").acquire(timeout=0).fence > fence


# --- what lasts ------------------------------------------------------------------------------------------------------


def synced(seen):
    """For each transaction: whether it was on the disk before it ended."""
    level, found = "", []
    for text in seen:
        if text.startswith("pragma synchronous"):
            level = text.split()[-1]
        elif text.startswith("commit"):
            found.append(level == "full")
    return found


def test_what_promises_something_across_a_power_cut_is_on_the_disk(connect, statements):
    locks = connect()
    seen = statements(locks)
    pool = locks.pool("p")
    pool.add("member", b"payload")
    assert synced(seen) == [True]
    del seen[:]
    with locks.mutex("k", payload=b"1") as lease:
        lease.amend(b"2")
    assert synced(seen)[:2] == [True, True]
    del seen[:]
    locks.once("job", every=60)(bool)()
    assert True in synced(seen)
    del seen[:]
    with locks.rwlock("rw").reader, locks.semaphore("s", 2), pool.acquire():
        pass
    assert True not in synced(seen), "a lease is void after a power cut anyway"


def test_everything_can_be_on_the_disk(connect):
    locks = connect("?synchronous=full")
    cursor = locks.driver.transport._connection.cursor
    assert cursor.execute("pragma synchronous").fetchone() == (2,)
    locks.mutex("k", payload=b"1").acquire().release()
    assert cursor.execute("pragma synchronous").fetchone() == (2,)
    assert connect().driver.transport._connection.cursor.execute("pragma synchronous").fetchone() == (1,)


# --- who lives -------------------------------------------------------------------------------------------------------


def test_a_client_that_lives_is_not_called_dead_and_one_that_left_neither(connect):
    ours, theirs = connect(), connect()
    presence = ours.driver.transport._connection.presence
    assert not presence.is_dead(theirs.site.name)
    assert not presence.is_dead(ours.site.name)
    theirs.close()
    assert not presence.is_dead(theirs.site.name), "a file that is missing proves nothing"
    assert not presence.is_dead("../../etc/passwd")


def test_what_the_dead_left_behind_is_swept_away_in_time(connect, path, monkeypatch):
    connect()
    folder = path.parent / "locks.db-clients"
    for name in ("dead.live", "dead.bell", "alone.bell"):
        (folder / name).touch()
    connect()
    assert (folder / "dead.live").exists(), "whoever waits for it may still need the proof"
    monkeypatch.setattr("holdfast.stores.sqlite.presence.STALE", -1)
    connect()
    assert not (folder / "dead.live").exists()
    assert not (folder / "dead.bell").exists()


# --- waking others ---------------------------------------------------------------------------------------------------


def handed_on(ours, theirs):
    """Whether a waiter gets it from a holder in another client."""
    lease = ours.mutex("k").acquire()
    got = Event()

    def wait():
        with theirs.mutex("k").acquire(timeout=20):
            got.set()

    thread = Thread(target=wait)
    thread.start()
    while not (info := ours.inspect("k")) or not info.waiting:
        pass
    lease.release()
    thread.join(20)
    return got.is_set()


def test_a_waiter_is_woken_also_where_the_path_is_long(tmp_path):
    folder = tmp_path / ("x" * 100) / ("y" * 100)
    folder.mkdir(parents=True)
    url = f"sqlite:///{folder}/locks.db"
    faults = Faults()
    theirs = Scene(url, "threads", "").client(faults)
    with holdfast.connect(url) as ours, theirs:
        assert handed_on(ours, theirs)
    assert len(faults.requests) <= 4, "it asked, opened its ear and asked, was woken and asked, gave it back"


def test_where_no_socket_can_be_made_it_only_takes_longer(connect, monkeypatch):
    monkeypatch.setattr(doorbell, "open_inbox", lambda *_: None)
    ours, theirs = connect(), connect()
    assert handed_on(ours, theirs)
    assert theirs.site.bell.deaf
    assert not theirs.site.woken


def test_a_bell_that_nobody_answers_any_more_is_not_waited_for(connect):
    """The next in line died while it waited: whoever releases finds out, and wakes the one after it."""
    ours = connect()
    lease = ours.mutex("k").acquire()
    from holdfast.core.ops import Acquire, Want

    folder = ours.driver.transport._connection.presence.folder
    with open(f"{folder}/deadbeef.live", "w"):
        pass
    ours.driver.run(ours.site.store.apply(lease.store_key, Acquire("deadbeef.1", Want(), 600_000_000, "")))
    lease.release()
    assert connect().mutex("k").acquire(timeout=0)


def test_who_asks_while_another_thread_closes_is_sent_away(connect, path):
    """And does not open the file anew, nor claim to live."""
    locks = connect()
    transport = locks.driver.transport
    locks.close()
    with pytest.raises(holdfast.StoreError, match="closed meanwhile"):
        transport.send(Scan(":lock:", "", 1))
    with pytest.raises(holdfast.StoreError, match="closed meanwhile"):
        transport.listen(locks.site.bell)
    assert not list((path.parent / "locks.db-clients").iterdir())


# --- asyncio ---------------------------------------------------------------------------------------------------------


def test_the_loop_runs_on_while_somebody_else_has_the_file(url, path):
    async def main():
        async with holdfast.connect_async(url) as locks:
            async with locks.mutex("k"):
                pass
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("begin exclusive")
            task = asyncio.create_task(locks.mutex("k").try_acquire())
            for _ in range(100):
                await asyncio.sleep(0)
            assert not task.done()
            other.execute("rollback")
            other.close()
            assert await task is not None

    asyncio.run(main())


def test_the_log_is_copied_back_by_asyncio_as_well(url, path, monkeypatch):
    monkeypatch.setattr("holdfast.stores.sqlite.transport.AsyncSqliteTransport._until_checkpoint", 5)

    async def main():
        async with holdfast.connect_async(url) as locks:
            seen = []
            locks.driver.transport._connection._raw.set_trace_callback(seen.append)
            for _ in range(10):
                async with locks.mutex("k"):
                    pass
            assert [text for text in seen if "checkpoint" in text]

    asyncio.run(main())
