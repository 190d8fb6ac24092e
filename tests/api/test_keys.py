"""Keys: any text that can be stored is one, and no two of them are the same to a store."""

from __future__ import annotations

import random

import pytest

import holdfast
from holdfast import ConfigError
from holdfast.keys import head, member_of, pool_prefix
from holdfast.stores.here import pool_of

PIECES = [
    *":%/{}[]()*?.,;&|$#@!~^`'\"\\<> \t\n\r-_+=",
    *[
        "%3A",
        "%25",
        "%2F",
        "%20",
        "lock",
        "pool",
        "once",
        ":",
        "::",
        ":lock:",
        ":pool:",
        "../",
        "./",
        "//",
        "null",
        "None",
        "{0}",
        "${x}",
        "*",
    ],
    *"aAbBiIkKsS\u00e5\u00df\u01c6\u0130\u0131\u212a\u212b",
    "ss",
    "\u00e9",
    "e\u0301",
    *"\x01\x1f\x7f\x85\u00a0\u00ad\u200b\u200d\u202e\u2028\ufeff\ufffd\uffff\U0001f512\U0010ffff",
    "x" * 50,
]


def hostile(number, chance):
    """So many different names made of what has gone wrong somewhere."""
    names = set(PIECES)
    while len(names) < number:
        name = "".join(chance.choices(PIECES, k=chance.randint(1, 6)))
        if len(name.encode()) <= 512:
            names.add(name)
    return sorted(names)


@pytest.fixture(scope="module")
def names():
    return hostile(10_000, random.Random("holdfast"))


def test_ten_thousand_hostile_names_never_meet_in_one_key_of_the_store(names):
    chance = random.Random(1)
    seen = {}
    for name in names:
        namespace, area = chance.choice(["", *names]), chance.choice(["lock", "pool", "once"])
        seen.setdefault(head(namespace, area) + name, set()).add((namespace, area, name))
    assert [found for found in seen.values() if len(found) > 1] == []


def test_namespaces_and_keys_that_share_their_text_never_meet():
    """All ways to cut one text into a namespace and a key."""
    text = "a:lock:b:%3A:pool:c/once:"
    stored = [head(text[:cut], "lock") + text[cut:] for cut in range(len(text) + 1)]
    stored += [head(text[:cut], area) + text[cut:] for cut in range(len(text) + 1) for area in ("pool", "once")]
    assert len(set(stored)) == len(stored)


def test_namespaces_never_meet(names):
    assert len({head(namespace, "lock") for namespace in names}) == len(names)
    assert head("a:", "lock") != head("a%3A", "lock")


def test_pools_and_members_never_meet_and_come_back(names):
    seen = set()
    for pool, member in zip(names, reversed(names), strict=True):
        prefix = pool_prefix("ns:%", pool)
        key = prefix + member
        seen.add(key)
        assert member_of(key) == member
        assert pool_of(key) == prefix, (pool, member)
        assert pool_of(prefix) is None
    assert len(seen) == len(names)


@pytest.mark.parametrize("scheme", ["memory", "sqlite"])
def test_they_come_back_as_they_were_given(scheme, tmp_path, names):
    url = "memory:" if scheme == "memory" else f"sqlite:///{tmp_path}/locks.db"
    names = names if scheme == "memory" else [*names[::10], "\U0010ffff" * 128]
    with holdfast.connect(url, namespace="a:%b") as locks:
        fences = {name: locks.mutex(name).acquire().fence for name in names}
        found = {info.key: info.fence for info in locks.list()}
        assert found == fences
        for name in names[:: len(names) // 100]:
            assert locks.inspect(name).key == name


@pytest.mark.parametrize("scheme", ["memory", "sqlite"])
def test_members_come_back_as_they_were_given(scheme, tmp_path, names):
    url = "memory:" if scheme == "memory" else f"sqlite:///{tmp_path}/locks.db"
    names = names[::100]
    with holdfast.connect(url) as locks:
        pool = locks.pool(names[50])
        for name in names:
            pool.add(name)
        assert {member.name for member in pool.members()} == set(names)
        assert {pool.acquire(0).member for _ in names} == set(names)
        assert pool.try_acquire() is None


@pytest.mark.parametrize("scheme", ["memory", "sqlite"])
def test_a_pool_works_in_every_namespace(scheme, tmp_path):
    for number, namespace in enumerate(("", "a/b", "a:b", "/", "a%2Fb")):
        url = "memory://keys" if scheme == "memory" else f"sqlite:///{tmp_path}/locks.db"
        with holdfast.connect(url, namespace=namespace) as locks:
            pool = locks.pool("p/q")
            pool.add(f"m/{number}/")
            assert pool.acquire(0).member == f"m/{number}/"
            assert pool.try_acquire() is None


def test_names_that_look_alike_are_different(locks, other):
    pairs = [("é", "e\u0301"), ("k", "K"), ("k", "k "), ("ß", "ss"), ("\u212a", "K"), ("a", "a\u200b")]
    for one, two in pairs:
        with locks.mutex(one):
            other.mutex(two).acquire(0).release()


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("", "an empty key names nothing: pass at least one character"),
        ("a\0b", r"the key 'a\\x00b' has a NUL character, .*: leave it out"),
        ("a\ud800", r"the key 'a\\ud800' has a lone surrogate, .*: decode it properly first"),
        ("x" * 513, r"the key 'x+\.\.\.' takes 513 bytes in UTF-8 and may take 512: shorten it"),
        ("é" * 257, "takes 514 bytes"),
        (None, "a key is text, not NoneType: pass a str"),
        (b"k", "a key is text, not bytes"),
        (42, "a key is text, not int"),
        (("a", "b"), "a key is text, not tuple"),
    ],
)
def test_what_is_no_key_is_refused_and_told_why(locks, key, sentence):
    makers = (
        locks.mutex,
        locks.rwlock,
        locks.election,
        locks.pool,
        lambda key: locks.semaphore(key, 2),
        lambda key: locks.once(key, every=1),
        locks.inspect,
        locks.break_lock,
    )
    for make in makers:
        with pytest.raises(ConfigError, match=sentence) as caught:
            make(key)
        assert len(str(caught.value)) < 350


@pytest.mark.parametrize(
    ("namespace", "sentence"),
    [
        ("a\0b", "the namespace .* NUL"),
        ("\udfff", "lone surrogate"),
        ("x" * 600, "600 bytes"),
        (7, "a namespace is text"),
    ],
)
def test_what_is_no_namespace_is_refused(namespace, sentence):
    with pytest.raises(ConfigError, match=sentence):
        holdfast.connect("memory:", namespace=namespace)


def test_the_longest_key_is_one(locks, other):
    for key in ("x" * 512, "é" * 256):
        with locks.mutex(key):
            assert other.inspect(key).key == key
