"""A password is in nothing that holdfast shows: no repr, message, log, event, pickle or traceback."""

from __future__ import annotations

import asyncio
import pickle
import traceback

import pytest

import holdfast
from holdfast import HoldfastError
from holdfast.stores import Endpoint
from holdfast.stores.memory import backend as memory
from holdfast.url import parse

CANARY = "canary-5f0c"
ENCODED = "%63anary-5f0c"


@pytest.fixture
def secret_store(monkeypatch):
    """A store whose URLs have everything that can be secret."""
    monkeypatch.setattr("holdfast.url._registered", {})
    options = ("password", "api_key", "secret", "auth_token", "sslpassword", "passfile")
    holdfast.register("guarded", memory._replace(options=options))
    return f"guarded://me:{CANARY}@host:1/db?password={CANARY}&api_key={ENCODED}&auth_token={CANARY}&secret={CANARY}"


def shown(thing):
    """Every way to show it."""
    return "\n".join([repr(thing), str(thing), f"{thing}", f"{thing!a}", "{}".format(thing)])  # noqa: UP032


def everything_of(error):
    """The error in every way it can be shown, handed on or printed."""
    return "\n".join(
        [
            shown(error),
            repr(error.args),
            repr(vars(error)),
            repr(pickle.dumps(error)),
            *traceback.format_exception(error),
            *(shown(cause) for cause in (error.__cause__, error.__context__)),
        ]
    )


def test_no_repr_shows_it(secret_store):
    with holdfast.connect(secret_store, secret=CANARY) as locks:
        lock = locks.mutex("k")
        lease = lock.acquire()
        things = [
            locks,
            locks.address,
            parse(secret_store),
            Endpoint(parse(secret_store), "c"),
            lock,
            lease,
            locks.pool("p"),
            locks.election("e"),
            locks.once("o", every=1),
            locks.rwlock("r"),
            locks.all_of(lock),
            locks.inspect("k"),
            list(locks.list()),
            holdfast.connect_async(secret_store),
        ]
        for thing in things:
            assert CANARY not in shown(thing), type(thing)
        assert "me:***@host:1/db" in repr(locks)
    assert CANARY not in repr(locks)
    assert locks.address.password == CANARY, "it was there to be shown"


def test_no_error_log_or_event_shows_it(secret_store, caplog, capfd):
    caplog.set_level(0)
    events, errors = [], []

    def note(call):
        try:
            call()
        except HoldfastError as error:
            errors.append(error)

    with holdfast.connect(secret_store, hooks=[events.append]) as locks:
        lease = locks.mutex("k").acquire()
        note(locks.mutex("k").acquire)
        note(lambda: locks.mutex("k").acquire(0))
        note(lambda: locks.semaphore("k", 3).acquire())
        note(lambda: locks.mutex("k", ttl=0))
        note(lambda: locks.mutex(""))
        note(lambda: locks.mutex("k", on_lost="cancel"))
        note(locks.all_of)
        locks.break_lock("k")
        note(lease.renew)
        note(lease.ensure)
    note(lambda: locks.mutex("k"))
    note(lambda: locks.inspect("k"))
    note(lock_made_before(secret_store).acquire)
    assert len(errors) == 12
    for error in errors:
        assert CANARY not in everything_of(error)
    assert len(events) > 5
    assert CANARY not in repr(events) + caplog.text + "".join(capfd.readouterr())


def lock_made_before(url):
    """A lock whose client is closed."""
    with holdfast.connect(url) as locks:
        return locks.mutex("k")


BAD = [
    f"no-such-scheme://me:{CANARY}@host/",
    f"no-such-scheme:{CANARY}",
    f"{CANARY}",
    f"sqlite:{CANARY}",
    f"sqlite://me:{CANARY}@host/locks.db",
    f"sqlite:///locks.db?password={CANARY}",
    f"memory://host?password={CANARY}",
    f"memory://host?password={CANARY}&password={CANARY}",
    f"memory://host?{CANARY}",
    f"memory://me:{CANARY}@host:port",
    f"memory://me:x/{CANARY}@host",
    f"memory://me:1/{CANARY}@host",
    f"memory://me:{CANARY}/x@host",
    f"memory://me:{CANARY}?x@host",
    f"memory://me:{CANARY}#x@host:y",
    f"sqlite:///no/such/folder/locks.db?synchronous=x&password={CANARY}",
]


@pytest.mark.parametrize("url", BAD)
def test_no_message_about_a_bad_url_shows_it(url):
    def use():
        with holdfast.connect(url) as locks, locks.mutex("k"):
            pass

    async def use_async():
        async with holdfast.connect_async(url) as locks, locks.mutex("k"):
            pass

    for call in (use, lambda: asyncio.run(use_async())):
        with pytest.raises(HoldfastError) as caught:
            call()
        assert CANARY not in everything_of(caught.value)


@pytest.mark.parametrize("name", ["password", "api_key", "no_such_option"])
def test_no_message_about_a_bad_option_shows_it(name):
    with pytest.raises(HoldfastError) as caught:
        holdfast.connect("memory:", **{name: CANARY})
    assert CANARY not in everything_of(caught.value)


def test_a_users_own_driver_object_is_not_shown(monkeypatch):
    class Driver:
        """Its repr shows all it knows, as some do."""

        def __repr__(self):
            return f"Driver({CANARY})"

    Driver.__module__ = "somedb"
    with pytest.raises(HoldfastError) as caught:
        holdfast.connect(Driver())
    assert CANARY not in everything_of(caught.value)
    monkeypatch.setattr("holdfast.url._registered", {"some": memory})
    monkeypatch.setattr("holdfast.url.DRIVERS", {"somedb": "some"})
    with holdfast.connect(Driver()) as locks:
        assert CANARY not in shown(locks)
        assert CANARY not in shown(locks.mutex("k").acquire())


def test_what_is_not_secret_is_shown(secret_store):
    with holdfast.connect(secret_store) as locks:
        assert "guarded://me:***@host:1/db?password=***" in repr(locks)
