"""Sync and asyncio have the same names with the same parameters; these are all the differences there are."""

from __future__ import annotations

import inspect

import pytest

import holdfast
from holdfast.acquiring import Acquiring
from holdfast.connecting import Connecting
from holdfast.together import AllLease, AllOf, AsyncAllLease, AsyncAllOf

TWINS = [
    (holdfast.Client, holdfast.AsyncClient),
    (holdfast.Lock, holdfast.AsyncLock),
    (holdfast.RWLock, holdfast.AsyncRWLock),
    (holdfast.Lease, holdfast.AsyncLease),
    (holdfast.Pool, holdfast.AsyncPool),
    (holdfast.Election, holdfast.AsyncElection),
    (holdfast.Once, holdfast.AsyncOnce),
    (AllOf, AsyncAllOf),
    (AllLease, AsyncAllLease),
]

COLOURED = {
    "__enter__": "__aenter__",
    "__exit__": "__aexit__",
}
"""What has another name in asyncio."""

STARTS = ("Lock.acquire", "Pool.acquire", "Election.lead")
"""What gives something to await or to enter with `async with`, and so is no coroutine function."""

MAKERS = ("mutex", "rwlock", "semaphore", "pool", "election", "all_of", "once")
"""What asks the store nothing, and so is plain in both."""


def public(kind):
    """Its public names, and those that syntax uses."""
    return {
        name: inspect.getattr_static(kind, name)
        for name in dir(kind)
        if (not name.startswith("_") or name in ("__enter__", "__exit__", "__aenter__", "__aexit__", "__call__"))
        and name not in vars(tuple)
    }


@pytest.mark.parametrize(("sync", "later"), TWINS, ids=lambda kind: kind.__name__)
def test_twins_have_the_same_names(sync, later):
    mine = {COLOURED.get(name, name) for name in public(sync)}
    assert mine == set(public(later))


@pytest.mark.parametrize(("sync", "later"), TWINS, ids=lambda kind: kind.__name__)
def test_twins_take_the_same_parameters(sync, later):
    for name, member in public(sync).items():
        twin = inspect.getattr_static(later, COLOURED.get(name, name))
        if not inspect.isfunction(member):
            assert type(member) is type(twin), name
            continue
        assert [as_plain(parameter) for parameter in inspect.signature(member).parameters.values()] == [
            as_plain(parameter) for parameter in inspect.signature(twin).parameters.values()
        ], name


def as_plain(parameter):
    """The parameter without what makes it of asyncio."""
    annotation = str(parameter.annotation).replace("Async", "").replace(" | Literal['cancel']", "")
    if "Callable[P" in annotation:
        annotation = annotation.replace("Awaitable[R]", "R")
    return parameter.name, parameter.kind, parameter.default, annotation


@pytest.mark.parametrize(("sync", "later"), TWINS, ids=lambda kind: kind.__name__)
def test_what_asks_the_store_is_to_be_awaited(sync, later):
    for name, member in public(later).items():
        if not inspect.isfunction(member) or name in MAKERS or name in ("__call__", "who", "after_fork", "store_key"):
            continue
        plain = not (inspect.iscoroutinefunction(member) or inspect.isasyncgenfunction(member))
        shared = member is inspect.getattr_static(sync, name, None)
        starts = any(f"{base.__name__}.{name}" in STARTS for base in sync.__mro__)
        assert plain == (starts or shared), name


@pytest.mark.parametrize(("sync", "later"), TWINS, ids=lambda kind: kind.__name__)
def test_twins_give_the_same(sync, later):
    for name, member in public(sync).items():
        twin = inspect.getattr_static(later, COLOURED.get(name, name))
        if inspect.isfunction(member):
            gives = str(inspect.signature(member).return_annotation)
            other = str(inspect.signature(twin).return_annotation)
            assert other.replace("Async", "").replace("Awaitable[R]", "R").replace(
                "Awaitable[R | None]", "R | None"
            ) in (gives, "Acquiring"), name


def test_connect_and_its_twin_take_the_same():
    one, two = inspect.signature(holdfast.connect), inspect.signature(holdfast.connect_async)
    assert one.parameters == two.parameters
    assert (one.return_annotation, two.return_annotation) == ("Client", "Connecting")


@pytest.mark.parametrize("kind", [Acquiring, Connecting])
def test_what_is_to_be_awaited_or_entered_can_be_both(kind):
    assert {"__await__", "__aenter__", "__aexit__"} <= set(vars(kind))


def test_every_public_class_with_a_twin_is_listed():
    later = {name for name in holdfast.__all__ if name.startswith("Async")}
    assert later <= {kind.__name__ for _, kind in TWINS}
    assert {name.removeprefix("Async") for name in later} <= set(holdfast.__all__)
