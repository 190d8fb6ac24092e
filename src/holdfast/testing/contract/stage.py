"""One text for both colours: a case is a coroutine, and what it asks of a client is awaited if that is what it takes.

With threads, a blocking call blocks the case, as it would block its caller; what has to run meanwhile is started with
`Scene.start`, in a thread of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from inspect import isawaitable
from typing import Any, Literal, TypeAlias

import pytest

from holdfast.client import Settings
from holdfast.client_tasks import AsyncClient, task_driver
from holdfast.client_threads import Client, thread_driver
from holdfast.drive.tasks import AsyncDriver
from holdfast.drive.threads import Driver
from holdfast.engine.keeper import Keeper
from holdfast.engine.store import Primitive, Traits
from holdfast.stores import Backend, Endpoint
from holdfast.testing.faults import AsyncFaultyTransport, Faults, FaultyTransport
from holdfast.url import backend_for, parse

Colour: TypeAlias = Literal["threads", "asyncio"]

LONG = 30.0
"""Longer than anything here takes; who waits so long waits for ever."""


class Scene:
    """One store, in one colour, for one case."""

    def __init__(self, address: str, colour: Colour, namespace: str) -> None:
        self.colour = colour
        self.url = address
        self.namespace = namespace
        self.backend: Backend = backend_for(parse(address).scheme)
        self.traits: Traits = self.backend.store(parse(address)).traits
        self.brief: float = max(0.3, 2 * self.traits.min_ttl)
        """A ttl to be waited for."""
        self._clients: list[Any] = []

    # --- clients ----------------------------------------------------------------------------------------------------

    def client(self, faults: Faults | None = None, **settings: Any) -> Any:
        """Another client of the store; a `Client` or an `AsyncClient`, as the colour is."""
        chosen = Settings(self.namespace)._replace(**settings)
        if self.colour == "threads":
            made: Any = Client(parse(self.url), None, chosen, _faulty(faults) if faults else thread_driver)
        else:
            made = AsyncClient(parse(self.url), None, chosen, _async_faulty(faults) if faults else task_driver)
        self._clients.append(made)
        return made

    async def apply(self, client: Any, key: str, op: Any) -> Any:
        """The store's own answer to one operation."""
        return await done(client.driver.run(client.site.store.apply(key, op)))

    async def close(self) -> None:
        """Close all clients, the last first."""
        while self._clients:
            await done(self._clients.pop().close())

    # --- at the same time -------------------------------------------------------------------------------------------

    def start(self, call: Callable[[], Any]) -> asyncio.Future[Any]:
        """Begin something that may wait: in a thread, or as a task."""
        if self.colour == "asyncio":
            return asyncio.ensure_future(done(call()))
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Any] = loop.create_future()

        def settle(value: Any, error: BaseException | None) -> None:
            if not result.done():
                result.set_result(value) if error is None else result.set_exception(error)

        def work() -> None:
            try:
                value, error = call(), None
            except BaseException as raised:
                value, error = None, raised
            loop.call_soon_threadsafe(settle, value, error)

        threading.Thread(target=work, daemon=True).start()
        return result

    async def within(self, waiting: Awaitable[Any]) -> Any:
        """What it comes to; never for ever."""
        return await asyncio.wait_for(waiting, LONG)

    async def until(self, true: Callable[[], Awaitable[bool] | bool]) -> None:
        """Look again until it is so."""
        deadline = asyncio.get_running_loop().time() + LONG
        while not await done(true()):
            assert asyncio.get_running_loop().time() < deadline, "it never came to be"
            await asyncio.sleep(0.01)

    async def in_line(self, client: Any, key: str, number: int = 1) -> None:
        """Until so many wait for the key."""

        async def they_wait() -> bool:
            info = await done(client.inspect(key))
            return info is not None and info.waiting == number

        await self.until(they_wait)

    # --- one spelling for two -----------------------------------------------------------------------------------------

    @asynccontextmanager
    async def holding(self, lock: Any) -> AsyncGenerator[Any]:
        """A `with` block of either colour."""
        if self.colour == "asyncio":
            async with lock as lease:
                yield lease
        else:
            with lock as lease:
                yield lease

    async def all(self, items: Any) -> list[Any]:
        """Everything that an iterator of either colour has."""
        if self.colour == "asyncio":
            return [item async for item in items]
        return list(items)

    async def first(self, items: Any) -> Any:
        """The next that an iterator of either colour has."""
        return await anext(items) if self.colour == "asyncio" else next(items)

    def function(self, body: Callable[[], Any]) -> Callable[[], Any]:
        """A function of this colour, to be decorated."""
        if self.colour == "threads":
            return body

        async def coroutine() -> Any:
            return body()

        return coroutine


async def done(result: Any) -> Any:
    """The value, awaited if it has to be."""
    return await result if isawaitable(result) else result


def _faulty(faults: Faults) -> Callable[[Backend, Endpoint, Keeper], Driver]:
    def make(backend: Backend, endpoint: Endpoint, keeper: Keeper) -> Driver:
        assert backend.transport is not None
        return Driver(FaultyTransport(backend.transport(endpoint), faults), keeper)

    return make


def _async_faulty(faults: Faults) -> Callable[[Backend, Endpoint, Keeper], AsyncDriver]:
    def make(backend: Backend, endpoint: Endpoint, keeper: Keeper) -> AsyncDriver:
        assert backend.async_transport is not None
        return AsyncDriver(AsyncFaultyTransport(backend.async_transport(endpoint), faults), keeper)

    return make


Case: TypeAlias = Callable[[Any, Scene], Coroutine[Any, Any, None]]


def case(primitive: Primitive) -> Callable[[Case], Callable[[Any, Scene], None]]:
    """Make a test of a coroutine that plays on a `Scene`."""

    def decorate(body: Case) -> Callable[[Any, Scene], None]:
        def test(self: Any, scene: Scene) -> None:
            if primitive in scene.traits.unsupported:
                pytest.skip(f"this store says that it has no {primitive}")
            asyncio.run(_play(body, self, scene))

        test.__name__, test.__qualname__, test.__doc__ = body.__name__, body.__qualname__, body.__doc__
        test.primitive = primitive  # type: ignore[attr-defined]
        return test

    return decorate


async def _play(body: Case, suite: Any, scene: Scene) -> None:
    try:
        await body(suite, scene)
    finally:
        await scene.close()


class Staged:
    """The fixtures of a suite."""

    @pytest.fixture
    def address(self) -> str:
        """The URL of the store: give it in your own class."""
        raise NotImplementedError("a StoreContract needs a fixture `address` that returns the URL of your store")

    @pytest.fixture(params=["threads", "asyncio"])
    def scene(self, request: pytest.FixtureRequest, address: str) -> Scene:
        """The store, for threads and for asyncio, in a namespace that nobody used before."""
        import os

        colour: Colour = request.param
        backend = backend_for(parse(address).scheme)
        if (backend.transport if colour == "threads" else backend.async_transport) is None:
            pytest.skip(f"this store is not for {colour}")
        return Scene(address, colour, f"contract-{os.urandom(6).hex()}")
