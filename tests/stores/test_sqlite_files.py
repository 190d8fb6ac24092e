"""The file: where it is, who may read it, and what happens when it is not what it should be.

Each time: one clear error, nothing lost, and it works again when the cause is gone.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest

import holdfast
from holdfast import BadRecord, ConfigError, StoreUnavailable
from holdfast.stores.sqlite import connection, files
from holdfast.url import default_url


@pytest.fixture
def locks(url):
    with holdfast.connect(url) as client:
        yield client


def works(locks, key="k"):
    with locks.mutex(key).acquire(timeout=10) as lease:
        lease.ensure()
    return True


# --- where it is ----------------------------------------------------------------------------------------------------


def test_only_its_owner_may_read_it(locks, path):
    assert works(locks)
    for name in (path, f"{path}-wal", f"{path}-shm"):
        assert os.stat(name).st_mode & 0o777 == 0o600, name
    assert os.stat(f"{path}-clients").st_mode & 0o777 == 0o700


def test_what_is_left_when_all_have_closed(url, path):
    with holdfast.connect(url) as one, holdfast.connect(url) as two:
        assert works(one)
        assert two.mutex("k").acquire()
    assert [entry.name for entry in path.parent.iterdir() if entry.is_file()] == ["locks.db"]
    assert not list((path.parent / "locks.db-clients").iterdir())


@pytest.mark.parametrize("name", ["a b.db", "é.db", "50%25.db", "a%3Fb.db", "x" * 120 + ".db"])
def test_names_of_every_shape(tmp_path, name):
    with holdfast.connect(f"sqlite:///{tmp_path}/{name}") as locks:
        assert works(locks)
    assert len([entry for entry in tmp_path.iterdir() if entry.is_file()]) == 1


def test_a_relative_path_is_meant_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with holdfast.connect("sqlite:///here.db") as locks:
        monkeypatch.chdir("/")
        assert works(locks)
    assert (tmp_path / "here.db").exists()


@pytest.mark.parametrize(
    ("platform", "variable", "end"),
    [
        ("linux", "XDG_STATE_HOME", "holdfast/locks.db"),
        ("darwin", "HOME", "Library/Application Support/holdfast/locks.db"),
        ("win32", "LOCALAPPDATA", "holdfast/locks.db"),
    ],
)
def test_without_a_url_it_is_in_the_users_own_state(platform, variable, end, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert default_url().replace("\\", "/") == f"sqlite:///{tmp_path}/{end}"


def test_the_default_is_made_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("HOLDFAST_URL", raising=False)
    with holdfast.connect() as locks:
        assert works(locks)
    folder = tmp_path / "state" / "holdfast"
    assert (folder.stat().st_mode & 0o777, (folder / "locks.db").stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_state_folder_that_can_not_be_made_is_said_to_be(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.delenv("HOLDFAST_URL", raising=False)
    with pytest.raises(StoreUnavailable, match=r"can't be created \(.*\): name a file elsewhere"):
        holdfast.connect()


def test_a_state_folder_that_depends_on_where_one_is_is_ignored(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    assert default_url() == f"sqlite:///{os.path.expanduser('~')}/.local/state/holdfast/locks.db"


def test_from_a_folder_that_was_removed_nothing_can_be_named(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ConfigError, match="a folder that was removed"):
        holdfast.connect("sqlite:///locks.db")


# --- what can't work ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rest", "sentence"),
    [
        ("//host/locks.db", "names a server"),
        ("///", "names a file"),
        ("///{tmp}/", "names a file"),
        ("///{tmp}", "is a folder"),
        ("///{tmp}/no/locks.db", "does not exist: create it"),
        ("///{tmp}/l.db?synchronous=off", "choose normal or full"),
        ("///{tmp}/l.db?busy_timeout=soon", "no number of seconds"),
        ("///{tmp}/l.db?busytimeout=1", "did you mean 'busy_timeout'"),
    ],
)
def test_a_url_that_can_not_work_says_why(rest, sentence, tmp_path):
    with pytest.raises(ConfigError, match=sentence):
        holdfast.connect("sqlite:" + rest.format(tmp=tmp_path))


def test_a_network_file_system_is_refused_unless_allowed(url, monkeypatch):
    monkeypatch.setattr(files, "file_system", lambda _folder: "nfs4")
    with pytest.raises(ConfigError, match=r"nfs4.*network_fs=allow"):
        holdfast.connect(url)
    with holdfast.connect(url + "?network_fs=allow") as locks:
        assert works(locks)


def test_a_file_system_is_known_by_its_nearest_mount():
    assert files.file_system("/proc/self") == "proc"
    assert files.file_system("/") not in files.NETWORK


def test_something_else_is_left_as_it_is(path, url):
    path.write_bytes(b"this is no database, but somebody's diary\n" * 100)
    before = path.read_bytes()
    with pytest.raises(BadRecord, match="restore it, or name another file"):
        holdfast.connect(url)
    assert path.read_bytes() == before
    path.unlink()
    with holdfast.connect(url) as locks:
        assert works(locks)


def test_a_file_of_a_newer_version_is_left_as_it_is(path, url):
    with holdfast.connect(url) as locks:
        locks.mutex("k", payload=b"p").acquire()
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute("update holdfast_meta set value = 99 where name = 'version'")
    with pytest.raises(BadRecord, match=r"version 99.*upgrade holdfast"):
        holdfast.connect(url)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("update holdfast_meta set value = 1 where name = 'version'")
    with holdfast.connect(url) as locks:
        assert locks.inspect("k").payload == b"p"


@pytest.mark.parametrize("record", [b"2 what comes next\n", b"\x00garbage", b""])
def test_a_record_that_can_not_be_read_is_left_and_the_others_work(path, locks, record):
    with locks.mutex("bad", payload=b"p"):
        pass
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("update holdfast_locks set record = ? where key like '%bad'", (record,))
    with pytest.raises(BadRecord, match="upgrade holdfast") as caught:
        locks.mutex("bad").try_acquire()
    assert "bad" in caught.value.key
    assert works(locks, "good")
    with closing(sqlite3.connect(path)) as raw, raw:
        assert raw.execute("select record from holdfast_locks where key like '%bad'").fetchone()[0] == record


# --- what goes wrong while it runs -------------------------------------------------------------------------------------


def test_who_only_reads_the_file_is_in_nobodys_way(path, locks):
    assert works(locks)
    reader = sqlite3.connect(path)
    reader.execute("begin")
    reader.execute("select * from holdfast_locks").fetchall()
    assert works(locks)
    reader.close()


def test_who_keeps_the_file_locked_is_waited_for_and_then_complained_of(path, url):
    with holdfast.connect(url + "?busy_timeout=0.05") as locks:
        assert works(locks)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("begin exclusive")
        with pytest.raises(StoreUnavailable, match="find the one that reads or copies it"):
            locks.mutex("k").try_acquire()
        other.execute("rollback")
        other.close()
        assert works(locks)


def test_a_full_disk_is_said_to_be_full(path, url):
    with holdfast.connect(url) as locks:
        held = locks.mutex("held").acquire()
        cursor = locks.driver.transport._connection.cursor
        cursor.execute("pragma max_page_count = 1")  # SQLite takes what there is already for the least
        with pytest.raises(StoreUnavailable, match="disk is full: make room"):
            for number in range(2000):
                locks.mutex(f"{number}" * 50).acquire()
        assert works(locks, "again"), "the connection was opened anew, and there is room"
        held.ensure()
        held.renew()


PROGRAM = """
import os, resource, signal, sys, holdfast, sqlite3
locks = holdfast.connect(sys.argv[1])
held = locks.mutex("held").acquire()
{trouble}
try:
    for number in range(5000):
        locks.mutex(str(number) * 50).acquire(timeout=0)
except holdfast.StoreError as error:
    print(type(error).__name__)
{relief}
held.renew()
with locks.mutex("again").acquire(timeout=5):
    print("works")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_file_that_may_not_grow(url):
    """The write itself fails, as on a disk that fails."""
    said = trouble(
        url,
        "limit = resource.getrlimit(resource.RLIMIT_FSIZE); resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limit[1]))",
        "resource.setrlimit(resource.RLIMIT_FSIZE, limit)",
    )
    assert said in (["StoreUnavailable", "works"], ["OutcomeUnknown", "works"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs somebody else to become")
def test_a_folder_of_somebody_else(tmp_path, url):
    """Who may not write is told so before anything is asked for."""
    tmp_path.chmod(0o755)
    program = f"""
    import os, holdfast
    holdfast.connect({url!r} + "2").close()
    holdfast.StoreUnavailable
    os.seteuid(65534)
    try:
        holdfast.connect({url!r})
    except holdfast.StoreUnavailable as error:
        print("make its folder writable" in str(error))
    """
    for parent in tmp_path.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o055)
    assert python(textwrap.dedent(program)) == ["True"]


def trouble(url, begin, end):
    return python(PROGRAM.format(trouble=begin, relief=end), url)


def python(program, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_file_that_is_taken_away_is_noticed(path, locks, monkeypatch):
    """Or two processes would hold the same lock, each in a file of its own."""
    monkeypatch.setattr(connection, "CHECK_EVERY", -1)
    lease = locks.mutex("k").acquire()
    path.rename(path.with_suffix(".gone"))
    with pytest.raises(StoreUnavailable, match="removed or replaced"):
        locks.mutex("other").try_acquire()
    assert works(locks, "other"), "it works with a new file"
    with pytest.raises(holdfast.LeaseLost) as caught:
        lease.renew()
    assert caught.value.reason == "stolen"
