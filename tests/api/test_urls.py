"""URLs: what they mean, and what is said of those that mean nothing."""

from __future__ import annotations

import asyncio
import os

import pytest

import holdfast
from holdfast import ConfigError
from holdfast.stores.memory import AsyncMemoryTransport, MemoryTransport, backend as memory
from holdfast.url import BUILT_IN, CLIENT_OPTIONS, default_url, locate, parse


def test_a_url_is_taken_apart():
    address = parse("redis+cluster://us%40er:p%2Fw%3A@h1:1,h2:2,[::1]:3/db%20x?a=1&b=%26")
    assert address == ("redis", "cluster", "us@er", "p/w:", "h1:1,h2:2,[::1]:3", "/db x", {"a": "1", "b": "&"})
    assert parse("memory:") == ("memory", "", "", "", "", "", {})
    assert parse("sqlite:////abs/locks.db").path == "//abs/locks.db"
    assert parse("SQLITE:///x").scheme == "sqlite"


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "this is no URL: write scheme://"),
        ("localhost", "this is no URL"),
        ("/var/locks.db", "this is no URL"),
        ("://x", "this is no URL"),
        ("a b://x", "this is no URL"),
        ("sqlite:locks.db", "a sqlite URL begins with sqlite://, or is sqlite: alone"),
        ("sqlite:///x?synchronous", "an option of a sqlite URL is name=value"),
        ("sqlite:///x?=full", "an option of a sqlite URL is name=value"),
        ("sqlite:///x?a=1&a=2", "the option 'a' stands twice in the sqlite URL: keep one"),
        ("memory://host:port", "a port in the memory URL is no number up to 65535"),
        ("memory://host:65536", "no number up to 65535"),
        ("memory://h1:1,h2:-2", "no number up to 65535"),
    ],
)
def test_what_is_no_url_is_refused(url, sentence):
    with pytest.raises(ConfigError, match=sentence):
        holdfast.connect(url)
    with pytest.raises(ConfigError, match=sentence):
        holdfast.connect_async(url)


@pytest.mark.parametrize(
    ("scheme", "sentence"),
    [
        ("sqlight", r"no backend serves sqlight:// URLs \(did you mean 'sqlite'\?\); there are .*memory, sqlite"),
        ("memry", r"did you mean 'memory'\?"),
        ("zzz", "no backend serves zzz:// URLs; there are"),
    ],
)
def test_an_unknown_scheme_is_told_the_nearest(scheme, sentence):
    with pytest.raises(ConfigError, match=sentence):
        holdfast.connect(f"{scheme}://x")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("sqlite:///x?synchronos=full", r"sqlite has no option 'synchronos' \(did you mean 'synchronous'\?\); it has"),
        ("sqlite:///x?zzz=1", "sqlite has no option 'zzz'; it has synchronous, network_fs, busy_timeout"),
        ("memory:?x=1", "memory has no option 'x'; it has none"),
        ("sqlite:///x?synchronous=ful", "synchronous='ful' is not known: choose"),
        ("sqlite:///x?busy_timeout=soon", "busy_timeout='soon' is no number of seconds from 0 to 3600"),
        ("sqlite:///x?busy_timeout=-1", "busy_timeout='-1' is no number"),
        ("sqlite:///x?busy_timeout=nan", "busy_timeout='nan' is no number"),
        ("sqlite://server/x.db", "names a server, and SQLite has none: write three slashes"),
        ("sqlite://", "a sqlite URL names a file"),
    ],
)
def test_what_an_option_can_not_be_is_refused(url, sentence):
    with pytest.raises(ConfigError, match=sentence):
        holdfast.connect(url)


def test_options_may_be_given_beside_the_url_and_win():
    address, _ = locate("sqlite:///x?busy_timeout=1&synchronous=full", {"busy_timeout": 2})
    assert address.options == {"busy_timeout": "2", "synchronous": "full"}
    with pytest.raises(ConfigError, match="memory has no option 'busy_timeout'"):
        holdfast.connect("memory:", busy_timeout=2)


def test_without_a_url_it_is_that_of_the_environment_or_a_file_of_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("HOLDFAST_URL", "memory://from-the-environment")
    assert "memory://from-the-environment" in repr(holdfast.connect())
    monkeypatch.setenv("HOLDFAST_URL", "")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state ?%"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "state ?%"))
    monkeypatch.setenv("HOME", str(tmp_path))
    with holdfast.connect() as locks, locks.mutex("k"):
        path = parse(default_url()).path[1:]
        assert os.path.exists(path)
        assert path.startswith(str(tmp_path))


def test_memory_urls_with_a_name_are_shared_and_others_are_not():
    with holdfast.connect("memory://shared") as one, holdfast.connect("memory://shared") as two, one.mutex("k"):
        assert two.mutex("k").try_acquire() is None
    with holdfast.connect("memory:") as one, holdfast.connect("memory:") as two, one.mutex("k"):
        assert two.mutex("k").try_acquire() is not None


# --- backends of others -----------------------------------------------------------------------------------------------


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr("holdfast.url._registered", {})
    monkeypatch.setattr("holdfast.url.DRIVERS", {})


def test_a_registered_scheme_is_served(registry):
    holdfast.register("mine", memory)
    with holdfast.connect("mine://x") as locks, locks.mutex("k") as lease:
        lease.ensure()
    with pytest.raises(ConfigError, match=r"did you mean 'mine'\?\); there are memory, mine, sqlite"):
        holdfast.connect("mime://x")


def test_a_backend_of_one_colour_says_which(registry):
    holdfast.register("sync", memory._replace(async_transport=None))
    holdfast.register("later", memory._replace(transport=None))
    with pytest.raises(ConfigError, match=r"later works with asyncio only: use connect_async\(\)"):
        holdfast.connect("later:")

    async def main():
        with pytest.raises(ConfigError, match=r"sync works without asyncio only: use connect\(\)"):
            await holdfast.connect_async("sync:")

    asyncio.run(main())


def test_a_backend_whose_driver_is_missing_says_what_to_install(monkeypatch):
    monkeypatch.setitem(BUILT_IN, "elsewhere", ("no_such_module_xyz:backend", "pip install holdfast[elsewhere]"))
    with pytest.raises(ConfigError, match=r"no_such_module_xyz is not installed: pip install holdfast\[elsewhere\]"):
        holdfast.connect("elsewhere://x")


def test_a_users_own_driver_object_reaches_the_transport(registry, monkeypatch):
    class Pool:
        """Somebody's connection pool."""

    Pool.__module__ = "somedb.pool"
    seen = []

    def transport(endpoint):
        seen.append(endpoint.driver)
        return MemoryTransport(endpoint)

    def async_transport(endpoint):
        seen.append(endpoint.driver)
        return AsyncMemoryTransport(endpoint)

    holdfast.register("some", memory._replace(transport=transport, async_transport=async_transport))
    monkeypatch.setitem(holdfast.url.DRIVERS, "somedb", "some")
    pool = Pool()
    with holdfast.connect(pool) as locks, locks.mutex("k"):
        assert seen == [pool]

    async def main():
        async with holdfast.connect_async(pool) as locks, locks.mutex("k"):
            assert seen == [pool, pool]

    asyncio.run(main())


@pytest.mark.parametrize("target", [b"memory:", 5, object(), ["memory:"]])
def test_what_is_neither_a_url_nor_a_known_driver_is_refused(target):
    with pytest.raises(ConfigError, match=f"knows no store for a {type(target).__name__}: pass a URL"):
        holdfast.connect(target)


def test_tables_are_sorted():
    assert list(BUILT_IN) == sorted(BUILT_IN)


@pytest.mark.parametrize("option", CLIENT_OPTIONS)
def test_what_connect_itself_takes_is_told_of_when_it_stands_in_the_url(option):
    with pytest.raises(ConfigError, match=f"{option} is no option of a URL: write connect\\(..., {option}=...\\)"):
        holdfast.connect(f"sqlite:///x?{option}=5")
