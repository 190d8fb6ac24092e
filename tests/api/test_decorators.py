"""Locks as decorators."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from types import SimpleNamespace

import pytest

import holdfast
from holdfast import ConfigError


def held(client):
    return [info.key for info in client.list() if info.holders]


def test_every_call_holds_the_lock(locks, other):
    @locks.mutex("k")
    def work(one, two=2):
        """What it does."""
        return one, two, held(other)

    assert work(1) == (1, 2, ["k"])
    assert work(1, two=3) == (1, 3, ["k"])
    assert held(other) == []
    assert (work.__name__, work.__doc__) == ("work", "What it does.")
    assert list(inspect.signature(work).parameters) == ["one", "two"]


def test_the_lock_is_given_back_when_the_function_raises(locks, other):
    @locks.mutex("k")
    def fail():
        raise RuntimeError("yours")

    with pytest.raises(RuntimeError, match="yours"):
        fail()
    assert held(other) == []


@pytest.mark.parametrize(
    ("template", "key"),
    [
        ("orders/{order}", "orders/42"),
        ("{order}/{kind}", "42/plain"),
        ("{order:05d}", "00042"),
        ("{kind!r}", "'plain'"),
        ("{customer.name}", "Ann"),
        ("{rest[0]}", "first"),
        ("{more[x]}", "X"),
        ("{{{order}}}", "{42}"),
    ],
)
def test_the_key_is_filled_from_the_arguments(locks, other, template, key):
    @locks.mutex(template)
    def work(order, customer, *rest, kind="plain", **more):
        return held(other)

    assert work(42, SimpleNamespace(name="Ann"), "first", x="X") == [key]


def test_it_may_be_a_method(locks, other):
    class Shop:
        name = "corner"

        @locks.mutex("{self.name}/{order}")
        def charge(self, order):
            return held(other)

    assert Shop().charge(order=7) == ["corner/7"]


def test_every_kind_of_lock_can_be_one(locks, other):
    def work(order):
        return held(other)

    sides = locks.rwlock("rw/{order}")
    for lock, key in (
        (sides.reader, "rw/1"),
        (sides.writer, "rw/1"),
        (locks.semaphore("s/{order}", 2), "s/1"),
        (locks.all_of(locks.mutex("a"), locks.mutex("b")), None),
    ):
        assert lock(work)(1) == ([key] if key else ["a", "b"])


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("orders/{ordr}", r"names ordr, which .*work\(\) does not take"),
        ("{a}{b}", "names a, b, which"),
        ("{}", "names nothing, which"),
        ("{0}", "names 0, which"),
        ("{order", "is no template"),
        ("{order!x:{", "is no template"),
    ],
)
def test_unknown_names_are_refused_when_it_is_decorated(locks, template, sentence):
    def work(order): ...

    with pytest.raises(ConfigError, match=sentence):
        locks.mutex(template)(work)


def test_a_key_that_can_not_be_is_refused_when_it_is_called(locks):
    @locks.mutex("{name}")
    def work(name):
        raise AssertionError("it must not run")

    for name, sentence in (("", "empty key"), ("a\0b", "NUL"), ("x" * 513, "513 bytes")):
        with pytest.raises(ConfigError, match=sentence):
            work(name)
    with pytest.raises(TypeError, match="missing a required argument: 'name'"):
        work()


async def test_in_asyncio(world):
    locks, other = world.async_client(), world.async_client()

    @locks.mutex("orders/{order}")
    async def work(order):
        await asyncio.sleep(0)
        return [info.key async for info in other.list() if info.holders]

    assert await work(42) == ["orders/42"]
    assert await other.inspect("orders/42") is None


def test_a_coroutine_function_is_refused_by_a_lock_for_threads(locks):
    async def work(one): ...

    class Callable:
        async def __call__(self): ...

    for func in (work, Callable()):
        with pytest.raises(ConfigError, match=r"is a coroutine function, .* use a lock made by connect_async\(\)"):
            locks.mutex("k")(func)


def test_a_plain_function_is_refused_by_a_lock_for_asyncio():
    async def main():
        async with holdfast.connect_async("memory:") as locks:
            with pytest.raises(ConfigError, match=r"work\(\) is no coroutine function"):
                locks.mutex("k")(work)

    def work(): ...

    asyncio.run(main())


def test_a_generator_function_is_refused(locks, world):
    """Its body runs when the lock is given back already."""

    def numbers():
        yield 1

    async def later():
        yield 1

    for func in (numbers, later):
        with pytest.raises(ConfigError, match=rf"{func.__name__}\(\) is a generator function.*hold the lock inside"):
            locks.mutex("k")(func)


async def test_a_generator_function_is_refused_in_asyncio(world):
    async def later():
        yield 1

    with pytest.raises(ConfigError, match=r"later\(\) is a generator function"):
        world.async_client().mutex("k")(later)


def test_a_partial_of_a_generator_function_is_refused(locks):
    def numbers(one):
        yield one

    with pytest.raises(ConfigError, match="is a generator function"):
        locks.mutex("k")(partial(numbers, 1))
